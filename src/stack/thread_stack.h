/* The call stack of one thread while it is followed, and all that is recorded of it.
 *
 * Only the functions of stack_moves.h change it. The rules (rules/stack_rules.h) decide what moves a flow
 * event means; follow.h applies them to batches of flow events.
 *
 * A *segment* is a period in which every move is known. In it the stack is known from its root on;
 * the root's own caller is a placeholder until a return discovers it (frame_tree.h). Segments end
 * at gaps, where another stack continues (stack_switch.h), and where control continues in a frame
 * further out and only later events decide in which (unwinding.h). What they have in common is
 * found out afterwards (stitching.h). There is always a placeholder, also below a thread's very
 * first function: a caller that nothing returns to is never shown, and no assumption about a
 * recording's beginning (which in snapshot mode can be anywhere) can prevent the discovery of a
 * caller.
 */
#ifndef MAGIC_TRACE_STACK_THREAD_STACK_H
#define MAGIC_TRACE_STACK_THREAD_STACK_H

#include "base/array.h"
#include "base/clock.h"
#include "decode/flow_event.h"
#include "stack/active_functions.h"
#include "stack/frame_tree.h"
#include "stack/go_runtime.h"
#include "stack/history.h"
#include "stack/inlined_move_cache.h"
#include "stack/rules/stack_rules.h"
#include "symbol/dwarf/inlined_table.h"

#include <stdbool.h>
#include <stdint.h>

enum stack_load {
    STACK_NOT_LOADED, /* or unknown */
    STACK_LOADED,     /* loads the stack pointer */
    STACK_EXCHANGED,  /* saves it, and loads another: it changes to another stack */
    STACK_RESTORED,   /* loads it, calls, and loads it again: it has called on another stack */
};

/* What the rules must know about the code of the thread's process. Times never decrease between
 * calls. */
struct code_view {
    void *context;
    /* Where the function that holds `address` begins, as an address in the process; 0: unknown. */
    uint64_t (*function_start)(void *context, struct ticks time, uint64_t address);
    /* Where an exception continues that passes the call which returns to `address`; 0: nowhere. */
    uint64_t (*landing_pad)(void *context, struct ticks time, uint64_t address);
    /* True for a function that, called by `caller`, unwinds a thread's stack in order to end it
     * (forced_unwinding.h). */
    bool (*forces_unwinding)(void *context, function_id function, function_id caller);
    /* How often the process has executed another program (exec) up to `time`. */
    uint32_t (*program_changes)(void *context, struct ticks time);
    /* What `function` is in Go's runtime. */
    enum go_role (*go_role)(void *context, function_id function);
    /* True for code that a JIT compiler has made. */
    bool (*is_jit_code)(void *context, function_id function);
    /* False if the instruction that ends at `address` is known not to be a call. */
    bool (*call_may_end_at)(void *context, struct ticks time, uint64_t address);
    /* What the function that holds the instruction at `address` does before it (x86/stack_load.h). */
    enum stack_load (*loads_stack)(void *context, struct ticks time, uint64_t address);
};

/* What is inlined in the code of the thread's process; all NULL: no function is. */
struct inlined_view {
    void *context;
    /* As symbols_inlined_in. */
    bool (*find)(void *context, function_id function, uint64_t start, uint64_t address,
                 inlined_id *inlined);
    const struct inlined_table *calls; /* borrowed; a table, because it is read for every move */
    /* Borrowed, and shared by the threads. NULL: the history has each step of a move by itself, so that each can have
     * a time of its own, which it needs where the clock is coarse (spans/timestamp_disambiguation.h). */
    struct inlined_moves *moves;
};

/* The period between two segments, in which the control flow is unknown. */
struct gap {
    struct ticks begin, end; /* equal if no tracing time was lost */
    uint64_t address;        /* where it was noticed; 0: unknown */
    uint8_t kind;            /* enum flow_gap; FLOW_GAP_NONE: frame ids have run out */
    uint8_t error;           /* of FLOW_GAP_ERROR */
    bool time_lost;
};

/* Why a segment begins. */
enum segment_start {
    SEGMENT_FIRST,  /* what ran before it is unknown */
    SEGMENT_GAP,    /* after a gap */
    SEGMENT_UNWIND, /* control continued in a frame of the stack before, unknown in which */
    SEGMENT_SWITCH, /* control continued in one of several stacks, unknown in which */
    SEGMENT_ASSUMED, /* control continued in the leaf's caller of the stack before, if not in another stack */
    SEGMENT_NEW /* on a new stack */
};

/* Where control has continued in a frame. */
struct unwind_place {
    uint64_t address;
    uint64_t pointer; /* the stack pointer there; 0: not recorded */
};

