/* Sideband records: everything in a recording that is not packets: thread switches, mappings,
 * forks.
 *
 * One C type serves the writer (engines fill it) and the reader (image/ and decode/ use it). The
 * records are those of linux/perf_event.h (enum perf_event_type), as far as magic-trace needs them.
 */
#ifndef MAGIC_TRACE_RECORDING_SIDEBAND_H
#define MAGIC_TRACE_RECORDING_SIDEBAND_H

#include "base/clock.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum sideband_kind {
    SIDEBAND_MAPPING,     /* PERF_RECORD_MMAP, MMAP2: a file or JIT dump became visible in memory */
    SIDEBAND_NAME,        /* PERF_RECORD_COMM: a thread got a name; `exec` when by execve */
    SIDEBAND_FORK,        /* PERF_RECORD_FORK: a new thread or process */
    SIDEBAND_EXIT,        /* PERF_RECORD_EXIT: a thread ended */
    SIDEBAND_TRACE_START, /* PERF_RECORD_ITRACE_START */
    SIDEBAND_AUX,  /* PERF_RECORD_AUX: how much was written to an AUX ring, and whether some was
                       lost */
    SIDEBAND_LOST, /* PERF_RECORD_LOST: sideband records themselves were lost */
    /* PERF_RECORD_SWITCH, SWITCH_CPU_WIDE; of perf before Linux 4.3 a sample of sched:sched_switch,
     * which has only the thread that is switched to: its pid is then UINT32_MAX. */
    SIDEBAND_CONTEXT_SWITCH,
    SIDEBAND_SAMPLE,        /* PERF_RECORD_SAMPLE: an event beside Intel PT happened */
    SIDEBAND_KERNEL_SYMBOL, /* PERF_RECORD_KSYMBOL: code of the kernel got a name, or went */
    SIDEBAND_CODE_CHANGE,   /* PERF_RECORD_TEXT_POKE: the kernel changed its code */
};

struct sideband_record {
    enum sideband_kind kind;
    /* perf's clock; 0 when the record carries none: then it holds from the start. */
    struct nanoseconds time;
    uint32_t pid; /* the process the record speaks of (of a fork: the child) */
    uint32_t tid;
    uint32_t cpu; /* UINT32_MAX: unknown */
    union {
        struct {
            uint64_t start; /* address in the process */
            uint64_t length;
            uint64_t file_offset; /* bytes into the file that lie at `start` */
            uint64_t inode;
            uint32_t device_major, device_minor;
            uint32_t protection;   /* PROT_* */
            uint32_t flags;        /* MAP_* */
            bool executable;       /* false for PERF_RECORD_MISC_MMAP_DATA */
            bool kernel;           /* the record's cpumode is the kernel's */
            uint8_t build_id[20];  /* of the file, where the record carries it instead of device and
                                      inode */
            uint8_t build_id_size; /* bytes; 0: not known */
            const char *path;      /* as the kernel names it: a path, "[vdso]", "//anon" */
        } mapping;
        struct {
            const char *name;
            bool exec;
        } name;
        struct {
            uint32_t parent_pid, parent_tid;
        } fork; /* SIDEBAND_FORK and SIDEBAND_EXIT */
        struct {
            uint64_t offset, size, flags; /* PERF_AUX_FLAG_* */
        } aux;
        struct {
            uint64_t count;
        } lost;
        struct {
            bool out;
            bool preempted;                /* of out: the thread could have run on (Linux 4.17) */
            uint32_t other_pid, other_tid; /* of SWITCH_CPU_WIDE: next (out) or previous (in) */
        } context_switch;
        struct {
            uint32_t event;  /* index into the events of perf_data */
            uint64_t ip;     /* 0: not known */
            uint64_t period; /* how much was counted since the last one; 0: not known */
            /* The whole record after its header: recorded_stack.h finds the call stack in it. */
            const uint8_t *body;
            uint32_t size;
        } sample;
        struct {
            uint64_t start; /* address in the kernel */
            uint64_t length;
            bool gone;
            const char *name;
        } kernel_symbol;
        struct {
            uint64_t address;
            const uint8_t *old_bytes, *bytes; /* until now, and from now on */
            size_t old_size, size;
        } code_change;
    };
};

#endif
