/* What the qemu plugin and the recorder share: files in the recording's folder that both map.
 *
 *     DIR/soft/control        struct qemu_control, then the side-band log
 *     DIR/soft/ring.SERIAL    struct qemu_ring (one page), then packets; one per thread and exec
 *     DIR/images/             code pages dumped from memory (JIT, self-modified), as ELF files;
 *                             copies of files that may be gone or changed when the program ends
 *
 * The recorder (magic-trace) makes DIR/soft/control and starts qemu; every traced process maps it.
 * The files outlive everybody: kill -9 of the program loses nothing that a callback had finished,
 * kill -9 of magic-trace does not touch the program, and `magic-trace decode DIR` can finish the
 * recording later (engine/qemu/collect.h).
 *
 * Both sides start a program with the same words:
 *
 *     qemu-x86_64 -L / -s STACK [-seed 1] -plugin file=PLUGIN,dir=DIR -0 ARGV0 PROGRAM ARGUMENTS
 *
 * -L / keeps a file under /etc/qemu-binfmt from standing in for the program's own. STACK is the
 * soft RLIMIT_STACK in bytes, or QEMU_UNLIMITED_STACK. -seed (AT_RANDOM, hence stack protectors and
 * hash seeds) is given with RECORD_CLOCK_INSTRUCTIONS only. PLUGIN and DIR are absolute; each comma
 * in them is doubled, which is how qemu's option parser quotes it: the plugin gets the plain path.
 *
 * All fields are little-endian native; both sides are built together and check `version`.
 * Everything here must be safe at any instant of death: data first, then the counter that makes it
 * visible.
 */
#ifndef MAGIC_TRACE_ENGINE_QEMU_SHARED_H
#define MAGIC_TRACE_ENGINE_QEMU_SHARED_H

#include <stdatomic.h>
#include <stdint.h>

enum {
    QEMU_VERSION = 6,
    QEMU_PAGE = 4096,
    QEMU_CONTROL_MAGIC = 0x4c52544d, /* "MTRL" */
    QEMU_RING_MAGIC = 0x474e524d,    /* "MRNG" */
    QEMU_RECORD_MAGIC = 0x4452424d,  /* "MBRD" */
    /* Sizes in bytes. The log's file is allocated in steps, before it is touched; records beyond
     * its limit are counted in lost_records. qemu maps the stack whole, without reserving memory.
     */
    QEMU_LOG_STEP = 1 << 20,
    QEMU_LOG_LIMIT = 256 << 20,
    QEMU_UNLIMITED_STACK = 1 << 30,
    QEMU_TRIGGER_PLACES = 64, /* TRIGGER_PLACES */
    QEMU_CLOCK_THEFTS = 16384,
};

/* struct trigger (engine/trigger.h) as the plugin needs it. */
struct qemu_trigger_place {
    uint64_t device, inode; /* of the file, as stat gives them */
    uint64_t file_offset;
};
struct qemu_trigger {
    uint32_t place_count;                                  /* 0: no trigger */
    uint32_t passes_time, multi_snapshot, immediate_stop;  /* bool */
    uint64_t duration_threshold, delay_threshold;          /* ticks; 0: none */
    struct qemu_trigger_place places[QEMU_TRIGGER_PLACES]; /* by file_offset */
};

/* Options that hold for the whole recording; written by the recorder before anybody else maps the
 * file. */
struct qemu_options {
    uint32_t clock;                             /* enum record_clock */
    uint32_t full_execution;                    /* bool */
    uint32_t multi_thread;                      /* bool */
    uint32_t follow;                            /* bool */
    uint64_t snapshot_size;                     /* bytes of packets per ring */
    uint64_t tsc_hz;                            /* host TSC ticks per second, measured */
    uint32_t bus_ratio;                         /* what CBR packets say: TSC MHz / 100 */
    uint32_t coarse_time, periods, all_returns; /* bool: struct record_packets */
    /* The same instant in three clocks, taken before the program started: ties ticks to
     * CLOCK_MONOTONIC. */
    uint64_t start_tsc, start_monotonic_ns, start_realtime_ns;
    struct qemu_trigger trigger;
    char qemu[4096];   /* absolute path of qemu-x86_64 */
    char plugin[4096]; /* absolute path of the plugin */
};

