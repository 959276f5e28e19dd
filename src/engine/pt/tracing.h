/* Intel PT on the threads of processes: the events, their rings, and reading them.
 *
 * If one thread per process is traced, each has an area of packets of its own. If all threads are,
 * they share one area per processor, as new threads can join only there (event_rings.h). The
 * records of sideband.h cover the time from before the first packet to after the last.
 */
#ifndef MAGIC_TRACE_ENGINE_PT_TRACING_H
#define MAGIC_TRACE_ENGINE_PT_TRACING_H

#include "base/array.h"
#include "engine/engine.h"
#include "engine/pt/aux_area.h"
#include "perf_event/event_rings.h"
#include "perf_event/pmu.h"

struct tracing {
    const struct kernel *kernel;
    const struct record_options *options; /* borrowed */
    bool held;                            /* the process waits before exec: packets begin there */
    struct pmu unit;
    struct array processors; /* of int */
    struct event_rings sideband, packets;
    struct event_rings kernel_sideband; /* of whole processors; empty if the kernel is not
                                         * traced, or does not report changes of its code */
    struct event_rings extras;          /* of -events, on the threads that are traced */
    int descriptor;        /* an epoll descriptor: readable when rings are filling; -1: not open */
    struct array areas;    /* struct aux_area, one per ring of `packets` */
    uint64_t area_size;    /* bytes */
    struct array tids;     /* of uint32_t, ascending: that were opened */
    struct array untraced; /* of pid_t: the process of each thread that is not traced */
    bool children_too;     /* not requested, but older kernels cannot do without */
};

/* Opens everything for the processes `pids`; no packets are written yet. Close in any case, which
 * ends the recording and leaves the processes unchanged. */
bool tracing_open(struct tracing *tracing, const struct kernel *kernel,
                  const struct record_options *options, const pid_t *pids, size_t pid_count,
                  bool held, struct error *error);
void tracing_close(struct tracing *tracing);

/* In a process that was forked after tracing_open: maps the rings and areas there. */
bool tracing_map_again(struct tracing *tracing, struct error *error);

/* Whether areas belong to processors. */
static inline bool tracing_per_cpu(const struct tracing *tracing)
{
    return tracing->packets.processors != NULL;
}

void tracing_start(const struct tracing *tracing);
void tracing_stop(const struct tracing *tracing);

#endif
