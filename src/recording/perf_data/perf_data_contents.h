/* What a perf.data file has, as perf_data_reader.h gives it.
 */
#ifndef MAGIC_TRACE_RECORDING_PERF_DATA_PERF_DATA_CONTENTS_H
#define MAGIC_TRACE_RECORDING_PERF_DATA_PERF_DATA_CONTENTS_H

#include "base/error.h"
#include "recording/perf_data/perf_data.h"
#include "recording/sideband.h"

#include <linux/perf_event.h>
#include <stddef.h>

/* An event that was recorded: Intel PT itself, or one beside it. */
struct recorded_event {
    const char *name; /* as perf calls it: "cycles:u", "sched:sched_process_fork"; never NULL */
    struct perf_event_attr attribute; /* as recorded; fields that the file lacks are 0 */
};

/* What the file says of a program or library in it (perf's BUILD_ID feature). */
struct recorded_build_id {
    const char *path;
    uint8_t id[20];
    uint8_t size; /* bytes of `id` */
    bool kernel;  /* the kernel's own, or of one of its modules */
};

struct perf_data {
    char *path;
    struct pt_setup setup;
    bool has_setup; /* there is an AUXTRACE_INFO record of Intel PT */
    struct cpu_identity cpu;
    struct sideband_record *records; /* sorted by time, stable; records without time first */
    size_t record_count;
    struct aux_chunk *chunks; /* in file order */
    size_t chunk_count;
    struct recorded_event *events; /* in the file's order */
    size_t event_count;
    const char *kernel_release; /* as uname -r; NULL: not known */
    struct recorded_build_id *build_ids;
    size_t build_id_count;
    /* Mappings and samples of guests of a virtual machine, which are left out: the reader cannot
     * distinguish addresses of guest and host. */
    size_t guest_records;
    struct error damage;             /* code ERROR_NONE when the file is whole */
    struct perf_data_memory *memory; /* private to the reader */
};

#endif
