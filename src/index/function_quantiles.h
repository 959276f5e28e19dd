/* Median and 99th percentile of the calls of all functions in a range, exact.
 *
 * Called by the tables of SQL (analysis/query/function_rows.c). The range is read two or three
 * times: first lengths are counted in bins of 1 %, then in finer ones within those that hold a
 * quantile. Memory: 4 bytes a bin, up
 * to 11 KB for a function whose longest call takes 0.3 s, for each processor and once more.
 */
#ifndef MAGIC_TRACE_INDEX_FUNCTION_QUANTILES_H
#define MAGIC_TRACE_INDEX_FUNCTION_QUANTILES_H

#include "index/function_table.h"

struct function_quantiles {
    uint64_t median, p99; /* of whole calls; 0 when there are none */
};

/* `rows`: what index_function_table() gave for the same tracks and range. Writes one element for
 * each row to `quantiles`. */
bool index_function_quantiles(const struct trace_index *index, struct index_tracks tracks,
                              struct index_range range, const struct array *rows,
                              struct function_quantiles *quantiles, struct error *error);

#endif
