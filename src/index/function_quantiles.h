/* Median and high percentiles of the calls of all functions in a range, exact.
 *
 * Called by the tables of SQL (analysis/query/function_rows.c). The range is read two or three
 * times: first lengths are counted in bins of 1 %, then in finer ones within those that hold a
 * quantile. Memory: 4 bytes a bin, up
 * to 11 KB for a function whose longest call takes 0.3 s, for each processor and once more.
 */
#ifndef MAGIC_TRACE_INDEX_FUNCTION_QUANTILES_H
#define MAGIC_TRACE_INDEX_FUNCTION_QUANTILES_H

#include "index/function_table.h"

enum function_quantile {
    QUANTILE_MEDIAN,
    QUANTILE_P90,
    QUANTILE_P95,
    QUANTILE_P99,
    QUANTILE_P999, /* 99.9 % */
    FUNCTION_QUANTILES
};

/* By the nearest rank; 0 when there are no calls, or it was not asked for. */
struct function_quantiles {
    uint64_t values[FUNCTION_QUANTILES];
};

struct quantiles_request {
    unsigned wanted; /* bit i: enum function_quantile i */
    bool all_calls;  /* also those that are not whole: what is seen of them */
};

/* `rows`: what index_function_table() gave for the same tracks and range. Writes one element for
 * each row to `quantiles`. */
bool index_function_quantiles(const struct trace_index *index, struct index_tracks tracks,
                              struct index_range range, struct quantiles_request request,
                              const struct array *rows, struct function_quantiles *quantiles,
                              struct error *error);

#endif
