#include "stack/spans/replay.h"

#include "base/memory.h"
#include "stack/recorded_values.h"

#include <stdlib.h>

void replay_init(struct replay *replay, const struct thread_stack *stack)
{
    replay_init_with_clock(replay, stack, (struct history_clock){0});
}

void replay_init_with_clock(struct replay *replay, const struct thread_stack *stack,
                            struct history_clock clock)
{
    *replay = (struct replay){
        .stack = stack,
        .disambiguation = disambiguation_of(&stack->history, stack->inlined.moves, clock),
        .to_enter = array_of(sizeof(frame_id)),
        .values = array_of(sizeof(struct values_of_frame)),
    };
    if (stack->inlined.calls != NULL)
        replay_grow_inlined(replay, 0);
}

void replay_free(struct replay *replay)
{
    array_free(&replay->to_enter);
    array_free(&replay->values);
    free(replay->inlined);
}

void replay_grow_inlined(struct replay *replay, size_t depth)
{
    if (depth < replay->inlined_capacity)
        return;
    uint32_t capacity = (uint32_t)(depth + depth / 2 + 64);
    replay->inlined = memory_resize(replay->inlined, capacity * sizeof *replay->inlined);
    if (replay->inlined_capacity == 0)
        replay->inlined[0] = INLINED_NONE;
    replay->inlined_capacity = capacity;
}

static const struct frame *frame_at(const struct replay *replay, frame_id id)
{
    return frame_tree_at(&replay->stack->tree, id);
}

static frame_id parent_of(const struct replay *replay, frame_id id)
{
    return frame_tree_parent(&replay->stack->tree, id);
}

static frame_id find_placeholder(const struct replay *replay)
{
    frame_id id = replay->leaf;
    while (frame_at(replay, id)->kind != FRAME_PLACEHOLDER)
        id = parent_of(replay, id);
    return id;
}

/* The segment that begins next; NULL after the last. */
static const struct segment *next_segment(const struct replay *replay)
{
    const struct array *segments = &replay->stack->segments;
    return replay->segment < segments->count ? array_at(segments, replay->segment) : NULL;
}

static uint32_t depth_of(const struct replay *replay, frame_id id)
{
    uint32_t depth = 0;
    for (; frame_at(replay, id)->kind != FRAME_PLACEHOLDER; id = parent_of(replay, id))
        depth++;
    return depth;
}

static frame_id placeholder_of(const struct replay *replay, frame_id leaf)
{
    while (frame_at(replay, leaf)->kind != FRAME_PLACEHOLDER)
        leaf = parent_of(replay, leaf);
    return leaf;
}

static int compare_placeholders(const void *key, const void *element)
{
    frame_id placeholder = *(const frame_id *)key;
    const struct shared_stack *shared = element;
    return placeholder < shared->placeholder ? -1 : placeholder > shared->placeholder;
}

/* The number of a stack that other threads ran, too; 0: one thread ran it. */
static uint32_t shared_number(const struct replay *replay, frame_id placeholder)
{
    const struct array *all = &replay->stack->shared;
    const struct shared_stack *shared = all->count == 0
                                            ? NULL
                                            : bsearch(&placeholder, all->elements, all->count,
                                                      all->element_size, compare_placeholders);
    return shared ? shared->number : 0;
}

/* The number by which a stack is recognized each time that it runs. */
static uint32_t stack_of(const struct replay *replay, frame_id leaf)
{
    frame_id placeholder = placeholder_of(replay, leaf);
    uint32_t shared = shared_number(replay, placeholder);
    return shared ? shared : placeholder;
}

static void plan_leave(struct replay *replay, frame_id to, enum span_end end)
{
    bool all = end == SPAN_END_SWITCH && to != replay->leaf &&
               frame_at(replay, to)->kind == FRAME_PLACEHOLDER;
    replay->leave_to = to;
    replay->end = end;
    replay->suspended = all ? stack_of(replay, to) : 0;
    replay->resumed = 0;
}

static void plan_enter(struct replay *replay, frame_id frame, bool seen)
{
    *(frame_id *)array_add(&replay->to_enter) = frame;
    replay->innermost_seen = seen;
}