struct segment {
    frame_id leaf;   /* at its beginning */
    frame_id before; /* the leaf when the segment before it ended; FRAME_NONE: see SEGMENT_FIRST */
    frame_id fallback; /* of UNWIND: the caller of its root if nothing else decides */
    /* Found by stitching: this frame of the stack before is still active in the segment, where its
     * id is `kept_as`. FRAME_NONE: no frame is. */
    frame_id kept, kept_as;
    struct unwind_place landed; /* of UNWIND */
    uint8_t start;              /* enum segment_start */
    bool called; /* of UNWIND: only in a frame that has made a call that returns there */
};

/* Stacks that several threads may run, one after the other, have numbers from here on, the same in all
 * threads (migrated_stacks.h). */
#define SHARED_STACKS (UINT32_C(1) << 31)

struct shared_stack {
    frame_id placeholder;
    uint32_t number;
};

struct thread_stack_statistics {
    uint64_t spans;
    uint64_t unwound;  /* events that ended several frames at once: longjmp, exceptions, skipped
                          returns */
    uint64_t repaired; /* events that did not fit the stack */
    uint64_t ignored;  /* events after frame ids ran out */
    uint64_t stitched; /* spans that are one across a gap */
};

struct thread_stack {
    struct frame_tree tree;
    struct history history;
    struct array gaps;         /* struct gap, in time order */
    struct array segments;     /* struct segment, in time order */
    struct array inlined_open; /* inlined_id, by frame_id: what runs in it; none beyond the end */
    struct array call_values;  /* uint64_t: groups of FLOW_CALL_VALUE, each after their number */
    struct array resumed;      /* frame_id: where each suspended stack continued */
    struct array shared;       /* struct shared_stack, by placeholder: set by migrated_stacks.h */
    struct segment next;       /* what is known of the next segment */
    struct stack_rules rules;  /* the state of each is for its rule alone */
    struct code_view code;
    struct inlined_view inlined; /* set by the owner at the beginning */
    struct inlined_move_cache inlined_moves;
    struct thread_stack_statistics statistics;
    const char *death; /* which signal ended the thread, and where; NULL: none. Borrowed */

    frame_id leaf;                /* FRAME_NONE between segments */
    uint64_t root_return_address; /* of the segment's outermost known frame; 0: unknown */
    struct active_functions open; /* of the current stack */
    struct ticks now;             /* of the newest event */
    uint8_t previous;             /* enum flow_kind: of the event before, if `started` */
    bool started;                 /* an event was seen */
    bool in_gap;                  /* the last of `gaps` has not ended */
    uint32_t values_begin,
        values_left;      /* of the newest group of call_values; words that it lacks */
    bool begins_anywhere; /* set by the owner at the beginning: it is a snapshot, or may be */
    bool no_stitching; /* set by the owner at the beginning: segments stay apart, for comparison */
};

void thread_stack_init(struct thread_stack *stack, const struct code_view *code);
void thread_stack_free(struct thread_stack *stack);

/* An event of this kind has been followed. */
static inline void thread_stack_followed(struct thread_stack *stack, enum flow_kind kind)
{
    stack->previous = (uint8_t)kind;
    stack->started = true;
}

/* See struct thread_stack_statistics; the moves count spans, and unwinding in which the frame is
 * known. */
static inline void thread_stack_count_unwound(struct thread_stack *stack)
{
    stack->statistics.unwound++;
}

static inline void thread_stack_count_repaired(struct thread_stack *stack)
{
    stack->statistics.repaired++;
}

static inline void thread_stack_count_ignored(struct thread_stack *stack)
{
    stack->statistics.ignored++;
}

static inline frame_id thread_stack_parent(const struct thread_stack *stack, frame_id frame)
{
    return frame_tree_parent(&stack->tree, frame);
}

/* True if `frame` is on the stack. */
bool thread_stack_has(const struct thread_stack *stack, frame_id frame);
/* The placeholder of the current stack. */
frame_id thread_stack_placeholder(const struct thread_stack *stack);
/* The innermost frame of `function`; FRAME_NONE if it is not on the stack. */
frame_id thread_stack_find(const struct thread_stack *stack, function_id function);
/* True if `frame` is the outermost known frame of its segment. */
bool thread_stack_is_root(const struct thread_stack *stack, frame_id frame);
/* True if `function` may be active further out than the current stack is known: the segment began
 * after a gap or unwinding, and it was active before. */
bool thread_stack_was_open_before(const struct thread_stack *stack, function_id function);
/* True if the segment's callers may be those of the stack before. */
static inline bool thread_stack_segment_continues(const struct segment *segment)
{
    return segment->start == SEGMENT_GAP || segment->start == SEGMENT_UNWIND ||
           segment->start == SEGMENT_ASSUMED;
}
/* False if that is so for no function: the segment knows all its callers. */
static inline bool thread_stack_may_be_open_before(const struct thread_stack *stack)
{
    const struct segment *segments = stack->segments.elements;
    size_t count = stack->segments.count;
    return count > 0 && thread_stack_segment_continues(&segments[count - 1]);
}
/* True if `address` is the first instruction of its function. */
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
