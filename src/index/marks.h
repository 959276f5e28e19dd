/* What a trace holds besides spans: gaps and notes, hits of the trigger, counters, switches of stacks.
 *
 * Called by the server and by reports.
 */
#ifndef MAGIC_TRACE_INDEX_MARKS_H
#define MAGIC_TRACE_INDEX_MARKS_H

#include "index/trace_index.h"
#include "output/mark_kind.h"

struct index_mark {
    uint64_t time;
    uint32_t track;
    uint32_t depth;  /* spans of the track that are active */
    uint64_t spans;  /* of the track, that began before */
    uint64_t number; /* of the trace's marks */
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
    bool has_passed;
    uint64_t passed; /* ns, that the program says have passed */
    /* Of the thread in which it happened. */
    uint32_t thread; /* its track */
    uint32_t depth;  /* spans that are active */
    uint64_t spans;  /* that began before */
    uint64_t marks;  /* marks of the trace that were before it */
    uint32_t number; /* hits that happened before it; INDEX_NOT_HAPPENED */
};

/* A stack (of a fiber, a goroutine) that was suspended is resumed. */
struct index_switch {
    uint64_t from_time; /* of its suspension; where that was not seen, to_time */
    uint64_t to_time;
    uint32_t from_track, to_track;
};

struct index_counter {
    const char *name;
    uint32_t pid; /* 0: of the whole machine */
    uint64_t samples;
};

struct counter_values {
    uint64_t count;
    double min, max; /* 0 when there is no value */
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

/* By when the stacks are resumed. */
void index_switches(const struct trace_index *index, struct index_range range, size_t limit,
                    struct array *switches, bool *more);

/* Appends the hits that happened in the range, which they do at their end, in their order. */
void index_hits_within(const struct trace_index *index, struct index_range range,
                       struct array *hits);

struct index_counter trace_index_counter(const struct trace_index *index, uint32_t counter);

/* Of the samples in the range. */
struct counter_values index_counter_values(const struct trace_index *index, uint32_t counter,
                                           struct index_range range);

/* Appends at most `points` struct counter_point; the first may lie before the range: it is the
 * value with which the range begins. */
bool index_counter_points(const struct trace_index *index, uint32_t counter,
                          struct index_range range, size_t points, struct array *result,
                          struct error *error);

#endif
