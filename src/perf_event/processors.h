/* The processors that are online. Per-processor events are opened once for each.
 *
 * Source: Documentation/admin-guide/cputopology.rst of Linux (/sys/devices/system/cpu/online).
 */
#ifndef MAGIC_TRACE_PERF_EVENT_PROCESSORS_H
#define MAGIC_TRACE_PERF_EVENT_PROCESSORS_H

#include "base/array.h"
#include "base/error.h"
#include "perf_event/kernel.h"

/* Appends their numbers (int), ascending. */
bool processors_online(struct array *numbers, const struct kernel *kernel, struct error *error);

#endif
