/* The code of one process as the stacks need it: where functions begin, and when exec replaced
 * everything.
 *
 * A code_view (thread_stack.h) on a recording's address spaces and symbols. One per thread, because
 * threads are at different times. The last answers are cached: nearly every new frame needs its
 * function's start.
 */
#ifndef MAGIC_TRACE_STACK_PROCESS_CODE_H
#define MAGIC_TRACE_STACK_PROCESS_CODE_H

#include "decode/flow.h"
#include "stack/thread_stack.h"

struct process_code;

/* `process` may be NULL (unknown): then only `text` describes the code, and if that is NULL, too,
 * all addresses are unknown. All are borrowed. */
struct process_code *process_code_open(const struct process *process, struct symbols *symbols,
                                       const struct text_code *text);
void process_code_close(struct process_code *code);

/* An instruction as it is shown to users. */
struct code_place {
    const char *function; /* NULL: unknown */
    struct source_line line;
};

/* At the last time for which the code_view was called. Strings live as long as the symbols. */
struct code_place process_code_place(struct process_code *code, uint64_t address);

/* Valid until process_code_close. */
struct code_view process_code_view(struct process_code *code);

/* Valid as long as the symbols and `moves`, which may be NULL. */
struct inlined_view process_code_inlined_view(struct symbols *symbols, struct inlined_moves *moves);

#endif
