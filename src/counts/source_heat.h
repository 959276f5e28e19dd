/* How often the lines of a source file ran, which way their branches went, and what they called: of a whole recording, of a
 * time, of one thread, or of one call.
 *
 * For programs that ask many such questions, as the page's source panel does: the recording is decoded at the first one and
 * stays open, and what was counted last is kept, so that another file of the same part costs little. Every part that is new
 * is a decode (code_counts.h). Called by src/server/answers from many threads; one question is
 * answered at a time.
 */
#ifndef MAGIC_TRACE_COUNTS_SOURCE_HEAT_H
#define MAGIC_TRACE_COUNTS_SOURCE_HEAT_H

#include "base/array.h"
#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

/* Which part of the recording. */
struct heat_part {
    uint64_t from, to; /* ns since the beginning of the trace: [from, to) */
    uint32_t pid, tid; /* of a thread; both 0: of all */
    const char
        *function; /* one call of it in that thread, if it can be found; NULL: the time alone */
    uint64_t call, calls; /* which, from 1, of how many in that thread */
};

struct heat_line {
    uint32_t line;
    uint64_t count; /* 0: it has code, which never ran */
    uint64_t cost;  /* instructions */
};

/* A conditional jump of the line; a condition may have several. */
struct heat_branch {
    uint32_t line;
    uint64_t taken, not_taken;
};

struct heat_call {
    uint32_t line;
    const char *function; /* that is called; lives as long as the heat counter */
    uint64_t count;
};

struct source_heat {
    struct array lines; /* struct heat_line, by line */
    struct array
        branches; /* struct heat_branch, by line, the most often taken first; of code that ran */
    struct array calls; /* struct heat_call, by line and name */
    uint64_t executed;  /* instructions of the part, in all files */
    bool
        is_by_time; /* the call could not be distinguished from others: what its thread did in its time, as exactly as times are known */
};

static inline void source_heat_free(struct source_heat *heat)
{
    array_free(&heat->lines);
    array_free(&heat->branches);
    array_free(&heat->calls);
}

struct heat_counter;

/* `path`: a recording. It is opened by the first question. */
struct heat_counter *heat_counter_new(const char *path);
void heat_counter_free(struct heat_counter *counter);

/* `file` as debug information names it, its lines [first, last]. ERROR_NOT_FOUND: the recording does not say how often lines
 * ran. Free the heat in any case. */
typedef bool heat_count_function(struct heat_counter *counter, const struct heat_part *part,
                                 const char *file, uint32_t first, uint32_t last,
                                 struct source_heat *heat, struct error *error);
heat_count_function heat_counter_count;

/* Who counts for the server, which itself decodes no recordings. */
struct line_counter {
    struct heat_counter *counter; /* NULL: there is only a trace */
    heat_count_function *count;
};

#endif
