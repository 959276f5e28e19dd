/* A random program with known truth: flow events as a decoder would give them, and the spans they
 * must become.
 *
 * It calls, recurses, returns, tail-calls, jumps out of several frames, makes system calls, gets
 * signals and page faults, and loses parts of the trace. Tracing begins when it is already running,
 * so callers must be discovered. The truth comes from the program's own stack, kept apart from the
 * code under test.
 */
#ifndef MAGIC_TRACE_TESTS_STACK_RANDOM_PROGRAM_H
#define MAGIC_TRACE_TESTS_STACK_RANDOM_PROGRAM_H

#include "base/array.h"
#include "stack/spans/replay.h"
#include "stack/thread_stack.h"

struct random_program {
    struct array events; /* struct flow_event */
    struct array truth;  /* struct replay_event */
};

/* The same seed gives the same program. */
void random_program_make(struct random_program *program, uint64_t seed, size_t event_count);
void random_program_free(struct random_program *program);

/* Its code, for the rules. */
struct code_view random_program_code(void);

/* A pseudo-random number (splitmix64), of which `state` is the seed. */
uint64_t random_number(uint64_t *state);

#endif
