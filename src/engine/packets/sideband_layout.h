/* Records of the sideband log that traced processes write: what was mapped, named, started and ended.
 *
 * Written by what runs inside of them (runtime/), read by log_reader.c. All fields are little-endian
 * native; both sides are built together.
 */
#ifndef MAGIC_TRACE_ENGINE_PACKETS_SIDEBAND_LAYOUT_H
#define MAGIC_TRACE_ENGINE_PACKETS_SIDEBAND_LAYOUT_H

#include <stdatomic.h>
#include <stdint.h>

enum { SOFT_RECORD_MAGIC = 0x4452424d }; /* "MBRD" */

/* A side-band record: 16-byte aligned in the log; a reader that meets a hole (its writer was
 * killed) searches forward for the next magic. */
enum soft_record_kind {
    SOFT_RECORD_MAPPING = 1, /* struct soft_mapping + path */
    SOFT_RECORD_NAME,        /* struct soft_name + name */
    SOFT_RECORD_FORK,        /* struct soft_fork: thread or process born, traced */
    SOFT_RECORD_EXIT,        /* struct soft_fork */
    SOFT_RECORD_UNTRACED,    /* struct soft_untraced + name: ran without being traced */
    SOFT_RECORD_HIT,         /* struct soft_hit: the trigger was hit and its conditions held */
    /* struct soft_fork: the child process `pid` is gone, as its traced parent was told by wait4. */
    SOFT_RECORD_REAPED,
    /* struct soft_kept: a stretch of a ring that belongs to snapshots (with multi_snapshot) */
    SOFT_RECORD_KEPT,
    SOFT_RECORD_DEATH, /* struct soft_death: a signal kills the process in this thread */
};

struct soft_record {
    uint32_t magic; /* SOFT_RECORD_MAGIC */
    uint16_t kind;
    _Atomic uint16_t ready; /* 1 when complete */
    uint32_t size;          /* bytes, this header included, a multiple of 16 */
    uint32_t pid, tid;
    uint32_t serial; /* of the ring it belongs to; UINT32_MAX none */
    uint64_t time;   /* in the recording's clock (ticks) */
};

struct soft_mapping {
    struct soft_record record;
    uint64_t start, length, file_offset, inode;
    uint32_t device_major, device_minor;
    uint32_t protection, jit; /* jit: path is a dump in DIR/images, given relative to DIR */
    uint64_t version; /* of the file, when it was copied into DIR/images: file_version.h; or 0 */
    char path[];      /* NUL-terminated */
};

struct soft_name {
    struct soft_record record;
    uint32_t exec; /* bool: by execve: the address space starts anew */
    char name[];
};

struct soft_fork {
    struct soft_record record;
    uint32_t parent_pid, parent_tid;
};

struct soft_death {
    struct soft_record record;
    uint64_t ip;     /* of the instruction that raised the signal, or that would have run next */
    uint32_t has_ip; /* bool: it is known */
    uint32_t signal;
};

enum soft_untraced_reason {
    SOFT_UNTRACED_THREAD,  /* -multi-thread was not given */
    SOFT_UNTRACED_PROCESS, /* -follow was not given */
    SOFT_UNTRACED_FOREIGN, /* exec of something that qemu-x86_64 cannot run (32-bit, setuid) */
};

struct soft_untraced {
    struct soft_record record;
    uint32_t reason;
    char name[];
};

struct soft_hit {
    struct soft_record record;
    uint64_t ip;
    uint64_t passed;       /* the time that the program passed, in the recording's clock; 0: none */
    int64_t argument;      /* that the program passed */
    uint32_t has_argument; /* bool */
    uint32_t reserved;
};

/* In stream positions of the ring record.serial, at packets' borders. */
struct soft_kept {
    struct soft_record record;
    uint64_t begin, end;
};

#endif
