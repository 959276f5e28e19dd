/* A performance monitoring unit, as the kernel describes it in sysfs.
 *
 * The number of a unit, the positions of its fields in the configuration words and its capabilities
 * differ between machines, so all are read, by name:
 *
 *     /sys/bus/event_source/devices/NAME/type          the number
 *     .../format/cyc        "config:1"                 a field: a word and its bits
 *     .../caps/psb_cyc      "1"                        what the unit can do, in hexadecimal
 *     .../nr_addr_filters   "2"                        likewise beside them, in decimal
 *
 * Source: Documentation/ABI/testing/sysfs-bus-event_source-devices-{format,caps} of Linux; the
 * names of Intel PT's fields and capabilities: arch/x86/events/intel/pt.c.
 *
 * Used by the engines (engine/pt/, engine/perf/, engine/sample/) and `doctor`.
 */
#ifndef MAGIC_TRACE_PERF_EVENT_PMU_H
#define MAGIC_TRACE_PERF_EVENT_PMU_H

#include "base/error.h"
#include "perf_event/kernel.h"

struct pmu {
    char folder[512]; /* in sysfs */
    const char *name; /* borrowed */
    uint32_t type;    /* for perf_event_attr */
};

/* ERROR_NOT_FOUND when this kernel has no such unit. Needs no freeing. */
bool pmu_open(struct pmu *pmu, const struct kernel *kernel, const char *name, struct error *error);

/* The bits of a field, as a mask into attr.config; 0 when the unit has no such field, or has it in
 * another word. */
uint64_t pmu_config_bits(const struct pmu *pmu, const char *field);

/* Puts `value` into a field, whichever word it lies in. False when there is no such field or the
 * value does not fit. */
bool pmu_set(const struct pmu *pmu, struct perf_event_attr *attributes, const char *field,
             uint64_t value, struct error *error);

/* What the file caps/NAME says; 0 if not found. */
uint64_t pmu_capability(const struct pmu *pmu, const char *name);

/* The number in the file NAME of the unit's own folder (nr_addr_filters, max_nonturbo_ratio); 0
 * when there is none. */
uint64_t pmu_number(const struct pmu *pmu, const char *name);

#endif
