/* What perf left in the recording's folder, brought into the form that recordings have.
 */
#ifndef MAGIC_TRACE_ENGINE_PERF_PERF_FILES_H
#define MAGIC_TRACE_ENGINE_PERF_PERF_FILES_H

#include "base/error.h"

#include <stdint.h>

/* Renames perf.data.YYYYMMDD..., one per snapshot, to perf.data, perf.data.1 ... in their order. */
bool perf_files_number(const char *directory, struct error *error);

/* Bytes of all perf.data files; 0 when there is nothing to decode. */
uint64_t perf_files_size(const char *directory);

#endif
