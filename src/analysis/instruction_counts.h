/* What a program did, in numbers that are the same in every run: calls and instructions per function
 * and thread, counted from a trace with `-clock instructions`, in which an instruction takes one
 * nanosecond. And the file that keeps them, a baseline.
 *
 * Called by `magic-trace check`. Threads with the same name are added up. Time outside of the
 * program does not count. A baseline is text, made to be kept with the program's sources: a line for
 * each function, sorted, so that its history shows what became longer.
 */
#ifndef MAGIC_TRACE_ANALYSIS_INSTRUCTION_COUNTS_H
#define MAGIC_TRACE_ANALYSIS_INSTRUCTION_COUNTS_H

#include "base/array.h"
#include "base/error.h"
#include "index/trace_index.h"

struct instruction_count {
    char *thread, *function; /* owned by the counts */
    uint64_t calls;
    uint64_t instructions; /* in itself, callees not included */
};

/* Under what conditions they were counted. */
struct counting_conditions {
    char *command, *engine, *processor; /* owned */
    char *environment;                  /* in words; NULL: a baseline that does not say; owned */
    int status;                         /* the program's exit status, 128 + N for signal N */
};

struct instruction_counts {
    struct counting_conditions conditions;
    struct array rows; /* of struct instruction_count, by thread and then by function */
};

/* Takes the strings of `conditions`. Free the counts in any case. */
bool instruction_counts_of_trace(struct instruction_counts *counts, const struct trace_index *index,
                                 struct counting_conditions conditions, struct error *error);

bool instruction_counts_read(struct instruction_counts *counts, const char *path,
                             struct error *error);
bool instruction_counts_write(const struct instruction_counts *counts, const char *path,
                              struct error *error);
void instruction_counts_free(struct instruction_counts *counts);

/* As qsort(3) has it: by thread, then by function. */
int instruction_count_compare(const void *left, const void *right);

#endif
