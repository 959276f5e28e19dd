/* What ran on which stack, when, and in which thread: a stack (of a goroutine, a fiber, a thread's
 * own) that is suspended and resumed is several parts, each in one track.
 *
 * Used by what shows stacks beside threads: the index and the page that carries its trace. Times are
 * those that the user gives, never decreasing.
 *
 * Only stacks that are suspended or resumed at least once have a number (span_event.stack) and so
 * parts. A part begins with the outermost span of its track and ends with it, or when another thread
 * resumes the stack: the thread that suspended it shows its calls until it runs something else itself.
 */
#ifndef MAGIC_TRACE_OUTPUT_STACK_PARTS_H
#define MAGIC_TRACE_OUTPUT_STACK_PARTS_H

#include "base/array.h"
#include "stack/spans/span.h"

#include <stdint.h>

/* Also as it is in the file of an index (SECTION_PARTS). */
struct stack_part {
    uint64_t from, to;
    uint32_t stack; /* its place in stack_parts.stacks */
    uint32_t track;
};

/* The sums of a stack. */
struct known_stack {
    const char *name;        /* of the function that it runs; the source's */
    uint64_t parts, running; /* running: the time in them */
    uint64_t first, last;
    uint32_t depth; /* spans open at once at most */
    uint32_t track; /* of its process */
};

struct stack_parts {
    struct array stacks;             /* of struct known_stack */
    struct running_stack *tracks;    /* by track; owned */
    struct numbered_stack *numbered; /* owned */
};

struct stack_parts stack_parts_new(size_t tracks);
void stack_parts_free(struct stack_parts *parts);

/* Takes an ENTER or LEAVE; others are ignored. True: with it *part ended, which the user keeps. */
bool stack_parts_take(struct stack_parts *parts, const struct span_event *event, uint64_t time,
                      struct stack_part *part);

/* When all are taken: sorts the kept parts by stack and time, ends each where another thread resumes its
 * stack, adds up the sums, and puts the busiest stack first. */
void stack_parts_finish(struct stack_parts *parts, struct stack_part *kept, size_t count);

#endif
