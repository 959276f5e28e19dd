/* The second pass over one thread: from its history to span events, properly nested.
 *
 * All callers have been discovered before, so a segment begins with its whole stack, outermost
 * frame first. Functions are still ids; timeline turns them into what output/ needs. Each event has
 * its own time, in ticks, and the time at which it is shown, its place, in nanoseconds
 * (timestamp_disambiguation.h).
 *
 * Nearly all steps are calls, returns from one call, tail calls, and moves from one inlined function
 * to another, which are made directly; any other step is *planned* first: the frames to be left,
 * then the frames to be entered.
 */
#ifndef MAGIC_TRACE_STACK_SPANS_REPLAY_H
#define MAGIC_TRACE_STACK_SPANS_REPLAY_H

#include "base/array.h"
#include "stack/spans/span.h"
#include "stack/spans/timestamp_disambiguation.h"
#include "stack/thread_stack.h"

#include <stdbool.h>
#include <stdint.h>

struct replay_event {
    enum span_event_kind kind;
    struct ticks time;
    struct nanoseconds place;
    function_id function;  /* of ENTER and LEAVE, unless `gap` is set */
    uint64_t address;      /* of ENTER */
    uint8_t flags;         /* enum span_flag */
    enum span_end end;     /* of LEAVE */
    uint32_t stack;        /* as in span_event */
    const struct gap *gap; /* of INSTANT; of ENTER and LEAVE of a gap that is drawn as a span;
                            * else NULL */
    /* Of LEAVE: where its arguments and its result are (stack/recorded_values.h), plus 1; 0: none are recorded. */
    uint32_t arguments, result;
    const char *death; /* of INSTANT: the thread's death, not a gap, as text; else NULL */
};

/* What is recorded of the call of an open frame; indexes as in replay_event. */
struct values_of_frame {
    uint32_t depth; /* of the frame, which is at least 1 */
    uint32_t arguments, result;
};

/* `stack` is borrowed and must not change while it is replayed. */
struct replay {
    const struct thread_stack *stack;
    struct timestamp_disambiguation disambiguation;
    struct ticks time;        /* of the newest step */
    struct nanoseconds place; /* of the newest step */
    /* The innermost frame that has been entered and not left, or the placeholder below all. */
    frame_id leaf;
    frame_id leave_to;     /* the frames from leaf up to this one must still be left */
    enum span_end end;     /* why they end */
    uint32_t suspended;    /* the stack that the next LEAVE suspends; 0: none */
    uint32_t resumed;      /* the stack that the next ENTER resumes; 0: none */
    struct array to_enter; /* frame_id, innermost first: to be entered after all others were left */
    bool innermost_seen;   /* the innermost of them begins now; the others began before */
    const struct gap *gap; /* to be entered as a span, after its INSTANT; else NULL */
    size_t segment;        /* index of the next one to begin */
    uint32_t depth;        /* spans open, gaps not counted */
    uint32_t across_gap;   /* the outermost ones, which were open before a gap */
    /* By depth: the inlined function that is open in each frame, of which the innermost may still
     * be moved to `inlined_to`. Owned; NULL: no function is inlined. */
    inlined_id *inlined;
    inlined_id inlined_to;
    uint32_t inlined_capacity;
    bool inlined_before;   /* it has begun before */
    bool splits;           /* each step of the move to it has a place of its own */
    struct array values;   /* struct values_of_frame: of open frames */
    uint32_t values_depth; /* of the innermost of them; 0: none */
};

/* Ticks are nanoseconds, each at its own time. */
void replay_init(struct replay *replay, const struct thread_stack *stack);
void replay_init_with_clock(struct replay *replay, const struct thread_stack *stack,
                            struct history_clock clock);
void replay_free(struct replay *replay);

/* Makes the next event of replay_take_plain_steps: `function` is entered, where it begins at
 * `address` (0: unknown), or left for the reason `end`. */
typedef void replay_make(void *context, const struct placed_step *step, enum span_event_kind kind,
                         function_id function, uint64_t address, enum span_end end);

/* Likewise, all events of a HISTORY_INLINED_MOVE, which must be one from `open`, at most `room` events; returns their
 * number, and sets `open` to where it leads. 0: they are made one by one, by a plan. */
typedef size_t replay_make_move(void *context, const struct placed_step *step, inlined_id *open,
                                size_t room);

