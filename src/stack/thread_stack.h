/* The call stack of one thread as it is being followed, and all that is remembered of it.
 *
 * Here are the moves that a stack can make: a segment begins and ends, a frame is entered, returned
 * from, unwound, replaced, a caller is discovered. Which move a flow event means is decided by the
 * rules, one file per way in which control moves: calls.h, unwinding.h, kernel_entry.h, signals.h,
 * tracing_pause.h; follow.h applies them to batches of flow events.
 *
 * A *segment* is a stretch without gap. In it the stack is known from its root on; the root's own
 * caller is a placeholder until a return discovers it (frame_tree.h). There is always a
 * placeholder, also below a thread's very first function: what nobody returns to is never shown,
 * and no guess about a recording's beginning (which in snapshot mode can be anywhere) can keep a
 * caller from being discovered.
 *
 * Every move is made by one function below, which keeps leaf, counts and history together: what the
 * history holds is well nested by construction, whatever the events were.
 */
#ifndef MAGIC_TRACE_STACK_THREAD_STACK_H
#define MAGIC_TRACE_STACK_THREAD_STACK_H

#include "base/array.h"
#include "base/clock.h"
#include "flow/flow_event.h"
#include "stack/frame_tree.h"
#include "stack/history.h"
#include "stack/open_functions.h"

#include <stdbool.h>
#include <stdint.h>

/* What the rules must know about the code of the thread's process. Times never go backwards. */
struct code_view {
    void *context;
    /* Where the function that holds `address` begins, as an address in the process; 0 unknown. */
    uint64_t (*function_start)(void *context, struct ticks time, uint64_t address);
    /* How often the process has become another program (exec) up to `time`. */
    uint32_t (*program_changes)(void *context, struct ticks time);
};

/* A stretch between two segments in which control flow is not known. */
struct gap {
    struct ticks begin, end; /* equal when no tracing time was lost */
    uint64_t address;        /* where it was noticed; 0 unknown */
    uint8_t kind;            /* enum flow_gap; FLOW_GAP_NONE: frame ids have run out */
    uint8_t error;           /* of FLOW_GAP_ERROR */
    bool time_lost;
};

struct thread_stack_statistics {
    uint64_t spans;
    uint64_t unwound;  /* events that ended several frames at once: longjmp, exceptions, skipped
                          returns */
    uint64_t repaired; /* events that did not fit the stack */
    uint64_t ignored;  /* events after frame ids ran out */
};

struct thread_stack {
    struct frame_tree tree;
    struct history history;
    struct array gaps; /* struct gap, in time order */
    struct code_view code;
    struct thread_stack_statistics statistics;
    const char *death; /* in words, by which signal and where; NULL: not by one. Borrowed */

    frame_id leaf;                /* FRAME_NONE between segments */
    uint64_t root_return_address; /* of the segment's outermost known frame; 0 unknown */
    struct open_functions open;   /* of the current stack */
    struct ticks now;             /* of the newest event */
    struct ticks stopped_at;      /* when `stopped` */
    uint32_t program_changes;     /* as far as they have been taken into account */
    bool started;                 /* an event was seen */
    bool stopped; /* FLOW_STOP was the event before; shown only if tracing goes on later */
    bool in_gap;  /* the last of `gaps` has not ended */
};

void thread_stack_init(struct thread_stack *stack, const struct code_view *code);
void thread_stack_free(struct thread_stack *stack);

/* All moves happen at stack->now. Those of the second group need a segment (leaf is not
 * FRAME_NONE). */

/* A segment begins; its leaf is `activation`, at `address`. `seen`: it is entered just now, and not
 * open since before. */
void thread_stack_begin(struct thread_stack *stack, const struct activation *activation,
                        uint64_t address, bool seen);
/* The segment ends: nothing is known from here on, until the next one begins. Times of `gap` are
 * filled in. */
void thread_stack_begin_gap(struct thread_stack *stack, const struct gap *gap);

/* The segment ends, for a reason HISTORY_END_...; fine when there is none. */
void thread_stack_end(struct thread_stack *stack, enum history_kind reason);
/* A signal ends the process in this thread; the segment is to be ended next. `words` outlive the
 * stack. */
void thread_stack_die(struct thread_stack *stack, const char *words);
/* `activation` starts on top of the leaf. `address` is one in its function, 0 for none. */
void thread_stack_enter(struct thread_stack *stack, const struct activation *activation,
                        uint64_t address);
void thread_stack_enter_inferred(struct thread_stack *stack, const struct activation *activation,
                                 uint64_t address);
/* Cuts the stack to `frame`, which is on it; no change when it is the leaf. Those above have
 * returned, or were unwound. */
void thread_stack_return(struct thread_stack *stack, frame_id frame);
void thread_stack_unwind(struct thread_stack *stack, frame_id frame);
/* Another function takes over the leaf's frame: the same kind, the same return address. */
void thread_stack_replace(struct thread_stack *stack, function_id function, uint64_t address);
/* All frames end, and their caller is found to be `function`, at `address`. */
void thread_stack_discover(struct thread_stack *stack, function_id function, uint64_t address);

/* The innermost frame of `function`; FRAME_NONE when it is not on the stack. */
frame_id thread_stack_find(const struct thread_stack *stack, function_id function);
/* True when `frame` is the outermost known frame of its segment. */
bool thread_stack_is_root(const struct thread_stack *stack, frame_id frame);
/* True when `address` is the first instruction of its function. */
bool thread_stack_is_start(const struct thread_stack *stack, uint64_t address);

static inline const struct frame *thread_stack_frame(const struct thread_stack *stack,
                                                     frame_id frame)
{
    return frame_tree_at(&stack->tree, frame);
}

static inline const struct frame *thread_stack_leaf(const struct thread_stack *stack)
{
    return frame_tree_at(&stack->tree, stack->leaf);
}

#endif
