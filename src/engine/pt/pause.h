/* Makes Intel PT pause itself at the trigger, so that nothing after the hit is recorded, not even
 * the code that runs before we handle it. For -immediate-stop.
 *
 * A breakpoint in the group of each Intel PT event pauses it (attr.aux_pause). Kernels before Linux
 * 6.13 lack that. The alternative, address filters (PERF_EVENT_IOC_SET_FILTER, "stop"), can crash
 * old kernels, so it is not used. A paused event stays paused: so it is only used if the first hit
 * counts and ends the recording.
 *
 * Source: perf_event_open(2) and include/uapi/linux/perf_event.h of Linux 6.13.
 */
#ifndef MAGIC_TRACE_ENGINE_PT_PAUSE_H
#define MAGIC_TRACE_ENGINE_PT_PAUSE_H

#include "engine/pt/tracing.h"

struct pause {
    struct array descriptors; /* of int; none before pause_begin */
};

/* Whether the options ask for it and it can be had with them; warns if the latter is not so. */
bool pause_wanted(const struct record_options *options);

void pause_begin(struct pause *pause);

/* At the trigger's places in the process `pid` as it is mapped now, for all its threads that are
 * traced. Warns when the kernel cannot. */
void pause_add(struct pause *pause, const struct tracing *tracing, pid_t pid);
void pause_close(struct pause *pause);

#endif
