/* Records of the sideband log that traced processes write: what was mapped, named, started and ended.
 *
 * Written by what runs inside of them (runtime/), read by log_reader.c. All fields are little-endian
 * native; both sides are built together.
 */
#ifndef MAGIC_TRACE_ENGINE_PACKETS_SIDEBAND_LAYOUT_H
#define MAGIC_TRACE_ENGINE_PACKETS_SIDEBAND_LAYOUT_H

#include <stdatomic.h>
#include <stdint.h>

enum { LOGGED_MAGIC = 0x4452424d }; /* "MBRD" */

/* A sideband record: 16-byte aligned in the log; a reader that meets a hole (its writer was killed)
 * searches forward for the next magic. */
enum logged_kind {
    LOGGED_MAPPING = 1, /* struct logged_mapping + path */
    LOGGED_NAME,        /* struct logged_name + name */
    LOGGED_FORK,        /* struct logged_fork: a new thread or process, traced */
    LOGGED_EXIT,        /* struct logged_fork */
    LOGGED_UNTRACED,    /* struct logged_untraced + name: ran without being traced */
    LOGGED_HIT,         /* struct logged_hit: the trigger was hit and its conditions held */
    /* struct logged_fork: wait4 reported the end of the child `pid` to its traced parent. */
    LOGGED_REAPED,
    /* struct logged_kept: a part of a ring that belongs to snapshots (with multi_snapshot) */
    LOGGED_KEPT,
    LOGGED_DEATH, /* struct logged_death: a signal kills the process in this thread */
    LOGGED_UNUSED, /* struct logged_mapping + path: set by the recorder, of code that nothing recorded has run */
};

struct logged_record {
    uint32_t magic; /* LOGGED_MAGIC */
    uint16_t kind;
    _Atomic uint16_t ready; /* 1 when complete */
    uint32_t size;          /* bytes, this header included, a multiple of 16 */
    uint32_t pid, tid;
    uint32_t serial; /* of the ring it belongs to; UINT32_MAX none */
    uint64_t time;   /* in the recording's clock (ticks) */
};

struct logged_mapping {
    struct logged_record record;
    uint64_t start, length, file_offset, inode;
    uint32_t device_major, device_minor;
    uint32_t protection;
    uint16_t jit; /* bool: path is a dump in DIR/images, given relative to DIR */
    uint16_t
        foreign; /* bool, set by the recorder: the file is a container's, and what we have at its path is another one */
    uint64_t version; /* of the file, when it was copied into DIR/images: file_version.h; or 0 */
    /* With the translator: its fragments with smaller identifiers (runtime/translator/layout.h) were made of the code that was
     * there before. 0: not known. */
    uint32_t next_fragment;
    uint32_t table; /* and their fragment table */
    char path[];    /* NUL-terminated */
};

struct logged_name {
    struct logged_record record;
    uint32_t exec; /* bool: by execve: the address space is replaced */
    char name[];
};

struct logged_fork {
    struct logged_record record;
    uint32_t parent_pid, parent_tid;
};

struct logged_death {
    struct logged_record record;
    uint64_t ip;     /* of the instruction that raised the signal, or that would have run next */
    uint32_t has_ip; /* bool: it is known */
    uint32_t signal;
};

enum untraced_reason {
    UNTRACED_THREAD,  /* -multi-thread was not given */
    UNTRACED_PROCESS, /* -follow was not given */
    UNTRACED_FOREIGN, /* it cannot be traced, or not from there on (32-bit, setuid) */
};

struct logged_untraced {
    struct logged_record record;
    uint32_t reason;
    /* NUL-terminated. A second string may follow: the cause, as the end of a sentence ("it is a
     * 32-bit program"). */
    char name[];
};

struct logged_hit {
    struct logged_record record;
    uint64_t ip;
    uint64_t passed;       /* the time that the program passed, in the recording's clock; 0: none */
    int64_t argument;      /* that the program passed */
    uint32_t has_argument; /* bool */
    uint32_t reserved;
};

/* In stream positions of the ring record.serial, at packets' borders. */
struct logged_kept {
    struct logged_record record;
    uint64_t begin, end;
};

#endif
