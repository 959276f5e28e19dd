/* What a trace holds besides spans: gaps and notes, hits of the trigger, counters.
 *
 * Called by the server.
 */
#ifndef MAGIC_TRACE_INDEX_MARKS_H
#define MAGIC_TRACE_INDEX_MARKS_H

#include "index/trace_index.h"
#include "output/mark_kind.h"

struct index_mark {
    uint64_t time;
    uint32_t track;
    uint32_t depth; /* spans of the track that are active */
    uint64_t spans; /* of the track, that began before */
    enum mark_kind kind;
    const char *text; /* the index's */
};

struct index_hit {
    uint64_t start, end; /* of its span on the track of hits */
    uint32_t track;
    uint32_t pid, tid;
    const char *name;
    bool has_argument;
    int64_t argument;
    uint64_t address; /* 0: not known */
};

struct index_counter {
    const char *name;
    uint32_t pid; /* 0: of the whole machine */
    uint64_t samples;
};

struct counter_point {
    uint64_t time;
    double min, max, last; /* of the samples from this time to the next point's */
};

/* Append what is in the range, by time; of more than `limit`, an even selection that keeps the
 * first, and *more is set. */
bool index_marks(const struct trace_index *index, struct index_range range, size_t limit,
                 struct array *marks, bool *more, struct error *error);
bool index_hits(const struct trace_index *index, struct index_range range, size_t limit,
                struct array *hits, bool *more, struct error *error);

struct index_counter trace_index_counter(const struct trace_index *index, uint32_t counter);

/* Appends at most `points` struct counter_point; the first may lie before the range: it is the
 * value with which the range begins. */
bool index_counter_points(const struct trace_index *index, uint32_t counter,
                          struct index_range range, size_t points, struct array *result,
                          struct error *error);

#endif
