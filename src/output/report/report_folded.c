#include "output/report/report_folded.h"

#include "base/array.h"
#include "output/report/folded_stack.h"
#include "output/report/report_events.h"
#include "output/report/stack_sums.h"
#include "stack/spans/off_cpu_spans.h"

/* `frames`: room for the names. */
static struct folded_stack folded(const struct summed_stack *node, struct array *frames)
{
    const struct summed_stack *stack = node;
    bool left_out;
    frames->count = 0;
    while (stack->key.caller) {
        const struct span_function *function = stack->key.what;
        array_add_all(frames, &function->name, 1);
        stack = stack_sums_caller(node, stack, &left_out);
        if (left_out)
            *(const char **)array_add(frames) = NULL;
    }
    const struct span_track *track = stack->key.what;
    return (struct folded_stack){track->thread_name, track->tid, frames, node->self, node->calls};
}

static void read_stacks(struct stack_sums *sums, struct report_events *events,
                        struct span_source *source)
{
    stack_sums_init(sums);
    report_events_init(events, source);
    struct span_event event;
    while (report_events_next(events, &event))
        if (!report_events_is_hit(events, &event))
            stack_sums_read(sums, source, &event);
}

/* A thread is no stack. */
static bool is_shown(const struct summed_stack *node, bool wall)
{
    return node->key.caller && node->self > 0 && (wall || !span_is_off_cpu(node->key.what));
}

bool report_folded(struct span_source *source, bool wall, FILE *stream, struct error *error)
{
    struct stack_sums sums;
    struct report_events events;
    read_stacks(&sums, &events, source);
    struct array frames = array_of(sizeof(const char *));
    for (const struct summed_stack *node = sums.nodes; node; node = node->hh.next)
        if (is_shown(node, wall)) {
            const struct folded_stack stack = folded(node, &frames);
            folded_stack_print(&stack, stream);
        }
    array_free(&frames);
    stack_sums_free(&sums);
    return report_events_finish(&events, stream, error);
}

bool report_stacks_json(struct span_source *source, bool wall, size_t max_bytes, FILE *stream,
                        struct error *error)
{
    struct stack_sums sums;
    struct report_events events;
    struct json_report report;
    read_stacks(&sums, &events, source);
    struct array frames = array_of(sizeof(const char *));
    folded_stacks_json_begin(&report, stream, source->sampled, max_bytes);
    for (const struct summed_stack *node = sums.nodes; node; node = node->hh.next)
        if (is_shown(node, wall)) {
            const struct folded_stack stack = folded(node, &frames);
            json_report_add(&report, folded_stack_json(&stack, source->sampled), node->self);
        }
    json_report_end(&report);
    array_free(&frames);
    stack_sums_free(&sums);
    return report_events_finish(&events, stream, error);
}