/* Plans to enter all frames from `leaf` out to `open`, which is open already, or out to the root.
 */
static void plan_chain(struct replay *replay, frame_id leaf, frame_id open, bool seen)
{
    for (frame_id id = leaf; id != open && frame_at(replay, id)->kind != FRAME_PLACEHOLDER;
         id = parent_of(replay, id))
        plan_enter(replay, id, seen);
}

static void plan_begin(struct replay *replay, frame_id leaf, bool seen)
{
    const struct segment *segment = next_segment(replay);
    frame_id kept = segment->kept_as;
    replay->segment++;
    replay->resumed = 0;
    if (kept != FRAME_NONE)
        replay->leaf = replay->leave_to = kept;
    else if (segment->start == SEGMENT_SWITCH)
        replay->resumed = stack_of(replay, leaf);
    else
        replay->resumed = shared_number(replay, placeholder_of(replay, leaf));
    plan_chain(replay, leaf, kept, seen);
}

/* The segment ends: plans to leave the frames that do not stay open in the next one. */
static void plan_end(struct replay *replay, enum span_end end)
{
    const struct segment *next = next_segment(replay);
    bool kept = next != NULL && next->kept != FRAME_NONE;
    plan_leave(replay, kept ? next->kept : find_placeholder(replay), end);
    if (end == SPAN_END_GAP && kept && depth_of(replay, next->kept) > replay->across_gap)
        replay->across_gap = depth_of(replay, next->kept);
}

/* The stack was suspended, and a new segment or a stack that was suspended earlier continues next.
 */
static void plan_switch(struct replay *replay)
{
    const struct history_step *following = disambiguation_peek(&replay->disambiguation);
    const struct segment *next = next_segment(replay);
    if (following != NULL && following->kind == HISTORY_RESUME)
        plan_leave(replay, find_placeholder(replay), SPAN_END_SWITCH);
    else if (next != NULL && next->start == SEGMENT_NEW && next->kept != FRAME_NONE)
        plan_end(replay, SPAN_END_TAIL_CALL); /* there was no switch: see stack_switch.h */
    else if (next != NULL && next->start == SEGMENT_ASSUMED && next->kept != FRAME_NONE)
        plan_end(replay, SPAN_END_RETURN); /* nor here: see sigreturn_switch.h */
    else
        plan_end(replay, SPAN_END_SWITCH);
}

/* Another stack continues: plans to leave all of this one and to enter all of that one. */
static void plan_resume(struct replay *replay, frame_id leaf)
{
    plan_leave(replay, find_placeholder(replay), SPAN_END_SWITCH);
    plan_chain(replay, leaf, FRAME_NONE, false);
    replay->resumed = stack_of(replay, leaf);
}

/* The frame begins on top of the leaf or of a frame further out, or on a stack of its own. */
static void plan_movable(struct replay *replay, frame_id frame)
{
    frame_id parent = parent_of(replay, frame), placeholder = find_placeholder(replay);
    if (frame_at(replay, parent)->kind == FRAME_PLACEHOLDER && parent != placeholder)
        plan_leave(replay, placeholder, SPAN_END_SWITCH);
    else
        plan_leave(replay, parent, SPAN_END_UNWOUND);
    plan_enter(replay, frame, true);
}

static bool is_long(const struct gap *gap)
{
    return gap->end.value > gap->begin.value;
}

static bool begin_gap(struct replay *replay, uint32_t index, struct replay_event *event)
{
    const struct gap *gap = array_at(&replay->stack->gaps, index);
    replay->gap = is_long(gap) ? gap : NULL;
    *event = (struct replay_event){
        .kind = SPAN_INSTANT, .time = replay->time, .place = replay->place, .gap = gap};
    return true;
}

static void enter_gap(struct replay *replay, struct replay_event *event)
{
    *event = (struct replay_event){
        .kind = SPAN_ENTER, .time = replay->time, .place = replay->place, .gap = replay->gap};
    replay->gap = NULL;
}

