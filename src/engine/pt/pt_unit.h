/* The processor's Intel PT unit: its capabilities, and the event attributes for the user's options.
 *
 * Fields and capabilities are read from sysfs by name (pmu.h).
 *
 * Sources: tools/perf/arch/x86/util/intel-pt.c of Linux (intel_pt_default_config(), what perf
 * record asks for); arch/x86/events/intel/pt.c (which values are valid); Intel's SDM volume 3,
 * chapter "Intel Processor Trace".
 */
#ifndef MAGIC_TRACE_ENGINE_PT_PT_UNIT_H
#define MAGIC_TRACE_ENGINE_PT_PT_UNIT_H

#include "engine/engine.h"
#include "perf_event/pmu.h"
#include "recording/perf_data/perf_data.h"

/* ERROR_UNSUPPORTED when this machine has none, with the reason: no Intel processor, one that is
 * too old, a virtual machine that hides it, a kernel without it. */
bool pt_unit_open(struct pmu *unit, const struct kernel *kernel, struct error *error);

/* Fills `attributes` for the options. Warns when the processor is too old for the timer resolution.
 * False when the unit does not support a value that the user gave. */
bool pt_unit_ask(const struct pmu *unit, const struct processor_options *options,
                 struct perf_event_attr *attributes, struct error *error);

/* The parameters for decoding the packets. `page`: of a ring whose event is open; it has the
 * clock's conversion. */
struct pt_setup pt_unit_setup(const struct pmu *unit, const struct perf_event_attr *attributes,
                              const struct perf_event_mmap_page *page);

#endif
