/* The feature sections at the end of a perf.data file: who made it, where and how, and the list of
 * its AUX data.
 *
 * Called by the writer when the data section is complete. Formats: tools/perf/Documentation/
 * perf.data-file-format.txt and the write_* functions of tools/perf/util/header.c, Linux 6.1.
 */
#ifndef MAGIC_TRACE_RECORDING_PERF_DATA_PERF_DATA_FEATURES_H
#define MAGIC_TRACE_RECORDING_PERF_DATA_PERF_DATA_FEATURES_H

#include "base/array.h"
#include "base/clock.h"
#include "recording/perf_data/perf_file_format.h"

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct written_event {
    struct perf_event_attr attribute;
    const char *name;
    struct array ids;               /* uint64_t */
    struct file_section id_section; /* the same in the file; the features do not need it */
};

struct perf_data_features {
    const struct written_event *events;
    size_t event_count;
    char *const *command_line; /* NULL-terminated; NULL: not recorded */
    bool has_packets;          /* there is an AUXTRACE_INFO record */
    const struct auxtrace_index_entry *auxtrace_index;
    size_t auxtrace_count;
    struct nanoseconds first_time, last_time; /* 0: no record carried a time */
};

/* The feature sections (element_size 1, to be freed by the caller), for `offset` of the file, right
 * after the data section: the table of sections, then their contents. Sets the bits of the features
 * in feature_bits[4]. */
struct array perf_data_features_encode(const struct perf_data_features *features, uint64_t offset,
                                       uint64_t *feature_bits);

#endif
