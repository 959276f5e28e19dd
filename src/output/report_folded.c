#include "output/report_folded.h"

#include "base/arena.h"
#include "base/array.h"
#include "output/report_events.h"

#include <inttypes.h>
#include <string.h>
#include <uthash.h>

/* A distinct stack: its innermost function, called from the stack `caller`. A thread is a stack
 * without function. */
struct stack_node {
    struct stack_key {
        struct stack_node *caller; /* NULL: this is a thread */
        /* A struct span_function; of a thread, its struct span_track. */
        const void *what;
    } key;
    uint64_t self; /* ns */
    /* The child asked for last, nearly always the next one too; or NULL. */
    struct stack_node *last_child;
    UT_hash_handle hh;
};

struct folded_track {
    struct stack_node *current; /* NULL: no event yet */
    uint64_t since;             /* ns: the time up to which current's self is counted */
};

struct folded {
    struct arena arena;
    struct stack_node *nodes;
    struct array tracks; /* of struct folded_track */
};

static struct stack_node *find_child(struct folded *folded, struct stack_node *caller,
                                     const void *what)
{
    if (caller && caller->last_child && caller->last_child->key.what == what)
        return caller->last_child;
    struct stack_key key = {caller, what};
    struct stack_node *node;
    HASH_FIND(hh, folded->nodes, &key, sizeof key, node);
    if (!node) {
        node = arena_allocate(&folded->arena, sizeof *node);
        *node = (struct stack_node){.key = key};
        HASH_ADD(hh, folded->nodes, key, sizeof node->key, node);
    }
    if (caller)
        caller->last_child = node;
    return node;
}

static void read_event(struct folded *folded, const struct span_source *source,
                       const struct span_event *event)
{
    while (folded->tracks.count <= event->track)
        array_add(&folded->tracks);
    struct folded_track *track = array_at(&folded->tracks, event->track);
    if (!track->current)
        track->current = find_child(folded, NULL, &source->tracks[event->track]);
    else
        track->current->self += event->time.value - track->since;
    track->since = event->time.value;
    if (event->kind == SPAN_ENTER)
        track->current = find_child(folded, track->current, event->function);
    else if (event->kind == SPAN_LEAVE && track->current->key.caller)
        track->current = track->current->key.caller;
}

static void print_frame_name(const char *name, FILE *stream)
{
    for (; *name; name++)
        fputc(*name == ';' ? ':' : *name == '\n' || *name == '\r' ? ' ' : *name, stream);
}

static void print_stack(const struct stack_node *node, struct array *path, FILE *stream)
{
    path->count = 0;
    for (const struct stack_node *n = node; n; n = n->key.caller)
        array_add_all(path, &n, 1);
    const struct stack_node *thread = *(struct stack_node **)array_at(path, path->count - 1);
    const struct span_track *track = thread->key.what;
    print_frame_name(track->thread_name, stream);
    fprintf(stream, "-%" PRIu32, track->tid);
    for (size_t i = path->count - 1; i-- > 0;) {
        const struct span_function *function = (*(struct stack_node **)array_at(path, i))->key.what;
        fputc(';', stream);
        print_frame_name(function->name, stream);
    }
    fprintf(stream, " %" PRIu64 "\n", node->self);
}

bool report_folded(struct span_source *source, FILE *stream, struct error *error)
{
    struct folded folded = {.tracks = array_of(sizeof(struct folded_track))};
    struct report_events events;
    report_events_init(&events, source);
    struct span_event event;
    while (report_events_next(&events, &event))
        if (!report_events_is_hit(&events, &event))
            read_event(&folded, source, &event);

    struct array path = array_of(sizeof(struct stack_node *));
    for (const struct stack_node *node = folded.nodes; node; node = node->hh.next)
        if (node->key.caller && node->self > 0)
            print_stack(node, &path, stream);
    array_free(&path);
    HASH_CLEAR(hh, folded.nodes);
    array_free(&folded.tracks);
    arena_free(&folded.arena);
    return report_events_finish(&events, stream, error);
}
