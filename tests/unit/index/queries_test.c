/* Statistics, flame graphs, calls, single spans and marks of random traces against the oracle. */
#include "analysis/valued_search.h"
#include "index/marks.h"
#include "index_test.h"
#include "oracle.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { TRACES = 600, QUESTIONS = 8 };

/* A random choice of tracks, for both sides. */
struct chosen_tracks {
    uint32_t ids[MADE_TRACKS + 1];
    struct index_tracks tracks;
    struct oracle_tracks oracle;
};

static void choose_tracks(struct indexed_trace *indexed, struct chosen_tracks *chosen)
{
    const struct made_trace *trace = indexed->trace;
    *chosen = (struct chosen_tracks){0};
    if (made_random(&indexed->random, 2) == 0) {
        for (uint32_t i = 0; i < trace->track_count; i++)
            if (!trace_index_track(indexed->index, i).is_hits)
                chosen->oracle.bits |= 1u << i;
        return;
    }
    chosen->tracks.ids = chosen->ids;
    for (uint32_t i = 0; i < trace->track_count; i++)
        if (made_random(&indexed->random, 2)) {
            chosen->ids[chosen->tracks.count++] = i;
            chosen->oracle.bits |= 1u << i;
        }
}

/* ---- statistics ---- */

static void check_row(const struct function_row *row, const struct function_row *expected)
{
    assert_int_equal(row->calls, expected->calls);
    assert_int_equal(row->total, expected->total);
    assert_int_equal(row->self, expected->self);
    assert_int_equal(row->whole, expected->whole);
    assert_int_equal(row->min, expected->min);
    assert_int_equal(row->max, expected->max);
    assert_int_equal(row->sum, expected->sum);
}

static void check_table(struct indexed_trace *indexed)
{
    struct chosen_tracks chosen;
    choose_tracks(indexed, &chosen);
    struct index_range range = random_range(indexed);
    struct array rows = array_of(sizeof(struct function_row));
    struct error error = {0};
    assert_true(index_function_table(indexed->index, chosen.tracks, range, &rows, &error));
    size_t seen = 0;
    for (uint32_t name = 0; name < MADE_NAMES; name++) {
        const struct function_row expected = oracle_row(indexed->trace, chosen.oracle, range, name);
        if (expected.calls == 0)
            continue;
        bool found = false;
        for (size_t i = 0; i < rows.count; i++) {
            const struct function_row *row = array_at(&rows, i);
            if (row->group != indexed->groups[name])
                continue;
            check_row(row, &expected);
            found = true;
        }
        assert_true(found);
        seen++;
    }
    assert_int_equal(seen, rows.count);
    for (size_t i = 1; i < rows.count; i++)
        assert_true(((struct function_row *)array_at(&rows, i - 1))->group <
                    ((struct function_row *)array_at(&rows, i))->group);
    array_free(&rows);
}

/* ---- flame graphs ---- */

/* Whether the span's stack is that of node `number`. */
static bool is_of_node(const struct indexed_trace *indexed, const struct array *nodes,
                       size_t number, size_t span)
{
    for (; number != 0 && span != NO_PARENT; span = made_trace_span(indexed->trace, span)->parent) {
        const struct flame_node *node = array_at(nodes, number);
        if (node->group != indexed->groups[made_trace_span(indexed->trace, span)->name])
            return false;
        number = node->parent;
    }
    return number == 0 && span == NO_PARENT;
}

static void check_node(const struct indexed_trace *indexed, const struct chosen_tracks *chosen,
                       struct index_range range, const struct array *nodes, size_t number)
{
    const struct flame_node *node = array_at(nodes, number);
    uint64_t calls = 0, total = 0, self = 0;
    for (size_t i = 0; i < indexed->trace->spans.count; i++) {
        const struct made_span *span = made_trace_span(indexed->trace, i);
        if (!(chosen->oracle.bits >> span->track & 1) || !oracle_overlaps(span, range) ||
            !is_of_node(indexed, nodes, number, i))
            continue;
        const struct index_range whole = {span->start, span->end};
        const struct index_range cut = {whole.from > range.from ? whole.from : range.from,
                                        whole.to < range.to ? whole.to : range.to};
        calls++;
        total += cut.to > cut.from ? cut.to - cut.from : 0;
        self += oracle_self(indexed->trace, i, range);
    }
    assert_int_equal(node->calls, calls);
    assert_int_equal(node->total, total);
    assert_int_equal(node->self, self);
}

