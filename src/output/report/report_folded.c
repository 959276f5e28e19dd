#include "output/report/report_folded.h"

#include "base/array.h"
#include "base/memory.h"
#include "output/json_quoted.h"
#include "output/report/json_report.h"
#include "output/report/report_events.h"
#include "output/report/stack_sums.h"
#include "stack/spans/off_cpu_spans.h"

#include <inttypes.h>
#include <stdlib.h>

static void print_frame_name(const char *name, FILE *stream)
{
    for (; *name; name++)
        fputc(*name == ';' ? ':' : *name == '\n' || *name == '\r' ? ' ' : *name, stream);
}

/* The frames of a stack into `path`, innermost first; NULL represents omitted frames. Gives the
 * thread. */
static const struct span_track *find_path(const struct summed_stack *node, struct array *path)
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
    return stack->key.what;
}

static void print_stack(const struct summed_stack *node, struct array *path, FILE *stream)
{
    const struct span_track *track = find_path(node, path);
    print_frame_name(track->thread_name, stream);
    fprintf(stream, "-%" PRIu32, track->tid);
    for (size_t i = path->count; i-- > 0;) {
        const struct span_function *function = *(const void **)array_at(path, i);
        fputc(';', stream);
        print_frame_name(function ? function->name : STACK_LEFT_OUT, stream);
    }
    fprintf(stream, " %" PRIu64 "\n", node->self);
}

/* Frames from the outermost on. */
static char *json_of_frames(const struct array *path)
{
    char *frames = NULL;
    size_t size;
    FILE *stream = open_memstream(&frames, &size);
    if (!stream)
        return memory_copy_string("[]");
    fputc('[', stream);
    for (size_t i = path->count; i-- > 0;) {
        const struct span_function *function = *(const void **)array_at(path, i);
        char *name = json_quoted(function ? function->name : STACK_LEFT_OUT);
        fprintf(stream, "%s%s", i + 1 < path->count ? ", " : "", name);
        free(name);
    }
    fputc(']', stream);
    fclose(stream);
    return frames;
}

static char *json_of_stack(const struct summed_stack *node, bool sampled, struct array *path)
{
    const struct span_track *track = find_path(node, path);
    char *thread = json_member("thread", track->thread_name);
    char *frames = json_of_frames(path);
    char *item = memory_format(
        "{%s, \"tid\": %" PRIu32 ", \"self\": %" PRIu64 ", \"%s\": %" PRIu64 ", \"stack\": %s}",
        thread, track->tid, node->self, json_name_of_calls(sampled), node->calls, frames);
    free(thread);
    free(frames);
    return item;
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
    struct array path = array_of(sizeof(const void *));
    for (const struct summed_stack *node = sums.nodes; node; node = node->hh.next)
        if (is_shown(node, wall))
            print_stack(node, &path, stream);
    array_free(&path);
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
    struct array path = array_of(sizeof(const void *));
    json_report_begin(&report, stream,
                      source->sampled ? "\"report\": \"stacks\", \"sampled\": true"
                                      : "\"report\": \"stacks\", \"sampled\": false",
                      "stacks", max_bytes);
    for (const struct summed_stack *node = sums.nodes; node; node = node->hh.next)
        if (is_shown(node, wall))
            json_report_add(&report, json_of_stack(node, source->sampled, &path), node->self);
    json_report_end(&report);
    array_free(&path);
    stack_sums_free(&sums);
    return report_events_finish(&events, stream, error);
}
