#include "analysis/call_tree.h"

#include "analysis/report_end.h"
#include "index/file/index_reader.h"
#include "index/marks.h"
#include "index/span_walk.h"
#include "index/valued_calls.h"
#include "output/report/folded_lines.h"
#include "output/report/tree_lines.h"

struct call_tree {
    const struct trace_index *index;
    const struct trace_moments *moments;
    FILE *stream;
    struct json_report *json; /* NULL: text */
    struct array marks;       /* of struct index_mark, of all tracks, by time */
    struct array hits;        /* of struct index_hit, likewise */
    struct array functions;   /* of struct span_function *, by group; NULL: not needed so far */
    struct arena memory;      /* of functions and hits */
    bool short_names, folds;
    bool printed; /* a thread was */
};

/* One thread of it. */
struct thread_tree {
    struct call_tree *tree;
    uint32_t track;
    struct span_track thread;
    size_t next_mark, next_hit;
    struct array lines;  /* of struct tree_line, that are to be folded */
    struct arena values; /* of its calls, or of the newest one where lines are not kept */
    bool began;          /* a line was printed */
    bool first_met;      /* the call with which the part begins; or it has no call here */
    bool last_met;       /* the one with which it ends */
};

static void add_line(struct thread_tree *thread, const struct tree_line *line)
{
    struct call_tree *tree = thread->tree;
    if (tree->json) {
        tree_json_add(tree->json, line, &thread->thread, 0);
        return;
    }
    if (tree->folds) {
        array_add_all(&thread->lines, line, 1);
        return;
    }
    if (!thread->began)
        tree_print_thread(&thread->thread, !tree->printed, tree->index->facts.sampled,
                          tree->stream);
    thread->began = tree->printed = true;
    struct tree_line shown = *line;
    shown.has_short_name = tree->short_names;
    tree_print_line(&shown, 0, &(struct tree_repetition){.count = 1}, tree->stream);
}

/* Prints what was kept for folding. */
static void end_lines(struct thread_tree *thread)
{
    struct call_tree *tree = thread->tree;
    if (thread->lines.count > 0) {
        tree_print_thread(&thread->thread, !tree->printed, tree->index->facts.sampled,
                          tree->stream);
        folded_lines_print(&thread->lines, 0, tree->short_names, tree->stream);
        tree->printed = true;
    }
    array_free(&thread->lines);
    arena_free(&thread->values);
}

/* ---- marks and hits ---- */

/* A place in a thread: before the call that `spans` calls of it have begun before. */
struct thread_place {
    uint64_t time, spans;
};

static const struct thread_place END_OF_THREAD = {UINT64_MAX, UINT64_MAX};

static bool is_before(uint64_t time, uint64_t spans, struct thread_place place)
{
    return time < place.time || (time == place.time && spans <= place.spans);
}

/* The thread's next mark and hit; NULL: it has no more. */
static const struct index_mark *next_mark(struct thread_tree *thread)
{
    const struct array *marks = &thread->tree->marks;
    for (; thread->next_mark < marks->count; thread->next_mark++) {
        const struct index_mark *mark = array_at(marks, thread->next_mark);
        if (mark->track == thread->track)
            return mark;
    }
    return NULL;
}

static const struct index_hit *next_hit(struct thread_tree *thread)
{
    const struct array *hits = &thread->tree->hits;
    for (; thread->next_hit < hits->count; thread->next_hit++) {
        const struct index_hit *hit = array_at(hits, thread->next_hit);
        if (hit->thread == thread->track)
            return hit;
    }
    return NULL;
}

/* Where the part begins and ends with calls of this thread, what is outside of these is not part of it. */
static bool is_shown(const struct thread_tree *thread, uint32_t depth)
{
    return thread->first_met &&
           (!thread->last_met || depth > thread->tree->moments->last_call.span.depth);
}

static void add_mark(struct thread_tree *thread, const struct index_mark *mark)
{
    thread->next_mark++;
    if (!is_shown(thread, mark->depth))
        return;
    add_line(thread,
             &(struct tree_line){.text = mark->text, .start = mark->time, .depth = mark->depth});
}

static void add_hit(struct thread_tree *thread, const struct index_hit *hit)
{
    thread->next_hit++;
    if (!is_shown(thread, hit->depth))
        return;
    struct arena *memory = &thread->tree->memory;
    struct span_function *function = arena_allocate(memory, sizeof *function);
    struct span_hit *shown = arena_allocate(memory, sizeof *shown);
    *function = (struct span_function){.name = hit->name};
    *shown = (struct span_hit){
        .has_passed = hit->has_passed,
        .has_argument = hit->has_argument,
        .argument = hit->argument,
    };
    add_line(thread, &(struct tree_line){
                         .function = function,
                         .hit = shown,
                         .start = hit->end,
                         .length = hit->has_passed ? hit->passed : 0,
                         .depth = hit->depth,
                     });
}