static uint64_t reported_below(const struct array *nodes, size_t parent)
{
    uint64_t total = 0, last = UINT64_MAX;
    for (size_t i = parent + 1; i < nodes->count; i++) {
        const struct flame_node *node = array_at(nodes, i);
        if (node->parent != parent)
            continue;
        assert_true(node->total <= last); /* the widest comes first */
        last = node->total;
        total += node->total;
    }
    return total;
}

/* Calls that overlap the range; at its very beginning, where a caller may have ended, none is taken
 * for granted: UINT64_MAX. */
static uint64_t count_calls(const struct indexed_trace *indexed, struct oracle_tracks tracks,
                            struct index_range range)
{
    uint64_t calls = 0;
    for (size_t i = 0; i < indexed->trace->spans.count; i++) {
        const struct made_span *span = made_trace_span(indexed->trace, i);
        if (span->start == span->end && span->start == range.from)
            return UINT64_MAX;
        calls += (tracks.bits >> span->track & 1) && oracle_overlaps(span, range);
    }
    return calls;
}

static void check_flame(struct indexed_trace *indexed)
{
    static const double SHARES[] = {0, 0.01, 0.1, 0.5};
    struct chosen_tracks chosen;
    choose_tracks(indexed, &chosen);
    struct index_range range = random_range(indexed);
    double share = SHARES[made_random(&indexed->random, 4)];
    struct array nodes = array_of(sizeof(struct flame_node));
    struct error error = {0};
    assert_true(index_flame_graph(indexed->index,
                                  &(struct flame_request){chosen.tracks, range, share, false},
                                  &nodes, &error));
    const struct flame_node *root = array_at(&nodes, 0);
    assert_int_equal(root->group, UINT32_MAX);
    uint64_t self = 0, omitted = 0, calls = 0;
    for (size_t i = 0; i < nodes.count; i++) {
        const struct flame_node *node = array_at(&nodes, i);
        assert_true(i == 0 || node->parent < i);
        assert_true(i == 0 || (double)node->total >= share * (double)root->total);
        assert_int_equal(node->total, node->self + node->omitted + reported_below(&nodes, i));
        if (i > 0)
            check_node(indexed, &chosen, range, &nodes, i);
        self += node->self;
        omitted += node->omitted;
        calls += node->calls;
    }
    assert_int_equal(root->total, self + omitted);
    uint64_t all_calls = count_calls(indexed, chosen.oracle, range);
    assert_true(share > 0 || all_calls == UINT64_MAX || calls == all_calls);
    uint64_t expected = 0;
    for (uint32_t name = 0; name < MADE_NAMES; name++)
        expected += oracle_row(indexed->trace, chosen.oracle, range, name).self;
    assert_int_equal(root->total, expected);
    array_free(&nodes);
}

/* ---- calls ---- */

