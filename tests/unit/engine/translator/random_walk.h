/* A random way through walked_code.S, and the log that a runtime would write of it. */
#ifndef RANDOM_WALK_H
#define RANDOM_WALK_H

#include "base/array.h"
#include "made_arena.h"

/* What happens after a block. */
enum walk_event {
    WALK_NOTHING,
    WALK_SYSTEM_CALL, /* the block's last instruction */
    WALK_SIGNAL,    /* interrupted at `cut`, or in its system call; the next step is the handler */
    WALK_SIGRETURN, /* its system call was rt_sigreturn */
};

struct walk_step {
    uint64_t pc;
    uint64_t cut; /* the instruction that did not run any more; 0: all ran */
    enum walk_event event;
    uint64_t stack_pointer;              /* when it begins */
    uint64_t stack_pointer_after;        /* a load of the stack pointer: what it loaded */
    uint32_t first_caller, caller_count; /* when it begins, in walk.callers */
};

struct walk {
    struct array steps;   /* of struct walk_step */
    struct array callers; /* of uint64_t, as packets report them, the outermost first */
    unsigned random;
};

struct walk_options {
    unsigned seed;
    unsigned steps;
    bool signals; /* and jumps out of functions as longjmp makes them */
};

void walk_make(struct walk *walk, const struct walk_options *options);
void walk_free(struct walk *walk);

/* The step that instruction number `index` belongs to. */
const struct walk_step *walk_step_of(const struct walk *walk, size_t index);

/* The addresses of the instructions that ran, of uint64_t. */
struct array walk_instructions(const struct walk *walk);

enum { WALK_START_TIME = 1000000, WALK_TICKS = 3 }; /* per instruction; nothing else takes time */

/* Writes it into the arena's log, as a thread does that is killed in the last block. `wait` is called before
 * each fragment; NULL: nobody needs to read meanwhile. */
void walk_log(struct walk *walk, struct made_arena *made, void (*wait)(struct made_arena *made));

extern const uint8_t walked_code[], walked_end[], walked_handler[], walked_return[], walked_away[];
extern const uint64_t walked_jump_targets[12], walked_functions[6];

#endif
