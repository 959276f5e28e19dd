/* The code of one process as the stacks need it: where functions begin, and when exec replaced it
 * all.
 *
 * A code_view (thread_stack.h) over a recording's address spaces and symbols. One per thread that
 * is followed, since threads are at different times. The last answers are kept: a function is asked
 * for at nearly every new frame.
 */
#ifndef MAGIC_TRACE_STACK_PROCESS_CODE_H
#define MAGIC_TRACE_STACK_PROCESS_CODE_H

#include "decode/flow.h"
#include "stack/thread_stack.h"

struct process_code;

/* `process` may be NULL (unknown): then only `text` tells of the code, and if that is NULL too,
 * nothing is known of any address. All are borrowed. */
struct process_code *process_code_open(const struct process *process, struct symbols *symbols,
                                       const struct text_code *text);
void process_code_close(struct process_code *code);

/* One instruction, for people. */
struct code_place {
    const char *function; /* NULL: unknown */
    struct source_line line;
};

/* At the last time that the code_view was asked about. Strings live as long as the symbols. */
struct code_place process_code_place(struct process_code *code, uint64_t address);

/* Valid until process_code_close. */
struct code_view process_code_view(struct process_code *code);

#endif
