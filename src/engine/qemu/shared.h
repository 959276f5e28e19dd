/* What the qemu plugin and the recorder share: files in the recording's folder that both map.
 *
 *     DIR/soft/control        struct qemu_control, then the sideband log
 *     DIR/soft/ring.SERIAL    struct packet_ring (one page), then packets; one per thread and exec
 *     DIR/images/             code pages dumped from memory (JIT, self-modified), as ELF files;
 *                             copies of files that may be gone or changed when the program ends
 *
 * The recorder (magic-trace) makes DIR/soft/control and starts qemu; every traced process maps it.
 * The files outlive all processes: kill -9 of the program loses nothing that a callback had
 * finished, kill -9 of magic-trace does not touch the program, and `magic-trace decode DIR` can
 * finish the recording later (engine/packets/collect.h).
 *
 * Both sides start a program with the same arguments:
 *
 *     qemu-x86_64 -L / -s STACK [-seed 1] -plugin file=PLUGIN,dir=DIR -0 ARGV0 PROGRAM ARGUMENTS
 *
 * -L / prevents qemu from opening files under /etc/qemu-binfmt in place of the program's own. STACK
 * is the soft RLIMIT_STACK in bytes, or QEMU_UNLIMITED_STACK. -seed (AT_RANDOM, hence stack
 * protectors and hash seeds) is given with RECORD_CLOCK_INSTRUCTIONS only. PLUGIN and DIR are
 * absolute; each comma in them is doubled, which is how qemu's option parser quotes it: the plugin
 * gets the plain path.
 *
 * All fields are little-endian native; both sides are built together and check `version`.
 * Everything here must be safe at any instant of death: data first, then the counter that makes it
 * visible.
 */
#ifndef MAGIC_TRACE_ENGINE_QEMU_SHARED_H
#define MAGIC_TRACE_ENGINE_QEMU_SHARED_H

#include "engine/packets/ring_layout.h"
#include "engine/packets/sideband_layout.h"

#include <stdatomic.h>
#include <stdint.h>

enum {
    QEMU_PAGE = 4096,
    QEMU_VERSION = 7,
    QEMU_CONTROL_MAGIC = 0x4c52544d, /* "MTRL" */
    /* Sizes in bytes. The log's file is allocated in steps, before it is touched; records beyond
     * its limit are counted in lost_records. qemu maps the stack whole, without reserving memory.
     */
    QEMU_LOG_STEP = 1 << 20,
    QEMU_LOG_LIMIT = 256 << 20,
    QEMU_UNLIMITED_STACK = 1 << 30,
    QEMU_TRIGGER_PLACES = 64, /* TRIGGER_PLACES */
    QEMU_CLOCK_THEFTS = 16384,
};

/* struct trigger (engine/trigger/trigger.h) as the plugin needs it. */
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

/* Options that hold for the whole recording; the recorder writes them before any other process maps
 * the file. */
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

/* Times for converting the default clock's times later: runtime/qemu_plugin/clock_history.h. */
struct qemu_clock_theft {
    _Atomic uint64_t tsc;    /* when it was over; 0: being written */
    _Atomic uint64_t stolen; /* in all, then */
};
struct qemu_clock_history {
    _Atomic uint64_t count; /* ever added; the newest lies at (count - 1) % QEMU_CLOCK_THEFTS */
    struct qemu_clock_theft thefts[QEMU_CLOCK_THEFTS];
};

/* One page-aligned header at offset 0 of DIR/soft/control; the sideband log begins at
 * QEMU_LOG_OFFSET. */
struct qemu_control {
    uint32_t magic;   /* QEMU_CONTROL_MAGIC */
    uint32_t version; /* QEMU_VERSION */
    struct qemu_options options;

    /* Set by the recorder: rings stop at their next packet. DIR/soft is removed soon after, while
     * traced programs may still run: they open no more files of it, and the programs that they
     * execute run natively. */
    _Atomic uint32_t frozen;
    /* When that was, in the recording's clock; 0 before, and with RECORD_CLOCK_INSTRUCTIONS. */
    _Atomic uint64_t frozen_at;
    _Atomic uint32_t next_ring;     /* serial of the next ring.SERIAL */
    _Atomic uint64_t log_tail;      /* bytes of the log handed out */
    _Atomic uint64_t log_allocated; /* bytes of the log backed by disk */
    _Atomic uint64_t lost_records;
    _Atomic uint64_t lost_rings;        /* threads without a ring: no space or no memory */
    _Atomic uint64_t refused_io_urings; /* calls of io_uring_setup() that got ENOSYS */

    /* The default clock, see runtime/qemu_plugin/clock.h. */
    _Atomic uint64_t stolen; /* TSC ticks that qemu's translator used up, hidden from the program */
    _Atomic uint64_t stolen_until; /* host TSC up to which time has been stolen */
    _Atomic uint64_t latest;       /* the latest time that any thread has published */

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

_Static_assert(sizeof(struct qemu_control) <= QEMU_LOG_OFFSET, "the log begins after the header");

#endif
