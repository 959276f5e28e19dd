/* Reads perf.data files, ours and those of other recorders: in the form of a file and in that of a
 * pipe, with compressed records (perf record -z), and in folders (perf record --threads, whose
 * files data.0, data.1 ... lie beside `path`).
 *
 * The file is mapped; records point into the mapping and into memory of the reader, so they live
 * until perf_data_close. Every size is checked against the file. Damage does not fail the whole:
 * the records before it are returned, and `damage` describes it with its offset.
 *
 * Records of types that magic-trace does not need are skipped, including those of later kernels.
 */
#ifndef MAGIC_TRACE_RECORDING_PERF_DATA_PERF_DATA_READER_H
#define MAGIC_TRACE_RECORDING_PERF_DATA_PERF_DATA_READER_H

#include "base/error.h"
#include "base/file.h"
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

/* False when the file cannot be read at all (no such file, not perf.data, header damaged). */
bool perf_data_open(struct perf_data *data, const char *path, struct error *error);

/* The same of bytes that are mapped already (file_map_input), which `data` owns from now on, also
 * when that fails; `path` says where they came from. */
bool perf_data_open_view(struct perf_data *data, struct file_view view, const char *path,
                         struct error *error);

/* Whether bytes are a perf.data file, of any form or byte order. */
bool perf_data_recognizes(const struct file_view *view);

void perf_data_close(struct perf_data *data);

/* False, saying so, when the file holds no packets of Intel PT. */
bool perf_data_check_packets(const struct perf_data *data, struct error *error);

#endif