struct replay_makes {
    replay_make *event;
    replay_make_move *move;
};

static inline bool replay_is_planned(const struct replay *replay)
{
    return replay->leaf != replay->leave_to || replay->to_enter.count > 0 || replay->gap != NULL ||
           (replay->inlined != NULL && replay->inlined[replay->depth] != replay->inlined_to);
}

/* Makes space for frames up to this depth. */
void replay_grow_inlined(struct replay *replay, size_t depth);

/* The most events of a step for which no space needs to be looked for: an inlined function and its
 * caller end, and another one begins. */
enum { REPLAY_PLAIN_EVENTS = 3 };

/* The state after the plain steps taken so far. */
struct replay_plain {
    const struct frame_tree *tree;
    const struct inlined_table *calls; /* of inlined_view */
    const struct frame *leaf;
    frame_id leaf_id;
    uint32_t depth;
    uint32_t values_depth;   /* as in struct replay */
    size_t room;             /* space for events */
    struct nanoseconds last; /* of the thread: disambiguation_splits */
    inlined_id *inlined;     /* as in struct replay, of the frames further out than the leaf */
    inlined_id open;         /* the inlined function that is open in the leaf */
};

/* Control goes from one inlined function of the leaf to another. */
static inline __attribute__((always_inline)) bool replay_take_move(struct replay_plain *plain,
                                                                   const struct placed_step *step,
                                                                   const struct replay_makes *makes,
                                                                   void *context)
{
    if (step->time.value == plain->last.value)
        return false;
    size_t made = makes->move(context, step, &plain->open, plain->room);
    plain->room -= made;
    return made > 0;
}

/* Whether `outer` contains `inlined`, or is it, with so few between them that there is space for
 * their events. */
static inline bool replay_may_leave(const struct replay_plain *plain, inlined_id inlined,
                                    inlined_id outer)
{
    size_t count = 0;
    for (; inlined != outer && inlined != INLINED_NONE; count++)
        inlined = inlined_table_call(plain->calls, inlined)->outer;
    return inlined == outer && count + 2 <= plain->room;
}

/* The inlined functions of the leaf inside of `outer` end. False: nothing has changed; `outer` is
 * not open, or there is no space. Most often one ends. */
static inline __attribute__((always_inline)) bool
replay_leave_inlined(struct replay_plain *plain, const struct placed_step *step, inlined_id outer,
                     enum span_end end, const struct replay_makes *makes, void *context)
{
    if (plain->open == outer)
        return true;
    if (plain->open == INLINED_NONE)
        return false;
    const struct inlined *left = inlined_table_call(plain->calls, plain->open);
    if (left->outer != outer && !replay_may_leave(plain, plain->open, outer))
        return false;
    for (;;) {
        makes->event(context, step, SPAN_LEAVE, left->function, 0, end);
        plain->room--;
        plain->open = left->outer;
        if (plain->open == outer)
            return true;
        left = inlined_table_call(plain->calls, plain->open);
    }
}

/* The frame of the step begins, on top of the leaf or instead of it. */
static inline __attribute__((always_inline)) void
replay_begin_frame(struct replay_plain *plain, const struct placed_step *step,
                   const struct replay_makes *makes, void *context)
{
    frame_id id = step->step.frame;
    const struct frame *frame = frame_tree_at(plain->tree, id);
    uint64_t start =
        frame_starts_get(&plain->tree->starts, id, frame->function, frame->start_choice);
    makes->event(context, step, SPAN_ENTER, frame->function, start, SPAN_END_RETURN);
    plain->room--;
    plain->leaf = frame;
    plain->leaf_id = id;
}

/* The leaf ends. False: nothing has changed. */
static inline __attribute__((always_inline)) bool
replay_end_leaf(struct replay_plain *plain, const struct placed_step *step, enum span_end end,
                const struct replay_makes *makes, void *context)
{
    if (plain->depth == plain->values_depth ||
        !replay_leave_inlined(plain, step, INLINED_NONE, end, makes, context))
        return false;
    makes->event(context, step, SPAN_LEAVE, plain->leaf->function, 0, end);
    plain->room--;
    return true;
}

static inline __attribute__((always_inline)) bool replay_take_call(struct replay_plain *plain,
                                                                   const struct placed_step *step,
                                                                   const struct replay_makes *makes,
                                                                   void *context)
{
    replay_begin_frame(plain, step, makes, context);
    if (plain->inlined != NULL)
        plain->inlined[plain->depth] = plain->open;
    plain->depth++;
    plain->open = INLINED_NONE;
    return true;
}

