/* How often each line of source ran, from the counts of its instructions.
 *
 * As gcov counts: a line runs once each time that control comes to it, from another line or by a call, and once more each time round a
 * loop inside of the line. Control that comes back from a call has not left the line. Of a statement of several lines,
 * those with no branch of their own run as often as the code between two branches that they are part of. Source: GCC's gcc/gcov.cc,
 * accumulate_line_info; blocks are those of the machine code.
 *
 * Called by the source report and the lcov export.
 */
#ifndef MAGIC_TRACE_COUNTS_LINE_COUNTS_H
#define MAGIC_TRACE_COUNTS_LINE_COUNTS_H

#include "base/arena.h"
#include "counts/code_counts.h"

struct line_count {
    uint32_t file; /* index in line_counts.files */
    uint32_t line;
    uint64_t count;
    uint64_t cost; /* instructions executed */
};

struct line_counts {
    struct array files;   /* const char *, as debug information names them */
    struct array lines;   /* struct line_count, by file and line; also those that never ran, of
                           * functions of which some code did */
    struct array of_code; /* uint32_t, by index in counts->instructions: of `lines`, plus 1; 0: the
                           * line is unknown */
    struct arena memory;
};

void line_counts_find(struct line_counts *lines, const struct code_counts *counts);
void line_counts_free(struct line_counts *lines);

/* NULL: there is no code of that line in what ran. */
const struct line_count *line_counts_at(const struct line_counts *lines, uint32_t file,
                                        uint32_t line);

#endif
