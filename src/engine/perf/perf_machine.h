/* The facts that decide how perf is called on this machine: perf's version, the processor's
 * capabilities, the kernel's limits, the user's privileges.
 *
 * Environment (as in Jane Street's magic-trace): MAGIC_TRACE_PERF_PATH,
 * MAGIC_TRACE_PERF_IS_PRIVILEGED (perf may trace the kernel although magic-trace is not root),
 * MAGIC_TRACE_PERF_NO_KCORE.
 */
#ifndef MAGIC_TRACE_ENGINE_PERF_PERF_MACHINE_H
#define MAGIC_TRACE_ENGINE_PERF_PERF_MACHINE_H

#include "base/error.h"
#include "engine/perf/perf_version.h"
#include "perf_event/kernel.h"

#include <stdint.h>

struct perf_machine {
    char *perf; /* path; owned */
    struct perf_version version;
    bool intel_pt;        /* the kernel offers it */
    bool cycle_packets;   /* Intel PT can count cycles in every packet (caps/psb_cyc) */
    bool cycles;          /* there is a hardware counter of cycles */
    bool branch_stack;    /* call stacks of the last branch records */
    uint64_t sample_rate; /* the most samples per second that the kernel allows */
    bool privileged;      /* may trace the kernel and lock as much memory as it likes */
    bool no_kcore;        /* the user does not want the kernel's code copied */
};

/* False when there is no perf, or it does not run. */
bool perf_machine_examine(struct perf_machine *machine, const struct kernel *kernel,
                          struct error *error);
void perf_machine_free(struct perf_machine *machine);

#endif