static bool leave_gap(struct replay *replay, uint32_t index, struct replay_event *event)
{
    const struct gap *gap = array_at(&replay->stack->gaps, index);
    *event = (struct replay_event){
        .kind = SPAN_LEAVE, .time = replay->time, .place = replay->place, .gap = gap};
    return is_long(gap);
}

/* The group at `index` belongs to the leaf. */
static void note_values(struct replay *replay, uint32_t index)
{
    if (replay->depth == 0)
        return;
    if (replay->values_depth != replay->depth)
        *(struct values_of_frame *)array_add(&replay->values) =
            (struct values_of_frame){.depth = replay->depth};
    struct values_of_frame *values = array_at(&replay->values, replay->values.count - 1);
    replay->values_depth = replay->depth;
    if (recorded_values_are_result(replay->stack, index))
        values->result = index + 1;
    else
        values->arguments = index + 1;
}

/* The leaf is left. */
static void take_values(struct replay *replay, struct replay_event *event)
{
    const struct values_of_frame *values = array_at(&replay->values, replay->values.count - 1);
    event->arguments = values->arguments;
    event->result = values->result;
    replay->values.count--;
    replay->values_depth = replay->values.count > 0 ? values[-1].depth : 0;
}

/* Plans the effect of the step on the stack. True if the step is itself an event, which is then
 * filled in.
 */
static bool take_step(struct replay *replay, const struct history_step *step,
                      struct replay_event *event)
{
    switch (step->kind) {
    case HISTORY_BEGIN:
    case HISTORY_BEGIN_SEEN:
        plan_begin(replay, step->frame, step->kind == HISTORY_BEGIN_SEEN);
        return false;
    case HISTORY_ENTER_MOVABLE:
        plan_movable(replay, step->frame);
        return false;
    case HISTORY_UNWIND:
        plan_leave(replay, step->frame, SPAN_END_UNWOUND);
        return false;
    case HISTORY_REPLACE:
        plan_leave(replay, parent_of(replay, replay->leaf), SPAN_END_TAIL_CALL);
        plan_enter(replay, step->frame, true);
        return false;
    case HISTORY_END_GAP:
        plan_end(replay, SPAN_END_GAP);
        return false;
    case HISTORY_END_UNWIND:
        plan_end(replay, SPAN_END_UNWOUND);
        return false;
    case HISTORY_END_SWITCH:
        plan_switch(replay);
        return false;
    case HISTORY_RESUME:
        plan_resume(replay, step->frame);
        return false;
    case HISTORY_END_EXEC:
        plan_leave(replay, find_placeholder(replay), SPAN_END_EXEC);
        return false;
    case HISTORY_END_TRACE:
        plan_leave(replay, find_placeholder(replay), SPAN_END_OF_TRACE);
        return false;
    case HISTORY_GAP:
        return begin_gap(replay, step->frame, event);
    case HISTORY_GAP_END:
        return leave_gap(replay, step->frame, event);
    case HISTORY_CALL_VALUES:
        note_values(replay, step->frame);
        return false;
    case HISTORY_DEATH:
        *event = (struct replay_event){.kind = SPAN_INSTANT,
                                       .time = replay->time,
                                       .place = replay->place,
                                       .death = replay->stack->death};
        return true;
    case HISTORY_ENTER:
        plan_enter(replay, step->frame, true);
        return false;
    case HISTORY_RETURN:
        plan_leave(replay, step->frame, SPAN_END_RETURN);
        return false;
    case HISTORY_INLINED_MOVE:
        if (replay->inlined != NULL)
            replay->inlined_to = inlined_moves_at(replay->stack->inlined.moves, step->frame)->to;
        replay->inlined_before = false;
        return false;
    case HISTORY_INLINED:
    case HISTORY_INLINED_BEFORE:
    case HISTORY_INLINED_END:
        replay->inlined_to = replay->inlined != NULL ? step->frame : (inlined_id)INLINED_NONE;
        replay->inlined_before = step->kind == HISTORY_INLINED_BEFORE;
        return false;
    case HISTORY_PAUSE:
    case HISTORY_KIND_COUNT:
        return false;
    }
    return false;
}

/* Events are filled in field by field. Copying a finished structure costs several times as much,
 * because the reads do not match the sizes of the writes before them. */
