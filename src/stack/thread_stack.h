/* The call stack of one thread as it is being followed, and all that is remembered of it.
 *
 * Here are the moves that a stack can make: a segment begins and ends, a frame is entered, returned
 * from, unwound, replaced, a caller is discovered. Which move a flow event means is decided by the
 * rules, one file per way in which control moves: calls.h, unwinding.h, kernel_entry.h, signals.h,
 * context_rewrites.h, transactions.h, tracing_pause.h; follow.h applies them to batches of flow events.
 *
 * A *segment* is a stretch in which every move is known. In it the stack is known from its root on;
 * the root's own caller is a placeholder until a return discovers it (frame_tree.h). Segments end
 * at gaps, where another stack goes on (stack_switch.h), and where control lands in a frame further
 * out and only what follows can tell in which (unwinding.h). What they have in common is found out
 * afterwards (stitching.h). There is always a
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
#include "decode/flow_event.h"
#include "stack/active_functions.h"
#include "stack/frame_tree.h"
#include "stack/go_runtime.h"
#include "stack/history.h"
#include "stack/suspended_addresses.h"

#include <stdbool.h>
#include <stdint.h>

/* What the rules must know about the code of the thread's process. Times never go backwards. */
struct code_view {
    void *context;
    /* Where the function that holds `address` begins, as an address in the process; 0 unknown. */
    uint64_t (*function_start)(void *context, struct ticks time, uint64_t address);
    /* Where an exception goes on that passes the call which returns to `address`; 0: nowhere. */
    uint64_t (*landing_pad)(void *context, struct ticks time, uint64_t address);
    /* True for a function that, called by `caller`, unwinds a thread's stack in order to end it
     * (forced_unwinding.h). */
    bool (*forces_unwinding)(void *context, function_id function, function_id caller);
    /* How often the process has become another program (exec) up to `time`. */
    uint32_t (*program_changes)(void *context, struct ticks time);
    /* What `function` is in Go's runtime. */
    enum go_role (*go_role)(void *context, function_id function);
};

/* A stretch between two segments in which control flow is not known. */
struct gap {
    struct ticks begin, end; /* equal when no tracing time was lost */
    uint64_t address;        /* where it was noticed; 0 unknown */
    uint8_t kind;            /* enum flow_gap; FLOW_GAP_NONE: frame ids have run out */
    uint8_t error;           /* of FLOW_GAP_ERROR */
    bool time_lost;
};

/* Why a segment begins. */
enum segment_start {
    SEGMENT_FIRST,  /* nothing is known of what was before */
    SEGMENT_GAP,    /* behind a gap */
    SEGMENT_UNWIND, /* control landed in a frame of the stack before, not known which */
    SEGMENT_SWITCH, /* control landed in one of several stacks, not known which */
    SEGMENT_NEW     /* on a new stack */
};

/* Where control has landed in a frame. */
struct unwind_place {
    uint64_t address;
    uint64_t pointer; /* the stack pointer there; 0: not told */
};

struct segment {
    frame_id leaf;   /* when it begins */
    frame_id before; /* the leaf when the segment before it ended; FRAME_NONE: see SEGMENT_FIRST */
    frame_id fallback; /* of LANDING: the frame below which it belongs when nothing tells more */
    /* Found by stitching: this frame of the stack before is still open in the segment, where it is
     * called `kept_as`. FRAME_NONE: none is. */
    frame_id kept, kept_as;
    struct unwind_place landed;                /* of LANDING */
    uint32_t first_candidate, candidate_count; /* of SWITCH: in thread_stack.candidates */
    uint8_t start;                             /* enum segment_start */
    bool called; /* of LANDING: only in a frame that has made a call that returns there */
};

/* A stack that waits for another to go on, or for ever. */
struct suspended_stack {
    frame_id leaf;
    uint64_t pointer; /* the stack pointer when it was left; 0 when it was not told */
    uint64_t top;     /* the stack pointer when it was begun; 0 when that was not told */
};