/* Times that the default clock's user wants to convert later: runtime/qemu_plugin/clock_history.h. */
struct qemu_clock_theft {
    _Atomic uint64_t tsc;    /* when it was over; 0: being written */
    _Atomic uint64_t stolen; /* in all, then */
};
struct qemu_clock_history {
    _Atomic uint64_t count; /* ever added; the newest lies at (count - 1) % QEMU_CLOCK_THEFTS */
    struct qemu_clock_theft thefts[QEMU_CLOCK_THEFTS];
};

/* One page-aligned header at offset 0 of DIR/soft/control; the side-band log begins at
 * QEMU_LOG_OFFSET. */
struct qemu_control {
    uint32_t magic;   /* QEMU_CONTROL_MAGIC */
    uint32_t version; /* QEMU_VERSION */
    struct qemu_options options;

    /* Set by the recorder: rings stop at their next packet. DIR/soft is removed soon after, while
     * traced programs may live on: they open no file of it any more, and what they execute runs
     * natively. */
    _Atomic uint32_t frozen;
    /* When that was, in the recording's clock; 0 before, and with RECORD_CLOCK_INSTRUCTIONS. */
    _Atomic uint64_t frozen_at;
    _Atomic uint32_t next_ring;     /* serial of the next ring.SERIAL */
    _Atomic uint64_t log_tail;      /* bytes of the log handed out */
    _Atomic uint64_t log_allocated; /* bytes of the log backed by disk */
    _Atomic uint64_t lost_records;
    _Atomic uint64_t lost_rings; /* threads without a ring: no space or no memory */

    /* The default clock, see runtime/qemu_plugin/clock.h. */
    _Atomic uint64_t stolen; /* TSC ticks that qemu's translator used up and nobody shall see */
    _Atomic uint64_t stolen_until; /* host TSC up to which time has been stolen */
    _Atomic uint64_t latest;       /* the latest time that any thread has made known */

    /* The trigger: runtime/qemu_plugin/trigger.h. Times in the recording's clock. */
    _Atomic uint64_t hits;          /* in traced threads, whether they counted or not */
    _Atomic uint64_t unseen_hits;   /* in threads and processes that are not traced */
    _Atomic uint64_t snapshots;     /* hits that counted */
    _Atomic uint64_t previous_hit;  /* 0: none yet */
    _Atomic uint64_t longest_delay; /* between two hits, since the recorder last set it to 0 */
    _Atomic uint64_t freeze_at;     /* when the recording shall freeze; 0: not known yet */
    struct qemu_clock_history history;
};

enum { QEMU_LOG_OFFSET = 80 * QEMU_PAGE };

/* A side-band record: 16-byte aligned in the log; a reader that meets a hole (its writer was
 * killed) searches forward for the next magic. */
enum qemu_record_kind {
    QEMU_RECORD_MAPPING = 1, /* struct qemu_mapping + path */
    QEMU_RECORD_NAME,        /* struct qemu_name + name */
    QEMU_RECORD_FORK,        /* struct qemu_fork: thread or process born, traced */
    QEMU_RECORD_EXIT,        /* struct qemu_fork */
    QEMU_RECORD_UNTRACED,    /* struct qemu_untraced + name: ran without being traced */
    QEMU_RECORD_HIT,         /* struct qemu_hit: the trigger was hit and its conditions held */
    /* struct qemu_fork: the child process `pid` is gone, as its traced parent was told by wait4. */
    QEMU_RECORD_REAPED,
    /* struct qemu_kept: a stretch of a ring that belongs to snapshots (with multi_snapshot) */
    QEMU_RECORD_KEPT,
    QEMU_RECORD_DEATH, /* struct qemu_death: a signal kills the process in this thread */
};