static inline void make_event(void *context, const struct placed_step *step,
                              enum span_event_kind kind, function_id function, uint64_t address,
                              enum span_end end)
{
    struct replay_event **next = context, *event = (*next)++;
    event->kind = kind;
    event->time = step->step.time;
    event->place = step->place;
    event->function = function;
    event->address = address;
    event->flags = 0;
    event->end = end;
    event->stack = 0;
    event->gap = NULL;
    event->arguments = event->result = 0;
    event->death = NULL;
}

/* Function by function, by a plan. */
static inline size_t make_move(void *context, const struct placed_step *step, inlined_id *open,
                               size_t room)
{
    (void)context;
    (void)step;
    (void)open;
    (void)room;
    return 0;
}

static const struct inlined *inlined_at(const struct replay *replay, inlined_id inlined)
{
    return inlined_table_at(replay->stack->inlined.calls, inlined);
}

/* Whether `outer` is `inlined`, or contains it. */
static bool is_inside(const struct replay *replay, inlined_id inlined, inlined_id outer)
{
    uint32_t depth = inlined_at(replay, outer)->depth;
    while (inlined_at(replay, inlined)->depth > depth)
        inlined = inlined_at(replay, inlined)->outer;
    return inlined == outer;
}

static void leave_function(struct replay *replay, function_id function, struct replay_event *event)
{
    bool inferred = replay->end == SPAN_END_GAP || replay->end == SPAN_END_OF_TRACE;
    *event = (struct replay_event){
        .kind = SPAN_LEAVE,
        .time = replay->time,
        .place = replay->place,
        .function = function,
        .flags = inferred ? SPAN_END_INFERRED : 0,
        .end = replay->end,
        .stack = replay->suspended,
    };
    replay->suspended = 0;
}

/* The innermost inlined function of the leaf ends. */
static void leave_inlined(struct replay *replay, struct replay_event *event)
{
    inlined_id *open = &replay->inlined[replay->depth];
    const struct inlined *left = inlined_at(replay, *open);
    leave_function(replay, left->function, event);
    *open = left->outer;
}

/* The next one on the way to `inlined_to`, inside of those that are open, begins. */
static void enter_inlined(struct replay *replay, struct replay_event *event)
{
    inlined_id *open = &replay->inlined[replay->depth];
    inlined_id next = replay->inlined_to, outer;
    while ((outer = inlined_at(replay, next)->outer) != *open)
        next = outer;
    *event = (struct replay_event){
        .kind = SPAN_ENTER,
        .time = replay->time,
        .place = replay->place,
        .function = inlined_at(replay, next)->function,
        .flags = replay->inlined_before ? SPAN_START_INFERRED : 0,
    };
    *open = next;
}

/* Control stays in the leaf. */
static void move_inlined(struct replay *replay, struct replay_event *event)
{
    const inlined_id *open = &replay->inlined[replay->depth];
    if (is_inside(replay, replay->inlined_to, *open)) {
        enter_inlined(replay, event);
    } else {
        replay->end = SPAN_END_RETURN;
        leave_inlined(replay, event);
    }
    /* All that end are one step, each that begins is another. */
    if (replay->splits && *open != replay->inlined_to &&
        is_inside(replay, replay->inlined_to, *open))
        replay->place.value++;
}

/* The inlined function in which the leaf calls `frame`. */
static inlined_id inlined_at_call(const struct replay *replay, frame_id frame)
{
    const struct frame_tree *tree = &replay->stack->tree;
    enum frame_kind kind = frame_at(replay, frame)->kind;
    uint64_t address = frame_tree_return_address(tree, frame);
    inlined_id inlined = replay->inlined[replay->depth];
    if (address == 0 || frame_at(replay, replay->leaf)->kind == FRAME_PLACEHOLDER)
        return inlined;
    if (kind != FRAME_SIGNAL && kind != FRAME_INTERRUPT)
        address--; /* in the call */
    replay->stack->inlined.find(replay->stack->inlined.context,
                                frame_at(replay, replay->leaf)->function,
                                frame_tree_start(tree, replay->leaf), address, &inlined);
    return inlined;
}