/* Not from several calls, nor past a link. */
static inline __attribute__((always_inline)) bool
replay_take_return(struct replay_plain *plain, const struct placed_step *step,
                   const struct replay_makes *makes, void *context)
{
    const struct frame *caller = frame_tree_at(plain->tree, step->step.frame);
    if (plain->leaf->parent != step->step.frame || caller->kind == FRAME_LINK ||
        !replay_end_leaf(plain, step, SPAN_END_RETURN, makes, context))
        return false;
    plain->depth--;
    if (plain->inlined != NULL)
        plain->open = plain->inlined[plain->depth];
    plain->leaf = caller;
    plain->leaf_id = step->step.frame;
    return true;
}

static inline __attribute__((always_inline)) bool
replay_take_tail_call(struct replay_plain *plain, const struct placed_step *step,
                      const struct replay_makes *makes, void *context)
{
    if (!replay_end_leaf(plain, step, SPAN_END_TAIL_CALL, makes, context))
        return false;
    replay_begin_frame(plain, step, makes, context);
    return true;
}

/* False: the step needs a plan, or there is no space left. Only steps of a few kinds have a frame:
 * the number of another one may be beyond all frames. */
static inline __attribute__((always_inline)) bool
replay_take_plain_step(struct replay_plain *plain, const struct placed_step *step,
                       const struct replay_makes *makes, void *context)
{
    if (plain->room < REPLAY_PLAIN_EVENTS)
        return false;
    switch (step->step.kind) {
    case HISTORY_ENTER:
        return replay_take_call(plain, step, makes, context);
    case HISTORY_RETURN:
        return replay_take_return(plain, step, makes, context);
    case HISTORY_REPLACE:
        return replay_take_tail_call(plain, step, makes, context);
    case HISTORY_INLINED_MOVE:
        return replay_take_move(plain, step, makes, context);
    default:
        return false;
    }
}

/* Takes the steps that need no plan, nearly all, as long as there are some and there is space.
 * Calls `makes` for their events; returns their number. Inlined, so that consumers of
 * millions of events can make them in place; replay_read takes any other step. */
static inline __attribute__((always_inline)) size_t
replay_take_plain_steps(struct replay *replay, size_t room, struct nanoseconds before,
                        const struct replay_makes *makes, void *context)
{
    const struct frame_tree *tree = &replay->stack->tree;
    struct replay_plain plain = {tree,
                                 replay->stack->inlined.calls,
                                 frame_tree_at(tree, replay->leaf),
                                 replay->leaf,
                                 replay->depth,
                                 replay->values_depth,
                                 room,
                                 replay->disambiguation.last,
                                 NULL,
                                 INLINED_NONE};
    const struct placed_step *step, *end;
    if (replay_is_planned(replay) || replay->across_gap > 0)
        return 0;
    if (replay->inlined != NULL) {
        replay_grow_inlined(replay, replay->depth + room);
        plain.inlined = replay->inlined;
        plain.open = plain.inlined[plain.depth];
    }
    while ((step = disambiguation_look(&replay->disambiguation)) != NULL) {
        end = disambiguation_end_before(&replay->disambiguation, before);
        while (step != end && replay_take_plain_step(&plain, step, makes, context))
            step++;
        disambiguation_go_to(&replay->disambiguation, step);
        if (step != disambiguation_end(&replay->disambiguation))
            break;
    }
    replay->leaf = replay->leave_to = plain.leaf_id;
    replay->depth = plain.depth;
    if (plain.inlined != NULL)
        plain.inlined[plain.depth] = replay->inlined_to = plain.open;
    return room - plain.room;
}

/* Fills `events` with the next ones that are shown before `before`; returns their number, at most
 * `room`. 0: none, see replay_place. */
size_t replay_read(struct replay *replay, struct replay_event *events, size_t room,
                   struct nanoseconds before);

/* False at the end. */
static inline bool replay_next(struct replay *replay, struct replay_event *event)
{
    return replay_read(replay, event, 1, (struct nanoseconds){UINT64_MAX}) == 1;
}

/* No further event is shown before `place`. False at the end. */
bool replay_place(struct replay *replay, struct nanoseconds *place);

#endif