struct qemu_record {
    uint32_t magic; /* QEMU_RECORD_MAGIC */
    uint16_t kind;
    _Atomic uint16_t ready; /* 1 when complete */
    uint32_t size;          /* bytes, this header included, a multiple of 16 */
    uint32_t pid, tid;
    uint32_t serial; /* of the ring it belongs to; UINT32_MAX none */
    uint64_t time;   /* in the recording's clock (ticks) */
};

struct qemu_mapping {
    struct qemu_record record;
    uint64_t start, length, file_offset, inode;
    uint32_t device_major, device_minor;
    uint32_t protection, jit; /* jit: path is a dump in DIR/images, given relative to DIR */
    uint64_t version; /* of the file, when it was copied into DIR/images: file_version.h; or 0 */
    char path[];      /* NUL-terminated */
};

struct qemu_name {
    struct qemu_record record;
    uint32_t exec; /* bool: by execve: the address space starts anew */
    char name[];
};

struct qemu_fork {
    struct qemu_record record;
    uint32_t parent_pid, parent_tid;
};

struct qemu_death {
    struct qemu_record record;
    uint64_t ip;     /* of the instruction that raised the signal, or that would have run next */
    uint32_t has_ip; /* bool: it is known */
    uint32_t signal;
};

enum qemu_untraced_reason {
    QEMU_UNTRACED_THREAD,  /* -multi-thread was not given */
    QEMU_UNTRACED_PROCESS, /* -follow was not given */
    QEMU_UNTRACED_FOREIGN, /* exec of something that qemu-x86_64 cannot run (32-bit, setuid) */
};

struct qemu_untraced {
    struct qemu_record record;
    uint32_t reason;
    char name[];
};

struct qemu_hit {
    struct qemu_record record;
    uint64_t ip;
    uint64_t passed;       /* the time that the program passed, in the recording's clock; 0: none */
    int64_t argument;      /* that the program passed */
    uint32_t has_argument; /* bool */
    uint32_t reserved;
};

/* In stream positions of the ring record.serial, at packets' borders. */
struct qemu_kept {
    struct qemu_record record;
    uint64_t begin, end;
};

/* Header of ring.SERIAL, in its first page; packets follow at QEMU_PAGE. In snapshot mode the
 * packets of stream position P lie at P % size; in full execution at P, the file growing as needed.
 */
struct qemu_ring {
    uint32_t magic; /* QEMU_RING_MAGIC */
    uint32_t version;
    uint32_t serial;
    uint32_t pid, tid;
    uint32_t full; /* bool: full execution */
    uint64_t size; /* bytes of packets the ring holds; in full execution: allocated so far */

    /* Set when this thread's recording ended in order (exit seen, frozen, out of space). */
    _Atomic uint32_t ended;
    _Atomic uint32_t out_of_space; /* recording stopped because the disk was full */
    uint64_t first_time;           /* ticks, of the first packet */
    /* With multi_snapshot: up to where it is decided what is kept, as a stream position; and how
     * many snapshots had been taken then. */
    _Atomic uint64_t undecided;
    _Atomic uint64_t seen_snapshots;
    _Atomic uint32_t owed; /* bool: what follows is kept, too: a snapshot was taken just before */

    /* The encoder's whole state (packet/encoder.h), so that what a killed thread had not yet
     * written can be. Its field `head` is the stream position up to which packets are valid. */
    _Alignas(64) unsigned char encoder[QEMU_PAGE - 128];
};

_Static_assert(sizeof(struct qemu_control) <= QEMU_LOG_OFFSET, "the log begins behind the header");
_Static_assert(sizeof(struct qemu_ring) <= QEMU_PAGE, "packets begin on the second page");

#endif