/* A function that has loaded the stack pointer and then called another: see calls_on_other_stack.h. */
struct call_on_other_stack {
    frame_id caller;
    uint64_t pointer; /* of its own stack */
};

/* A goroutine is parked, or goes on that was not parked by this thread (migrated_stacks.h). */
struct goroutine_moment {
    struct ticks time;
    uint64_t pointer; /* where its stack pointer is when it goes on */
    frame_id frame;   /* in which it goes on */
};

/* The stack pointer went from one place to another in code without branches. */
struct stack_move {
    uint64_t from, to; /* 0: it did not, or was not told */
};

struct thread_stack_statistics {
    uint64_t spans;
    uint64_t unwound;  /* events that ended several frames at once: longjmp, exceptions, skipped
                          returns */
    uint64_t repaired; /* events that did not fit the stack */
    uint64_t ignored;  /* events after frame ids ran out */
    uint64_t stitched; /* spans that are one though they go across a gap */
};

struct thread_stack {
    struct frame_tree tree;
    struct history history;
    struct array gaps;       /* struct gap, in time order */
    struct array segments;   /* struct segment, in time order */
    struct array candidates; /* frame_id: leaves of stacks; see struct segment */
    struct array suspended;  /* struct suspended_stack (stack_switch.h), in the order of parking */
    struct array resumed;    /* frame_id: where each parked stack went on */
    struct array elsewhere;  /* struct call_on_other_stack, the newest last */
    struct array traps;      /* struct trap (ocaml_traps.h), the newest last */
    struct array call_sites; /* struct unwind_target (unwind_targets.h) */
    struct array setjmp_calls; /* struct setjmp_call (setjmp_calls.h) */
    struct array
        unwind_target_pointers; /* struct unwind_target_pointer (unwind_target_pointers.h), by frame */
    struct segment next;        /* what is known of the segment to begin */
    struct array
        context_rewrites;    /* struct context_rewrite (context_rewrites.h), the newest last */
    struct array run_on_top; /* uint64_t: addresses at which handlers begin (context_rewrites.h) */
    struct suspended_addresses suspended_addresses;
    uint64_t call_site_looks; /* at frames, for sites that were forgotten */
    struct array departures;  /* struct goroutine_moment: of goroutines that were parked */
    struct array arrivals;    /* struct goroutine_moment: of those that come from elsewhere */
    struct {
        frame_id frame; /* FRAME_NONE: none was yet */
        uint64_t at;
    } cleaned_up; /* where forced unwinding has landed last (forced_unwinding.h) */
    struct code_view code;
    struct thread_stack_statistics statistics;
    const char *death; /* in words, by which signal and where; NULL: not by one. Borrowed */

    frame_id leaf;                /* FRAME_NONE between segments */
    uint64_t pointer;             /* the stack pointer when it was told last; 0: never yet */
    struct stack_move move;       /* see stack_pointer_switch.h */
    uint64_t top;                 /* of the running stack, as in struct suspended_stack */
    uint64_t callers_reported;    /* so many have been learned from FLOW_CALLER */
    uint64_t root_return_address; /* of the segment's outermost known frame; 0 unknown */
    frame_id uncalled;    /* the outermost frame, if its caller may be told next; else FRAME_NONE */
    frame_id transaction; /* the leaf when it began (transactions.h); FRAME_NONE: none */
    struct active_functions open; /* of the current stack */
    struct ticks now;             /* of the newest event */
    struct ticks stopped_at;      /* when `stopped` */
    uint32_t program_changes;     /* as far as they have been taken into account */
    bool started;                 /* an event was seen */
    bool stopped; /* FLOW_STOP was the event before; shown only if tracing goes on later */
    bool
        stack_pointer_is_recorded; /* the recording tells callers, and the stack pointer wherever it is loaded
                         */
    bool pointer_fresh;            /* only code without branches ran since `pointer` was told */
    bool in_gap;                   /* the last of `gaps` has not ended */
    bool no_stitching; /* set by the owner at the beginning: segments stay apart, to compare with */
};

void thread_stack_init(struct thread_stack *stack, const struct code_view *code);
void thread_stack_free(struct thread_stack *stack);