static int compare_numbers(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

static int longest_first(const void *left, const void *right)
{
    return compare_numbers(right, left);
}

static void sort_numbers(struct array *numbers, int (*compare)(const void *, const void *))
{
    if (numbers->count > 1)
        qsort(numbers->elements, numbers->count, sizeof(uint64_t), compare);
}

struct oracle_calls {
    struct array all, whole; /* of uint64_t: lengths */
    uint64_t bins[CALL_BINS];
};

static struct oracle_calls expected_calls(const struct indexed_trace *indexed,
                                          struct oracle_tracks tracks, struct index_range range,
                                          uint32_t name)
{
    struct oracle_calls calls = {array_of(sizeof(uint64_t)), array_of(sizeof(uint64_t)), {0}};
    for (size_t i = 0; i < indexed->trace->spans.count; i++) {
        const struct made_span *span = made_trace_span(indexed->trace, i);
        uint64_t length = span->end - span->start;
        if (!(tracks.bits >> span->track & 1) || span->name != name ||
            !oracle_overlaps(span, range))
            continue;
        array_add_all(&calls.all, &length, 1);
        if (!oracle_is_whole(span, range))
            continue;
        array_add_all(&calls.whole, &length, 1);
        unsigned bin = 0;
        while (call_bin_first(bin + 1) <= length)
            bin++;
        calls.bins[bin]++;
    }
    sort_numbers(&calls.all, longest_first);
    sort_numbers(&calls.whole, compare_numbers);
    return calls;
}

static uint64_t number_at(const struct array *numbers, size_t index)
{
    return *(uint64_t *)array_at(numbers, index);
}

static void check_call_figures(const struct call_statistics *calls,
                               const struct oracle_calls *expected, size_t slowest)
{
    size_t whole = expected->whole.count;
    assert_int_equal(calls->calls, expected->all.count);
    assert_int_equal(calls->whole, whole);
    assert_memory_equal(calls->bins, expected->bins, sizeof calls->bins);
    if (whole > 0) {
        assert_int_equal(calls->min, number_at(&expected->whole, 0));
        assert_int_equal(calls->max, number_at(&expected->whole, whole - 1));
        assert_int_equal(calls->median, number_at(&expected->whole, (whole + 1) / 2 - 1));
        assert_int_equal(calls->p99, number_at(&expected->whole, (99 * whole + 99) / 100 - 1));
    }
    size_t shown = slowest < expected->all.count ? slowest : expected->all.count;
    assert_int_equal(calls->slowest.count, shown);
    for (size_t i = 0; i < shown; i++) {
        const struct call_place *place = array_at(&calls->slowest, i);
        assert_int_equal(place->span.end - place->span.start, number_at(&expected->all, i));
    }
}

/* Each call is in one cell, whose longest call is one of its own. */
static void check_map(const struct call_statistics *calls, struct index_range range)
{
    uint64_t bins[CALL_BINS] = {0};
    for (size_t i = 0; i < calls->map.count; i++) {
        const struct call_cell *cell = array_at(&calls->map, i);
        const struct index_span *span = &cell->longest.span;
        bins[cell->bin] += cell->calls;
        assert_int_equal((span->start - range.from) / calls->column, cell->column);
        assert_int_equal(call_bin_of(span->end - span->start), cell->bin);
    }
    assert_memory_equal(bins, calls->bins, sizeof bins);
}

/* The calls of one bin, or of several, can be listed by themselves. */
static void check_lengths(struct indexed_trace *indexed, struct calls_request request,
                          const struct call_statistics *calls)
{
    unsigned first = (unsigned)made_random(&indexed->random, 40);
    unsigned last = first + (unsigned)made_random(&indexed->random, 20);
    uint64_t count = 0;
    for (unsigned bin = first; bin <= last; bin++)
        count += calls->bins[bin];
    request.lengths = (struct index_range){call_bin_first(first), call_bin_first(last + 1)};
    struct call_statistics listed;
    struct error error = {0};
    assert_true(index_calls(indexed->index, &request, &listed, &error));
    assert_int_equal(listed.slowest.count, count < request.slowest ? count : request.slowest);
    for (size_t i = 0; i < listed.slowest.count; i++) {
        const struct call_place *place = array_at(&listed.slowest, i);
        unsigned bin = call_bin_of(place->span.end - place->span.start);
        assert_true(bin >= first && bin <= last);
    }
    call_statistics_free(&listed);
}

static void check_calls(struct indexed_trace *indexed)
{
    struct chosen_tracks chosen;
    choose_tracks(indexed, &chosen);
    struct index_range range = random_range(indexed);
    uint32_t name = (uint32_t)made_random(&indexed->random, MADE_NAMES);
    size_t slowest = made_random(&indexed->random, 20);
    if (indexed->groups[name] == UINT32_MAX)
        return;
    struct call_statistics calls;
    struct error error = {0};
    const struct calls_request request = {
        .tracks = chosen.tracks,
        .range = range,
        .group = indexed->groups[name],
        .slowest = slowest,
        .columns = 1 + (uint32_t)made_random(&indexed->random, 30),
    };
    assert_true(index_calls(indexed->index, &request, &calls, &error));
    struct oracle_calls expected = expected_calls(indexed, chosen.oracle, range, name);
    check_call_figures(&calls, &expected, slowest);
    check_map(&calls, range);
    check_lengths(indexed, request, &calls);
    array_free(&expected.all);
    array_free(&expected.whole);
    call_statistics_free(&calls);
}

static void check_next(struct indexed_trace *indexed)
{
    struct chosen_tracks chosen;
    choose_tracks(indexed, &chosen);
    uint64_t *random = &indexed->random;
    uint32_t name = (uint32_t)made_random(random, MADE_NAMES);
    bool forward = made_random(random, 2);
    const struct call_place from = {
        .track = (uint32_t)made_random(random, MADE_TRACKS),
        .span = {.start = random_time(indexed), .depth = (uint32_t)made_random(random, 6)},
    };
    if (indexed->groups[name] == UINT32_MAX)
        return;
    struct call_place call;
    uint64_t ordinal, expected_ordinal;
    struct error error = {0};
    size_t expected =
        oracle_next(indexed->trace, chosen.oracle, name, &from, forward, &expected_ordinal);
    bool found = index_next_call(indexed->index, chosen.tracks, indexed->groups[name], &from,
                                 forward, &call, &ordinal, &error);
    assert_int_equal(error.code, ERROR_NONE);
    assert_int_equal(found, expected != NO_PARENT);
    if (!found)
        return;
    const struct made_span *span = made_trace_span(indexed->trace, expected);
    assert_int_equal(call.span.start, span->start);
    assert_int_equal(call.span.depth, span->depth);
    assert_int_equal(call.track, span->track);
    assert_int_equal(ordinal, expected_ordinal);
}

/* ---- single spans ---- */

static void check_self(struct indexed_trace *indexed)
{
    const struct made_trace *trace = indexed->trace;
    if (trace->spans.count == 0)
        return;
    uint64_t *random = &indexed->random;
    const struct made_span *chosen =
        made_trace_span(trace, made_random(random, trace->spans.count));
    struct array expected = array_of(sizeof(size_t));
    struct array stack = array_of(sizeof(struct index_span));
    struct error error = {0};
    uint64_t time = made_random(random, 2) ? chosen->start : random_time(indexed);
    oracle_span_at(trace, chosen->track, chosen->depth, time, &expected);
    assert_true(index_span_at(indexed->index, chosen->track, chosen->depth, time, &stack, &error));
    assert_int_equal(stack.count, expected.count);
    for (size_t i = 0; i < stack.count; i++) {
        size_t number = *(size_t *)array_at(&expected, i);
        const struct made_span *span = made_trace_span(trace, number);
        const struct index_span *given = array_at(&stack, i);
        assert_int_equal(given->start, span->start);
        assert_int_equal(given->end, span->end);
        assert_int_equal(name_of(indexed, given->function), span->name);
        if (span->start == span->end)
            continue; /* others like it may lie at the same place */
        uint64_t self, children, expected_children = 0;
        for (size_t j = 0; j < trace->spans.count; j++)
            expected_children += made_trace_span(trace, j)->parent == number;
        assert_true(index_span_self(indexed->index, span->track, given, &self, &children, &error));
        assert_int_equal(self, oracle_self(trace, number, (struct index_range){0, UINT64_MAX}));
        assert_int_equal(children, expected_children);
    }
    array_free(&expected);
    array_free(&stack);
}

/* Each is found by its place and its function, though another may begin there. */
static void check_brief(struct indexed_trace *indexed)
{
    enum { SPANS = 32 };
    const struct made_trace *trace = indexed->trace;
    for (size_t i = 0; i < SPANS && trace->spans.count > 0; i++) {
        const struct made_span *span =
            made_trace_span(trace, made_random(&indexed->random, trace->spans.count));
        if (span->start != span->end)
            continue;
        struct array stack = array_of(sizeof(struct index_span));
        struct error error = {0};
        assert_true(index_brief_span_at(indexed->index, span->track, span->depth, span->start,
                                        indexed->groups[span->name], &stack, &error));
        assert_int_equal(stack.count, span->depth + 1);
        const struct index_span *found = array_at(&stack, span->depth);
        assert_int_equal(found->start, span->start);
        assert_int_equal(found->end, span->end);
        assert_int_equal(name_of(indexed, found->function), span->name);
        for (uint32_t depth = 0; depth < span->depth; depth++)
            assert_int_equal(((struct index_span *)array_at(&stack, depth))->depth, depth);
        array_free(&stack);
    }
    struct array none = array_of(sizeof(struct index_span));
    assert_true(index_brief_span_at(indexed->index, 0, UINT32_MAX, 0, UINT32_MAX, &none, NULL));
    assert_int_equal(none.count, 0);
    array_free(&none);
}

/* ---- arguments and results ---- */

/* Those of a call, by its place. Of several of length zero at one place, of the last. */
static void check_values(struct indexed_trace *indexed)
{
    const struct made_trace *trace = indexed->trace;
    uint64_t expected = 0;
    for (size_t i = 0; i < trace->spans.count; i++) {
        const struct made_span *span = made_trace_span(trace, i);
        struct valued_call call;
        struct named_values values;
        struct arena memory = {0};
        struct array stack = array_of(sizeof(struct index_span));
        struct error error = {0};
        bool found;
        expected += made_trace_has_values(span);
        if (span->start == span->end)
            continue;
        assert_true(
            index_span_at(indexed->index, span->track, span->depth, span->start, &stack, &error));
        const struct call_place place = {span->track,
                                         *(struct index_span *)array_at(&stack, stack.count - 1)};
        array_free(&stack);
        assert_true(index_values_at(indexed->index, &place, VALUES_OF_LAST, &call, &found, &error));
        assert_int_equal(found, made_trace_has_values(span));
        if (!found)
            continue;
        assert_true(index_values_of(indexed->index, &call, &memory, &values, &error));
        assert_int_equal(values.count, 1 + span->ended % 2);
        assert_int_equal(values.has_result, span->ended % 2);
        assert_string_equal(values.values[0].name, "n");
        assert_int_equal(values.values[0].unsigned_number, span->ended);
        if (values.has_result)
            assert_string_equal(values.values[1].string, "x");
        arena_free(&memory);
    }
    assert_int_equal(trace_index_facts(indexed->index)->valued_calls, expected);
}

/* By number, all are found; from call to call, all that fulfil a condition, forward and back. */
static void check_valued_steps(struct indexed_trace *indexed)
{
    const struct index_facts *facts = trace_index_facts(indexed->index);
    struct error error = {0};
    struct value_condition condition;
    char text[64];
    snprintf(text, sizeof text, "(n>=%zu)", indexed->trace->events.count / 2);
    assert_true(value_condition_parse(&condition, text));
    for (uint32_t group = 0; group < facts->functions; group++) {
        uint64_t expected = 0, steps = 0;
        for (uint64_t i = 0; i < facts->valued_calls; i++) {
            struct valued_call call, same;
            struct named_value value;
            uint64_t owner;
            bool found;
            assert_true(index_valued_call(indexed->index, i, &call, &error));
            assert_true(index_values_of_call(indexed->index, call.place.track, call.number, &same,
                                             &found, &error));
            assert_true(found && same.first_value == call.first_value);
            assert_true(index_value(indexed->index, call.first_value, &value, &owner, &error));
            assert_int_equal(owner, i);
            expected +=
                trace_index_function(indexed->index, call.place.span.function).group == group &&
                value.unsigned_number >= indexed->trace->events.count / 2;
        }
        struct valued_step step = {
            .condition = &condition, .group = group, .from = {.span.start = UINT64_MAX}};
        struct valued_found found;
        uint64_t ordinal = 0;
        for (;; steps++) {
            assert_true(valued_search_step(indexed->index, &step, &found, &error));
            assert_int_equal(found.of, expected);
            if (!found.found)
                break;
            assert_true(steps == 0 || found.ordinal < ordinal);
            ordinal = found.ordinal;
            step.from = found.place;
        }
        assert_true(steps <= expected && (steps > 0) == (expected > 0));
    }
    value_condition_free(&condition);
}

/* ---- marks ---- */

static bool is_in(struct index_range range, uint64_t time)
{
    return range.from <= time && time < range.to;
}

static void check_marks(struct indexed_trace *indexed)
{
    struct index_range range = random_range(indexed);
    size_t limit = made_random(&indexed->random, 10), expected = 0, samples = 0, next = 0;
    struct array marks = array_of(sizeof(struct index_mark));
    struct error error = {0};
    bool more;
    assert_true(index_marks(indexed->index, range, limit, &marks, &more, &error));
    for (size_t i = 0; i < indexed->trace->events.count; i++) {
        const struct span_event *event = array_at(&indexed->trace->events, i);
        uint64_t time = event->time.value - indexed->trace->origin;
        if (event->kind == SPAN_COUNTER)
            samples++;
        if (event->kind != SPAN_INSTANT || !is_in(range, time))
            continue;
        const struct index_mark *mark = next < marks.count ? array_at(&marks, next) : NULL;
        bool is_it = mark && mark->time == time && mark->track == event->track &&
                     strcmp(mark->text, event->text) == 0;
        assert_true(is_it || expected > 0 || limit == 0); /* the first is kept */
        next += is_it;
        expected++;
    }
    assert_int_equal(next, marks.count);
    assert_int_equal(marks.count, expected < limit ? expected : limit);
    assert_int_equal(more, expected > limit);
    uint64_t counted = 0;
    for (uint32_t i = 0; i < trace_index_facts(indexed->index)->counters; i++)
        counted += trace_index_counter(indexed->index, i).samples;
    assert_int_equal(counted, samples);
    array_free(&marks);
}

static void check_hits(struct indexed_trace *indexed)
{
    struct index_range range = random_range(indexed);
    struct array hits = array_of(sizeof(struct index_hit));
    struct error error = {0};
    bool more;
    assert_true(index_hits(indexed->index, range, SIZE_MAX, &hits, &more, &error));
    size_t next = 0;
    for (size_t i = 0; i < indexed->trace->spans.count; i++) {
        const struct made_span *span = made_trace_span(indexed->trace, i);
        if (!indexed->trace->has_hits || span->track != indexed->trace->track_count - 1 ||
            !oracle_overlaps(span, range))
            continue;
        assert_true(next < hits.count);
        const struct index_hit *hit = array_at(&hits, next++);
        assert_int_equal(hit->start, span->start);
        assert_int_equal(hit->end, span->end);
        assert_int_equal(hit->track, span->track);
        assert_int_equal(hit->pid, 7);
    }
    assert_int_equal(next, hits.count);
    array_free(&hits);
}

/* Points are runs of samples: one after the other, and together all of them. */
static void check_counter(struct indexed_trace *indexed)
{
    struct index_range range = random_range(indexed);
    size_t limit = 2 + made_random(&indexed->random, 12), point = 0, left = 0;
    if (trace_index_facts(indexed->index)->counters == 0)
        return;
    struct array points = array_of(sizeof(struct counter_point));
    struct error error = {0};
    assert_true(index_counter_points(indexed->index, 0, range, limit, &points, &error));
    assert_true(points.count <= limit);
    const struct counter_point *all = points.elements;
    bool has_before = points.count > 0 && all[0].time < range.from;
    double last_before = -1, min = INFINITY, max = -INFINITY, last = -1;
    for (size_t i = 0; i < indexed->trace->events.count && range.from < range.to; i++) {
        const struct span_event *event = array_at(&indexed->trace->events, i);
        uint64_t time = event->time.value - indexed->trace->origin;
        if (event->kind != SPAN_COUNTER || time >= range.to)
            continue;
        if (time < range.from) {
            last_before = event->value;
            continue;
        }
        left++;
        min = fmin(min, event->value);
        max = fmax(max, event->value);
        last = event->value;
    }
    assert_int_equal(has_before, last_before >= 0);
    if (has_before)
        assert_true(all[point++].last == last_before);
    assert_int_equal(points.count > point, left > 0);
    double reported_min = INFINITY, reported_max = -INFINITY;
    for (size_t i = point; i < points.count; i++) {
        assert_true(i == point || all[i].time >= all[i - 1].time);
        assert_true(is_in(range, all[i].time) && all[i].min <= all[i].last);
        reported_min = fmin(reported_min, all[i].min);
        reported_max = fmax(reported_max, all[i].max);
    }
    if (left > 0)
        assert_true(reported_min == min && reported_max == max &&
                    all[points.count - 1].last == last);
    array_free(&points);
}

static void test_random_traces(void **state)
{
    for (uint64_t seed = 1; seed <= TRACES; seed++) {
        struct indexed_trace indexed = indexed_trace_new(seed);
        for (int i = 0; i < QUESTIONS; i++) {
            check_table(&indexed);
            check_flame(&indexed);
            check_calls(&indexed);
            for (int j = 0; j < 10; j++)
                check_next(&indexed);
            check_self(&indexed);
            check_marks(&indexed);
            check_hits(&indexed);
            check_counter(&indexed);
        }
        check_values(&indexed);
        check_brief(&indexed);
        if (seed % 16 == 0)
            check_valued_steps(&indexed);
        indexed_trace_free(&indexed);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_traces),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
