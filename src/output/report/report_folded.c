#include "output/report/report_folded.h"

#include "base/array.h"
#include "output/report/report_events.h"
#include "output/report/stack_sums.h"

#include <inttypes.h>

static void print_frame_name(const char *name, FILE *stream)
{
    for (; *name; name++)
        fputc(*name == ';' ? ':' : *name == '\n' || *name == '\r' ? ' ' : *name, stream);
}

/* `path` has room for the frames, outermost first; NULL represents omitted frames. */
static void print_stack(const struct summed_stack *node, struct array *path, FILE *stream)
{
    const struct summed_stack *stack = node;
    bool left_out;
    path->count = 0;
    while (stack->key.caller) {
        array_add_all(path, &stack->key.what, 1);
        stack = stack_sums_caller(node, stack, &left_out);
        if (left_out)
            array_add(path);
    }
    const struct span_track *track = stack->key.what;
    print_frame_name(track->thread_name, stream);
    fprintf(stream, "-%" PRIu32, track->tid);
    for (size_t i = path->count; i-- > 0;) {
        const struct span_function *function = *(const void **)array_at(path, i);
        fputc(';', stream);
        print_frame_name(function ? function->name : STACK_LEFT_OUT, stream);
    }
    fprintf(stream, " %" PRIu64 "\n", node->self);
}

bool report_folded(struct span_source *source, FILE *stream, struct error *error)
{
    struct stack_sums sums;
    stack_sums_init(&sums);
    struct report_events events;
    report_events_init(&events, source);
    struct span_event event;
    while (report_events_next(&events, &event))
        if (!report_events_is_hit(&events, &event))
            stack_sums_read(&sums, source, &event);

    struct array path = array_of(sizeof(const void *));
    for (const struct summed_stack *node = sums.nodes; node; node = node->hh.next)
        if (node->key.caller && node->self > 0)
            print_stack(node, &path, stream);
    array_free(&path);
    stack_sums_free(&sums);
    return report_events_finish(&events, stream, error);
}
