/* Walks through a thread's truth logs, step by step: the true stack at every moment.
 *
 * A step is control going from one instruction to another that is no plain succession: from the end
 * of a block to the beginning of the next one, or, within a block, over the border between two
 * functions. The logs of all programs that the thread runs (execve) are walked one after the other.
 * A thread that was forked begins with the stack of its parent.
 *
 * Functions come from the symbols that the flow decoder uses, at the time given to
 * truth_walk_advance.
 */
#ifndef MAGIC_TRACE_TESTS_TRUTH_WALK_H
#define MAGIC_TRACE_TESTS_TRUTH_WALK_H

#include "image/address_space.h"
#include "true_stack.h"
#include "truth_log.h"

struct truth_step {
    uint64_t from; /* the last instruction of the block before; 0: none, or a border */
    uint64_t to;
    bool place;   /* the program was interrupted by a signal at `to` */
    bool waiting; /* at `to` is a signal handler's first instruction; another handler comes first */
};

struct truth_walk {
    const char *directory;
    uint32_t pid, tid;
    struct address_space_cursor code;
    struct symbols *symbols;
    struct truth_log log;
    uint32_t generation;               /* of the next log */
    uint64_t next;                     /* record */
    struct block_functions *functions; /* per block of the log; owned */
    uint64_t border; /* where the present block runs on into another function; 0: nowhere */
    struct true_stack stack;
    struct truth_step step;          /* the newest */
    const struct truth_block *block; /* that is running; NULL: before the first */
    struct array not_returned_to;    /* uint32_t, per program: see truth_walk_not_returned_to */
};

/* All borrowed. `process`: may be NULL. */
void truth_walk_init(struct truth_walk *walk, const char *directory, const struct thread *thread,
                     const struct process *process, struct symbols *symbols);
void truth_walk_free(struct truth_walk *walk);

/* Symbols are looked up as of `time` from now on. */
void truth_walk_advance(struct truth_walk *walk, struct ticks time);

/* False at the end of all logs: nothing has changed then. */
bool truth_walk_next(struct truth_walk *walk);

/* The number of the program that runs, from 0. */
size_t truth_walk_program(const struct truth_walk *walk);

/* The stacks of a forked child begin with its parent's. As many of the outermost functions have
 * never come back in the child, so far as it has been walked through; 0 of what was not forked. */
uint32_t truth_walk_not_returned_to(const struct truth_walk *walk, size_t program);

/* Whether the program is going to be interrupted at `address`, in this log. */
bool truth_walk_will_be_interrupted(const struct truth_walk *walk, uint64_t address);

/* The qemu engine stops and goes on at once where code has been overwritten. Whether that may
 * be so when the program is at `address` next; and whether it goes there with the next step. */
bool truth_walk_will_pause(const struct truth_walk *walk, uint64_t address);
bool truth_walk_goes_to(const struct truth_walk *walk, uint64_t address);

/* The function at `address`, and where it began. */
struct function_bounds truth_walk_function(struct truth_walk *walk, uint64_t address);

#endif
