#include "truth_alignment.h"

static bool step(struct truth_alignment *alignment)
{
    alignment->in_system_call = false;
    return truth_walk_next(&alignment->walk);
}

static bool is_step_of(const struct flow_event *event, const struct truth_step *step)
{
    if (step->to != event->to || step->waiting)
        return false;
    return step->from == event->from || event->kind == FLOW_RESUME ||
           (event->kind == FLOW_JUMP && step->from == 0);
}

static bool follow_branch(struct truth_alignment *alignment, const struct flow_event *event)
{
    do {
        if (!step(alignment))
            return false;
    } while (!is_step_of(event, &alignment->walk.step));
    return true;
}

static bool follow_system_call(struct truth_alignment *alignment, const struct flow_event *event)
{
    while (alignment->in_system_call || !alignment->walk.block ||
           alignment->walk.block->last != event->from)
        if (!step(alignment))
            return false;
    alignment->in_system_call = true;
    return true;
}

/* A signal that ends the process leaves no trace in the log: the program was in the last block. */
static bool follow_death(struct truth_alignment *alignment, const struct flow_event *event)
{
    while (step(alignment))
        ;
    const struct truth_block *block = alignment->walk.block;
    return block && event->from >= block->pc && event->from < block->end;
}

static bool follow_pause(struct truth_alignment *alignment, const struct flow_event *event)
{
    while (!truth_walk_goes_to(&alignment->walk, event->from))
        if (!step(alignment))
            return false;
    return true;
}

static bool follow_interrupt(struct truth_alignment *alignment, const struct flow_event *event)
{
    const struct truth_step *now = &alignment->walk.step;
    if (now->place && now->to == event->from)
        return true;
    if (truth_walk_will_pause(&alignment->walk, event->from))
        return follow_pause(alignment, event);
    if (!truth_walk_will_be_interrupted(&alignment->walk, event->from))
        return follow_death(alignment, event);
    do {
        if (!step(alignment))
            return false;
    } while (!now->place || now->to != event->from);
    return true;
}

bool truth_alignment_follow(struct truth_alignment *alignment, const struct flow_event *event)
{
    truth_walk_advance(&alignment->walk, event->time);
    switch ((enum flow_kind)event->kind) {
    case FLOW_SYSCALL:
        return follow_system_call(alignment, event);
    case FLOW_INTERRUPT:
        return follow_interrupt(alignment, event);
    default:
        return follow_branch(alignment, event);
    }
}

void truth_alignment_finish(struct truth_alignment *alignment)
{
    while (step(alignment))
        ;
}
