#include "analysis/stack_report.h"

#include "index/flame_graph.h"
#include "output/report/folded_stack.h"
#include "output/report/stack_sums.h"

#include <string.h>

struct stack_report {
    const struct trace_index *index;
    struct flame_request request;
    FILE *stream;
    struct json_report *json; /* NULL: text */
    struct array nodes;       /* of struct flame_node, of one thread */
    struct array frames;      /* of const char * */
};

static const struct flame_node *node_at(const struct stack_report *report, size_t number)
{
    return array_at(&report->nodes, number);
}

/* The names of a stack, innermost first. Of a very deep one those in the middle are left out, as of a whole trace. */
static void find_frames(struct stack_report *report, size_t number)
{
    struct array *frames = &report->frames;
    frames->count = 0;
    for (; number != 0; number = node_at(report, number)->parent) {
        const struct index_function function =
            trace_index_function(report->index, node_at(report, number)->group);
        array_add_all(frames, &function.name, 1);
    }
    if (frames->count <= STACK_OUTER_FRAMES + STACK_INNER_FRAMES)
        return;
    const char **names = frames->elements;
    names[STACK_INNER_FRAMES] = NULL;
    memmove(names + STACK_INNER_FRAMES + 1, names + frames->count - STACK_OUTER_FRAMES,
            STACK_OUTER_FRAMES * sizeof *names);
    frames->count = STACK_INNER_FRAMES + 1 + STACK_OUTER_FRAMES;
}

static void print_stack(struct stack_report *report, const struct index_track *track, size_t number)
{
    const struct flame_node *node = node_at(report, number);
    find_frames(report, number);
    const struct folded_stack stack = {track->thread, track->tid, &report->frames, node->self,
                                       node->calls};
    if (report->json)
        json_report_add(report->json,
                        folded_stack_json(&stack, trace_index_facts(report->index)->sampled),
                        node->self);
    else
        folded_stack_print(&stack, report->stream);
}

static bool print_thread(struct stack_report *report, uint32_t number, struct error *error)
{
    const struct index_track track = trace_index_track(report->index, number);
    if (track.is_hits)
        return true;
    report->nodes.count = 0;
    report->request.tracks = (struct index_tracks){&number, 1};
    if (!index_flame_graph(report->index, &report->request, &report->nodes, error))
        return false;
    for (size_t i = 1; i < report->nodes.count; i++)
        if (node_at(report, i)->self > 0)
            print_stack(report, &track, i);
    return true;
}

static bool print_threads(struct stack_report *report, struct index_tracks tracks,
                          struct error *error)
{
    bool ok = true;
    for (uint32_t i = 0; ok && i < trace_index_facts(report->index)->tracks; i++)
        if (index_tracks_contain(tracks, i))
            ok = print_thread(report, i, error);
    return ok;
}

bool stack_report_print(const struct trace_index *index, const struct trace_moments *moments,
                        bool wall, struct report_form_json json, FILE *stream, struct error *error)
{
    struct json_report items;
    struct stack_report report = {
        .index = index,
        .request = {.range = moments_time(index, moments), .on_cpu = !wall},
        .stream = stream,
        .json = json.is_json ? &items : NULL,
        .nodes = array_of(sizeof(struct flame_node)),
        .frames = array_of(sizeof(const char *)),
    };
    if (json.is_json)
        folded_stacks_json_begin(&items, stream, trace_index_facts(index)->sampled, json.max_bytes);
    bool ok = print_threads(&report, moments->tracks, error);
    if (json.is_json)
        json_report_end(&items);
    array_free(&report.nodes);
    array_free(&report.frames);
    return ok && report_end(index, stream, error);
}
