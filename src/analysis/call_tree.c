#include "analysis/call_tree.h"

#include "index/index_reader.h"
#include "index/marks.h"
#include "index/span_walk.h"
#include "output/report/tree_lines.h"

#include <errno.h>

struct call_tree {
    const struct trace_index *index;
    const struct trace_moments *moments;
    FILE *stream;
    struct json_report *json; /* NULL: text */
    struct array marks;       /* of struct index_mark, of all tracks, by time */
    bool printed;             /* a thread was */
};

/* One thread of it. */
struct thread_tree {
    struct call_tree *tree;
    uint32_t track;
    struct span_track thread;
    size_t next_mark;
    bool began;     /* a line was printed */
    bool first_met; /* the call with which the part begins; or there is none here */
    bool last_met;  /* the one with which it ends */
};

static void add_line(struct thread_tree *thread, const struct tree_line *line)
{
    struct call_tree *tree = thread->tree;
    if (tree->json) {
        tree_json_add(tree->json, line, &thread->thread, 0);
        return;
    }
    if (!thread->began)
        tree_print_thread(&thread->thread, !tree->printed, tree->index->facts.sampled,
                          tree->stream);
    thread->began = tree->printed = true;
    tree_print_line(line, 0, &(struct tree_repetition){.count = 1}, tree->stream);
}

/* ---- marks ---- */

/* The thread's marks before the call that `number` calls of the thread have begun before; NULL: all that
 * are left. */
static void add_marks(struct thread_tree *thread, const struct index_span *before, uint64_t number)
{
    const struct array *marks = &thread->tree->marks;
    for (; thread->next_mark < marks->count; thread->next_mark++) {
        const struct index_mark *mark = array_at(marks, thread->next_mark);
        if (mark->track != thread->track)
            continue;
        bool is_before = !before || mark->time < before->start ||
                         (mark->time == before->start && mark->spans <= number);
        if (!is_before)
            return;
        add_line(thread, &(struct tree_line){
                             .text = mark->text, .start = mark->time, .depth = mark->depth});
    }
}

/* ---- calls ---- */

static bool is_caller_of(const struct index_span *caller, const struct index_span *span)
{
    return caller->depth < span->depth && caller->start <= span->start && caller->end >= span->end;
}

static bool is_same(const struct index_span *a, const struct index_span *b)
{
    return a->start == b->start && a->end == b->end && a->depth == b->depth &&
           a->function == b->function;
}

/* Where the part begins with a call of this thread, calls before it are not part of it, except its callers. */
static bool is_part(struct thread_tree *thread, const struct index_span *span)
{
    const struct index_span *first = &thread->tree->moments->first_call.span;
    if (!thread->first_met)
        thread->first_met = is_same(span, first);
    return thread->first_met || is_caller_of(span, first);
}

/* Whether the part has ended, with a call of this thread, before this call. */
static bool is_past(struct thread_tree *thread, const struct index_span *span)
{
    const struct trace_moments *moments = thread->tree->moments;
    const struct call_place *last = &moments->last_call;
    if (!moments->ends_with_call || last->track != thread->track)
        return false;
    if (thread->last_met)
        return span->depth <= last->span.depth;
    thread->last_met = is_same(span, &last->span);
    return false;
}

static void add_call(struct thread_tree *thread, const struct index_span *span,
                     struct span_function *function)
{
    const struct trace_index *index = thread->tree->index;
    const struct index_function named =
        trace_index_function(index, index_group_of(index, span->function));
    *function = (struct span_function){
        .name = named.name,
        .origin = named.colour == INDEX_INLINED ? SPAN_INLINED : SPAN_OWN,
    };
    add_line(thread, &(struct tree_line){
                         .function = function,
                         .start = span->start,
                         .length = span->end - span->start,
                         .depth = span->depth,
                         .flags = span->flags,
                         .end = span->ending,
                     });
}

static bool add_thread(struct thread_tree *thread, struct error *error)
{
    const struct trace_moments *moments = thread->tree->moments;
    struct span_function function;
    struct index_span span;
    struct span_walk walk =
        span_walk_begin(thread->tree->index, thread->track, moments->first, moments->last);
    while (span_walk_next(&walk, &span, error) && !is_past(thread, &span)) {
        add_marks(thread, &span, walk.number);
        if (is_part(thread, &span))
            add_call(thread, &span, &function);
    }
    add_marks(thread, NULL, 0);
    return span_walk_end(&walk);
}

static bool add_threads(struct call_tree *tree, struct error *error)
{
    const struct trace_moments *moments = tree->moments;
    bool ok = true, more;
    tree->marks = array_of(sizeof(struct index_mark));
    ok = index_marks(tree->index, moments_range(moments), SIZE_MAX, &tree->marks, &more, error);
    for (uint32_t i = 0; ok && i < tree->index->facts.tracks; i++) {
        const struct index_track track = trace_index_track(tree->index, i);
        if (!index_tracks_contain(moments->tracks, i))
            continue;
        struct thread_tree thread = {
            .tree = tree,
            .track = i,
            .thread = {track.pid, track.tid, track.process, track.thread},
            .first_met = !moments->begins_with_call || moments->first_call.track != i,
        };
        ok = add_thread(&thread, error);
    }
    array_free(&tree->marks);
    return ok;
}

/* ---- the whole ---- */

static bool finish(const struct call_tree *tree, bool ok, struct error *error)
{
    const struct index_facts *facts = trace_index_facts(tree->index);
    if (!ok)
        return false;
    if (fflush(tree->stream) != 0 || ferror(tree->stream))
        return error_set_errno(error, ERROR_IO, errno, "cannot write the report");
    return !facts->damage || error_set(error, ERROR_FORMAT, "%s", facts->damage);
}

bool call_tree_print(const struct trace_index *index, const struct trace_moments *moments,
                     FILE *stream, struct error *error)
{
    const struct index_facts *facts = trace_index_facts(index);
    struct call_tree tree = {.index = index, .moments = moments, .stream = stream};
    tree_print_head(facts->recorded, facts->sampled, stream);
    return finish(&tree, add_threads(&tree, error), error);
}

bool call_tree_print_json(const struct trace_index *index, const struct trace_moments *moments,
                          size_t max_bytes, FILE *stream, struct error *error)
{
    struct json_report json;
    struct call_tree tree = {.index = index, .moments = moments, .stream = stream, .json = &json};
    tree_json_begin(&json, stream, trace_index_facts(index)->sampled, max_bytes);
    bool ok = add_threads(&tree, error);
    json_report_end(&json);
    return finish(&tree, ok, error);
}
