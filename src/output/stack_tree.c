#include "output/stack_tree.h"

struct stack_track {
    struct stack_node *current; /* NULL: no event yet */
    uint64_t since;             /* ns: the time up to which current's self is counted */
};

void stack_tree_init(struct stack_tree *tree)
{
    *tree = (struct stack_tree){.tracks = array_of(sizeof(struct stack_track))};
}

void stack_tree_free(struct stack_tree *tree)
{
    HASH_CLEAR(hh, tree->nodes);
    array_free(&tree->tracks);
    arena_free(&tree->arena);
}

static struct stack_node *find_child(struct stack_tree *tree, struct stack_node *caller,
                                     const void *what)
{
    if (caller && caller->last_child && caller->last_child->key.what == what)
        return caller->last_child;
    struct stack_key key = {caller, what};
    struct stack_node *node;
    HASH_FIND(hh, tree->nodes, &key, sizeof key, node);
    if (!node) {
        node = arena_allocate(&tree->arena, sizeof *node);
        *node = (struct stack_node){.key = key};
        HASH_ADD(hh, tree->nodes, key, sizeof node->key, node);
    }
    if (caller)
        caller->last_child = node;
    return node;
}

void stack_tree_read(struct stack_tree *tree, const struct span_source *source,
                     const struct span_event *event)
{
    while (tree->tracks.count <= event->track)
        array_add(&tree->tracks);
    struct stack_track *track = array_at(&tree->tracks, event->track);
    if (!track->current)
        track->current = find_child(tree, NULL, &source->tracks[event->track]);
    else
        track->current->self += event->time.value - track->since;
    track->since = event->time.value;
    if (event->kind == SPAN_ENTER) {
        track->current = find_child(tree, track->current, event->function);
        track->current->calls++;
    } else if (event->kind == SPAN_LEAVE && track->current->key.caller) {
        track->current = track->current->key.caller;
    }
}
