/* Flow events of made-up programs, for benchmarks of the call stacks without the decoder.
 *
 * Three shapes:
 *   repeating  what programs do: the same calls on the same stacks over and over
 *   distinct   the worst case: every call makes a stack that was never seen before
 *   random     calls, returns, tail calls, exceptions and longjmp out of several frames, gaps in
 *              which calls and returns are lost, and switches between several stacks, with the
 *              stack pointer recorded as the qemu engine does
 * The same seed gives the same events, however many are taken at a time.
 */
#ifndef MAGIC_TRACE_BENCH_MADE_UP_PROGRAM_H
#define MAGIC_TRACE_BENCH_MADE_UP_PROGRAM_H

#include "decode/flow_event.h"
#include "stack/thread_stack.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum program_shape { PROGRAM_REPEATING, PROGRAM_DISTINCT, PROGRAM_RANDOM };

enum { PROGRAM_DEPTH_MAXIMUM = 64, PROGRAM_STACKS = 8 };

struct made_up_frame {
    function_id function;
    uint64_t return_address; /* where its caller goes on */
};

struct made_up_stack {
    struct made_up_frame frames[PROGRAM_DEPTH_MAXIMUM];
    size_t depth; /* at least 1: the outermost function never returns */
};

struct made_up_program {
    enum program_shape shape;
    uint64_t random; /* state of xorshift64; not 0 */
    uint64_t time;
    uint64_t calls;
    struct made_up_stack stacks[PROGRAM_STACKS];
    size_t running;
    bool started;  /* its first event has been taken */
    bool in_gap;   /* the event before was a gap */
    bool reported; /* it recorded the stack pointer */
};

/* `seed` is not 0. */
void made_up_program_begin(struct made_up_program *program, enum program_shape shape,
                           uint64_t seed);
struct flow_event made_up_program_next(struct made_up_program *program);

/* Its code, for the rules. */
struct code_view made_up_program_code(void);

#endif