/* The thread's marks and hits before a place, in their order. */
static void add_marks(struct thread_tree *thread, struct thread_place place)
{
    for (;;) {
        const struct index_mark *mark = next_mark(thread);
        const struct index_hit *hit = next_hit(thread);
        if (mark && !is_before(mark->time, mark->spans, place))
            mark = NULL;
        if (hit && !is_before(hit->end, hit->spans, place))
            hit = NULL;
        if (!mark && !hit)
            return;
        if (hit && (!mark || hit->marks <= mark->number))
            add_hit(thread, hit);
        else
            add_mark(thread, mark);
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
static bool is_past(const struct thread_tree *thread, const struct index_span *span)
{
    return thread->last_met && span->depth <= thread->tree->moments->last_call.span.depth;
}

static void note_last(struct thread_tree *thread, const struct index_span *span)
{
    const struct trace_moments *moments = thread->tree->moments;
    const struct call_place *last = &moments->last_call;
    if (moments->ends_with_call && last->track == thread->track && is_same(span, &last->span))
        thread->last_met = true;
}

/* The arguments and the result of a call, in `memory`; NULL: they were not recorded. */
static bool find_values(const struct thread_tree *thread, const struct index_span *span,
                        uint64_t begun, struct arena *memory, const struct named_values **values,
                        struct error *error)
{
    const struct trace_index *index = thread->tree->index;
    const struct call_place place = {thread->track, *span};
    struct valued_call call;
    bool found;
    *values = NULL;
    if (index->facts.valued_calls == 0)
        return true;
    if (!index_values_at(index, &place, begun, &call, &found, error))
        return false;
    if (!found)
        return true;
    struct named_values *read = arena_allocate(memory, sizeof *read);
    *values = read;
    return index_values_of(index, &call, memory, read, error);
}

static const struct span_function *function_of(struct call_tree *tree, uint32_t group)
{
    while (tree->functions.count <= group)
        array_add(&tree->functions);
    struct span_function **known = array_at(&tree->functions, group);
    if (!*known) {
        const struct index_function named = trace_index_function(tree->index, group);
        *known = arena_allocate(&tree->memory, sizeof **known);
        **known = (struct span_function){
            .name = named.name,
            .origin = named.colour == INDEX_INLINED ? SPAN_INLINED : SPAN_OWN,
        };
    }
    return *known;
}

static bool add_call(struct thread_tree *thread, const struct index_span *span, uint64_t begun,
                     struct error *error)
{
    struct call_tree *tree = thread->tree;
    const struct named_values *values;
    bool ok = find_values(thread, span, begun, &thread->values, &values, error);
    add_line(thread, &(struct tree_line){
                         .function = function_of(tree, index_group_of(tree->index, span->function)),
                         .values = values,
                         .start = span->start,
                         .length = span->end - span->start,
                         .depth = span->depth,
                         .flags = span->flags,
                         .end = span->ending,
                     });
    if (!tree->folds)
        arena_free(&thread->values);
    return ok;
}

static bool add_calls(struct thread_tree *thread, struct error *error)
{
    const struct trace_moments *moments = thread->tree->moments;
    struct index_span span;
    struct span_walk walk =
        span_walk_begin(thread->tree->index, thread->track, moments->first, moments->last);
    struct thread_place end = END_OF_THREAD;
    bool ok = true;
    while (ok && span_walk_next(&walk, &span, error)) {
        struct thread_place place = {span.start, walk.number};
        if (is_past(thread, &span)) {
            end = place;
            break;
        }
        add_marks(thread, place);
        if (is_part(thread, &span))
            ok = add_call(thread, &span, walk.number, error);
        note_last(thread, &span);
    }
    add_marks(thread, end);
    return span_walk_end(&walk) && ok;
}

static bool add_thread(struct thread_tree *thread, bool has_calls, struct error *error)
{
    if (has_calls)
        return add_calls(thread, error);
    add_marks(thread, END_OF_THREAD);
    return true;
}

static bool add_threads(struct call_tree *tree, struct error *error)
{
    const struct trace_moments *moments = tree->moments;
    bool ok = true, more;
    tree->marks = array_of(sizeof(struct index_mark));
    tree->hits = array_of(sizeof(struct index_hit));
    tree->functions = array_of(sizeof(struct span_function *));
    ok = index_marks(tree->index, moments_range(moments), SIZE_MAX, &tree->marks, &more, error);
    index_hits_within(tree->index, moments_range(moments), &tree->hits);
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
        thread.lines = array_of(sizeof(struct tree_line));
        ok = add_thread(&thread, !track.is_hits, error);
        end_lines(&thread);
    }
    array_free(&tree->marks);
    array_free(&tree->hits);
    array_free(&tree->functions);
    arena_free(&tree->memory);
    return ok;
}

/* ---- the whole ---- */

bool call_tree_print(const struct trace_index *index, const struct trace_moments *moments,
                     const struct report_tree_options *options, FILE *stream, struct error *error)
{
    const struct index_facts *facts = trace_index_facts(index);
    struct call_tree tree = {
        .index = index,
        .moments = moments,
        .stream = stream,
        .short_names = options->short_names,
        .folds = options->fold,
    };
    tree_print_head(facts->recorded, facts->sampled, stream);
    return add_threads(&tree, error) && report_end(index, stream, error);
}

bool call_tree_print_json(const struct trace_index *index, const struct trace_moments *moments,
                          size_t max_bytes, FILE *stream, struct error *error)
{
    struct json_report json;
    struct call_tree tree = {.index = index, .moments = moments, .stream = stream, .json = &json};
    tree_json_begin(&json, stream, trace_index_facts(index)->sampled, max_bytes);
    bool ok = add_threads(&tree, error);
    json_report_end(&json);
    return ok && report_end(index, stream, error);
}