/* After the last event: what segments have in common is found out. */
void thread_stack_finish(struct thread_stack *stack);

/* All moves happen at stack->now. Those of the second group need a segment (leaf is not
 * FRAME_NONE). */

/* A segment begins; its leaf is `activation`, at `address`. `seen`: it is entered just now, and not
 * open since before. */
void thread_stack_begin(struct thread_stack *stack, const struct activation *activation,
                        uint64_t address, bool seen);
/* The same in event->function at event->to. */
void thread_stack_begin_at(struct thread_stack *stack, const struct flow_event *event, bool seen);
/* The segment ends: nothing is known from here on, until the next one begins. Times of `gap` are
 * filled in. */
void thread_stack_begin_gap(struct thread_stack *stack, const struct gap *gap);

/* The segment ends, for a reason HISTORY_END_...; fine when there is none. */
void thread_stack_end(struct thread_stack *stack, enum history_kind reason);
/* The segment ends and the next one begins: control is at event->to in event->function, in a frame
 * further out, not known which. `fallback` as in struct segment; `called`: in one that has made a
 * call that returns there. */
void thread_stack_land(struct thread_stack *stack, const struct flow_event *event,
                       frame_id fallback, bool called);
/* The segment ends and the stack is parked; another one goes on next. */
void thread_stack_park(struct thread_stack *stack);
/* The same, but the stack never goes on. */
void thread_stack_leave(struct thread_stack *stack);
/* The parked stack with this index is parked no more. */
void thread_stack_forget_suspended(struct thread_stack *stack, size_t index);
/* A parked stack goes on in its frame `leaf` (which may be its placeholder: then its caller is
 * discovered to be `function`), at `address`; no segment is open. */
void thread_stack_unpark(struct thread_stack *stack, frame_id leaf, function_id function,
                         uint64_t address);
/* The segment's outermost frame is found to have been called by `caller`. */
void thread_stack_gain_callers(struct thread_stack *stack, frame_id caller);
/* A signal ends the process in this thread; the segment is to be ended next. `words` outlive the
 * stack. */
void thread_stack_die(struct thread_stack *stack, const char *words);
/* `activation` starts on top of the leaf. `address` is one in its function, 0 for none. */
void thread_stack_enter(struct thread_stack *stack, const struct activation *activation,
                        uint64_t address);
/* The same, but it may turn out to have taken the leaf's place: thread_stack_move, given what is
 * returned here, puts it there in all that is remembered. */
frame_id thread_stack_enter_movable(struct thread_stack *stack, const struct activation *activation,
                                    uint64_t address);
void thread_stack_move(struct thread_stack *stack, frame_id link);
/* Cuts the stack to the parent of `frame`, which is on it; `frame`, which was, starts again. */
void thread_stack_enter_again(struct thread_stack *stack, frame_id frame);
/* Cuts the stack to `frame`, which is on it; no change when it is the leaf. Those above have
 * returned, or were unwound. */
void thread_stack_return(struct thread_stack *stack, frame_id frame);
void thread_stack_unwind(struct thread_stack *stack, frame_id frame);
/* Another function takes over the leaf's frame: the same kind, the same return address. */
void thread_stack_replace(struct thread_stack *stack, function_id function, uint64_t address);
/* All frames end, and their caller is found to be `function`, at `address`. */
void thread_stack_discover(struct thread_stack *stack, function_id function, uint64_t address);

/* The frame stack->uncalled was called by `function` and returns to `address`; or it is a signal
 * handler that has `interrupted` it there. The caller is stack->uncalled then. */
void thread_stack_learn_caller(struct thread_stack *stack, function_id function, uint64_t address,
                               bool interrupted);

static inline frame_id thread_stack_parent(const struct thread_stack *stack, frame_id frame)
{
    return frame_tree_parent(&stack->tree, frame);
}

/* True when `frame` is on the stack. */
bool thread_stack_has(const struct thread_stack *stack, frame_id frame);
/* The placeholder of the current stack. */
frame_id thread_stack_placeholder(const struct thread_stack *stack);
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
