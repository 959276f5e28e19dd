/* Statistics of the functions in a range (docs/viewer.md section 1, "Statistics"), and of the calls
 * of one.
 *
 * Called by the server. The time that an answer takes grows with the spans of the range.
 */
#ifndef MAGIC_TRACE_INDEX_FUNCTION_TABLE_H
#define MAGIC_TRACE_INDEX_FUNCTION_TABLE_H

#include "index/off_cpu_times.h"
#include "index/span_search.h"
#include "index/trace_index.h"

struct function_row {
    uint32_t group;
    uint64_t calls, total, self;
    uint64_t off_cpu;              /* of `total`: not running */
    uint64_t whole, min, max, sum; /* of whole calls; mean is sum / whole */
    struct call_place longest; /* the first of those that last `max`; if there are whole calls */
    uint64_t cut_min, cut_max, cut_sum; /* of the others, calls - whole: what is seen of them */
    /* Calls that are not whole, by the reason; one may have several. */
    uint64_t start_not_seen, end_not_seen, still_open, beyond_range;
};

/* Appends struct function_row, of every group that is called in the range, by id. */
bool index_function_table(const struct trace_index *index, struct index_tracks tracks,
                          struct index_range range, struct array *rows, struct error *error);

enum { CALL_BINS = 256 }; /* 4 for each power of two: bin_first() gives where each begins */
uint64_t call_bin_first(unsigned bin);
unsigned call_bin_of(uint64_t length);

struct calls_request {
    struct index_tracks tracks;
    struct index_range range;
    uint32_t group;
    size_t slowest;                /* calls that are listed: the longest, */
    struct index_range lengths;    /* of whole ones that take [from, to) ns; `to` 0: of all, */
    uint32_t columns;              /* and the columns of the map of calls; 0: none */
    struct off_cpu_times *off_cpu; /* the caller's; NULL: on-CPU time is not asked for */
    bool by_on_cpu; /* with `off_cpu`: those with the longest time on a processor are listed */
};

/* Calls that begin in the same column of time, and whose lengths are in the same bin. */
struct call_cell {
    uint32_t column;
    unsigned bin;
    uint64_t calls;            /* whole ones */
    struct call_place longest; /* of equals the first */
};

struct listed_call {
    struct call_place place; /* the first member */
    uint64_t off_cpu;        /* ns of it; 0 where that is not asked for */
};

struct call_statistics {
    uint64_t calls;     /* that overlap the range */
    uint64_t recursive; /* of them, those inside another call of the group */
    uint64_t total;     /* ns of the range in which a call is open: of the outermost ones alone */
    uint64_t off_cpu;   /* ns of `total` in which the threads were not running, if asked for */
    uint64_t whole, sum, min, max;
    uint64_t median, p99; /* of whole calls; exact */
    uint64_t bins[CALL_BINS];
    struct array slowest; /* of struct listed_call, longest first, whole or not */
    uint64_t column;      /* ns of a column of the map, by the beginnings of calls */
    struct array map; /* of struct call_cell, by column and bin; those without calls are left out */
};

/* call_statistics_free() in any case. */
bool index_calls(const struct trace_index *index, const struct calls_request *request,
                 struct call_statistics *statistics, struct error *error);
void call_statistics_free(struct call_statistics *statistics);

#endif
