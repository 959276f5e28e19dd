/* Queries that branch `index` is about to bring: until then the page is told so. Weak, so that the
 * real ones take their place wherever both are. To be removed with the next merge. */
#include "view/flame_graph.h"
#include "view/function_table.h"
#include "view/marks.h"
#include "view/span_search.h"

#define NOT_YET(error) error_set(error, ERROR_UNSUPPORTED, "this cannot be asked yet.")
#pragma GCC diagnostic ignored "-Wmissing-prototypes"

__attribute__((weak)) bool index_flame_graph(const struct trace_index *index,
                                             struct index_tracks tracks, struct index_range range,
                                             double share, struct array *nodes, struct error *error)
{
    return NOT_YET(error);
}

__attribute__((weak)) bool index_function_table(const struct trace_index *index,
                                                struct index_tracks tracks,
                                                struct index_range range, struct array *rows,
                                                struct error *error)
{
    return NOT_YET(error);
}

__attribute__((weak)) uint64_t call_bin_first(unsigned bin)
{
    return bin;
}

__attribute__((weak)) bool index_calls(const struct trace_index *index, struct index_tracks tracks,
                                       struct index_range range, uint32_t group, size_t slowest,
                                       struct call_statistics *statistics, struct error *error)
{
    return NOT_YET(error);
}

__attribute__((weak)) bool index_marks(const struct trace_index *index, struct index_range range,
                                       size_t limit, struct array *marks, bool *more,
                                       struct error *error)
{
    return true;
}

__attribute__((weak)) bool index_hits(const struct trace_index *index, struct index_range range,
                                      size_t limit, struct array *hits, bool *more,
                                      struct error *error)
{
    return true;
}

__attribute__((weak)) bool index_counter_points(const struct trace_index *index, uint32_t counter,
                                                struct index_range range, size_t points,
                                                struct array *result, struct error *error)
{
    return true;
}

__attribute__((weak)) struct index_counter trace_index_counter(const struct trace_index *index,
                                                               uint32_t counter)
{
    return (struct index_counter){.name = ""};
}

__attribute__((weak)) bool index_span_self(const struct trace_index *index, uint32_t track,
                                           const struct index_span *span, uint64_t *self,
                                           uint64_t *children, struct error *error)
{
    *self = *children = 0;
    return true;
}

__attribute__((weak)) bool index_next_call(const struct trace_index *index,
                                           struct index_tracks tracks, uint32_t group,
                                           const struct call_place *from, bool forward,
                                           struct call_place *call, uint64_t *ordinal,
                                           struct error *error)
{
    return NOT_YET(error);
}
