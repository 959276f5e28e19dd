/* From a line of source to the instructions that it was compiled to.
 *
 * Called by engine/trigger/trigger.c and the command line, before a program runs. One instruction for each
 * function (inlined copies included) that has code of the line: the lowest that begins a statement,
 * as debuggers choose it.
 */
#ifndef MAGIC_TRACE_SYMBOL_LINE_SEARCH_H
#define MAGIC_TRACE_SYMBOL_LINE_SEARCH_H

#include "base/arena.h"
#include "base/array.h"
#include "base/error.h"
#include "symbol/dwarf/searched_object.h"

#include <stdbool.h>
#include <stdint.h>

struct searched_line {
    const char *file; /* the whole path, or the end of it from a / on */
    uint32_t line;
    uint32_t column; /* 0: any; else the code of exactly this column */
};

/* Appends to `places` (of struct code_place), by address. ERROR_NOT_FOUND when there is no such
 * code; the message names the nearest lines, or the columns of the line, that have some. */
bool line_search(const char *object, const struct searched_line *wanted, struct array *places,
                 struct error *error);

/* Appends the paths of all source files with code (const char *, made in `memory`), sorted, each
 * once. */
bool line_search_files(const char *object, struct array *files, struct arena *memory,
                       struct error *error);

/* Appends the numbers of all lines of `file` with code (uint32_t), sorted, each once. */
bool line_search_lines(const char *object, const char *file, struct array *lines,
                       struct error *error);

#endif
