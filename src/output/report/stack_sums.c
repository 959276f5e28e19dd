#include "output/report/stack_sums.h"

struct stack_track {
    struct summed_stack *current; /* NULL: no event yet */
    uint64_t since;               /* ns: the time up to which current's self is counted */
};

void stack_sums_init(struct stack_sums *sums)
{
    *sums = (struct stack_sums){.tracks = array_of(sizeof(struct stack_track))};
}

void stack_sums_free(struct stack_sums *sums)
{
    HASH_CLEAR(hh, sums->nodes);
    array_free(&sums->tracks);
    arena_free(&sums->arena);
}

static void note_depth(struct summed_stack *node)
{
    const struct summed_stack *caller = node->key.caller;
    if (!caller)
        return;
    node->depth = caller->depth + 1;
    node->outer = node->depth == STACK_OUTER_FRAMES ? node : caller->outer;
}

static struct summed_stack *find_child(struct stack_sums *sums, struct summed_stack *caller,
                                       const void *what)
{
    if (caller && caller->last_child && caller->last_child->key.what == what)
        return caller->last_child;
    struct stack_key key = {caller, what};
    struct summed_stack *node;
    HASH_FIND(hh, sums->nodes, &key, sizeof key, node);
    if (!node) {
        node = arena_allocate(&sums->arena, sizeof *node);
        *node = (struct summed_stack){.key = key};
        note_depth(node);
        HASH_ADD(hh, sums->nodes, key, sizeof node->key, node);
    }
    if (caller)
        caller->last_child = node;
    return node;
}

void stack_sums_read(struct stack_sums *sums, const struct span_source *source,
                     const struct span_event *event)
{
    while (sums->tracks.count <= event->track)
        array_add(&sums->tracks);
    struct stack_track *track = array_at(&sums->tracks, event->track);
    if (!track->current)
        track->current = find_child(sums, NULL, &source->tracks[event->track]);
    else
        track->current->self += event->time.value - track->since;
    track->since = event->time.value;
    if (event->kind == SPAN_ENTER) {
        track->current = find_child(sums, track->current, event->function);
        track->current->calls++;
    } else if (event->kind == SPAN_LEAVE && track->current->key.caller) {
        track->current = track->current->key.caller;
    }
}