/* Plans what is inlined where the next frame that is planned to be entered is called. */
static void plan_call(struct replay *replay)
{
    frame_id next = *(frame_id *)array_at(&replay->to_enter, replay->to_enter.count - 1);
    replay->inlined_to = inlined_at_call(replay, next);
    replay->inlined_before = true;
}

static void leave_leaf(struct replay *replay, struct replay_event *event)
{
    leave_function(replay, frame_at(replay, replay->leaf)->function, event);
    if (replay->depth == replay->values_depth)
        take_values(replay, event);
    if (replay->depth == replay->across_gap) {
        event->flags |= SPAN_ACROSS_GAP;
        replay->across_gap--;
    }
    replay->depth--;
    replay->leaf = parent_of(replay, replay->leaf);
    if (replay->inlined != NULL)
        replay->inlined_to = replay->inlined[replay->depth];
}

static void enter_next(struct replay *replay, struct replay_event *event)
{
    size_t index = --replay->to_enter.count;
    frame_id id = *(frame_id *)array_at(&replay->to_enter, index);
    bool seen = index == 0 && replay->innermost_seen;
    *event = (struct replay_event){
        .kind = SPAN_ENTER,
        .time = replay->time,
        .place = replay->place,
        .function = frame_at(replay, id)->function,
        .address = frame_tree_start(&replay->stack->tree, id),
        .flags = seen ? 0 : SPAN_START_INFERRED,
        .stack = replay->resumed,
    };
    replay->resumed = 0;
    replay->depth++;
    replay->leaf = replay->leave_to = id;
    if (replay->inlined == NULL)
        return;
    replay_grow_inlined(replay, replay->depth);
    replay->inlined[replay->depth] = replay->inlined_to = INLINED_NONE;
}

/* Makes the next planned event. */
static void do_planned(struct replay *replay, struct replay_event *event)
{
    bool leaves = replay->leaf != replay->leave_to;
    if (replay->inlined != NULL) {
        inlined_id open = replay->inlined[replay->depth];
        if (leaves && open != INLINED_NONE) {
            leave_inlined(replay, event);
            return;
        }
        if (!leaves && replay->to_enter.count > 0)
            plan_call(replay);
        if (!leaves && open != replay->inlined_to) {
            move_inlined(replay, event);
            return;
        }
    }
    if (leaves)
        leave_leaf(replay, event);
    else if (replay->to_enter.count > 0)
        enter_next(replay, event);
    else
        enter_gap(replay, event);
}

/* The next event; the step may need a plan first. False if the next one is not before `before`. */
static bool take_event(struct replay *replay, struct replay_event *event, struct nanoseconds before)
{
    while (!replay_is_planned(replay)) {
        const struct placed_step *step = disambiguation_look(&replay->disambiguation);
        if (step == NULL || step->place.value >= before.value)
            return false;
        disambiguation_skip(&replay->disambiguation);
        replay->time = step->step.time;
        replay->place = step->place;
        replay->splits = step->step.kind == HISTORY_INLINED_MOVE &&
                         disambiguation_splits(&replay->disambiguation, step->time);
        if (take_step(replay, &step->step, event))
            return true;
    }
    if (replay->place.value >= before.value)
        return false;
    do_planned(replay, event);
    return true;
}

size_t replay_read(struct replay *replay, struct replay_event *events, size_t room,
                   struct nanoseconds before)
{
    static const struct replay_makes makes = {make_event, make_move};
    size_t count = 0;
    while (count < room) {
        struct replay_event *next = events + count;
        count += replay_take_plain_steps(replay, room - count, before, &makes, &next);
        if (count == room || !take_event(replay, &events[count], before))
            break;
        count++;
    }
    return count;
}

bool replay_place(struct replay *replay, struct nanoseconds *place)
{
    const struct placed_step *step = NULL;
    bool planned = replay_is_planned(replay);
    if (!planned)
        step = disambiguation_look(&replay->disambiguation);
    if (!planned && step == NULL)
        return false;
    *place = planned ? replay->place : step->place;
    return true;
}
