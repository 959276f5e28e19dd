#include "index/slow_calls.h"

#include "base/memory.h"
#include "index/scan_parts.h"
#include "index/span_scan.h"

#include <stdlib.h>

enum {
    LEVELS = 64,       /* of recursion that are distinguished; deeper ones count as the last */
    ENOUGH_CALLS = 10, /* of a level */
    CUT_AT = 4 * SLOW_CALLS_MAX,
};

struct levelled_call {
    struct call_place place;
    uint32_t level;
};

struct call_pass {
    const struct trace_index *index;
    const struct slow_calls_request *request;
    struct index_range range;
    const struct call_place *single; /* the only slow call; NULL: not known, or there are more */
    /* The first pass: */
    uint64_t sampled; /* calls whose hash is not above are in the sample */
    uint64_t levels[LEVELS];
    struct array sample; /* of struct levelled_call */
    uint32_t given_level;
    /* The second pass: */
    bool is_second;
    struct slow_calls *calls;
};

/* What one thread has found. */
struct pass_part {
    const struct call_pass *pass;
    struct array active; /* of struct index_span: calls of the function that enclose the next */
    uint64_t levels[LEVELS];
    struct array sample, slow;
    uint64_t slow_calls, slow_time;
    uint64_t too_short; /* for `slow` */
    uint32_t given_level;
};

static uint64_t length_of(const struct call_place *call)
{
    return call->span.end - call->span.start;
}

/* The same for the same call whichever thread reads it. */
static uint64_t hash_of(const struct call_place *call)
{
    uint64_t hash = call->span.start * UINT64_C(0x9e3779b97f4a7c15);
    hash ^= ((uint64_t)call->track << 32 | call->span.depth) * UINT64_C(0xd6e8feb86659fd93);
    hash ^= hash >> 32;
    hash *= UINT64_C(0xd6e8feb86659fd93);
    return hash ^ hash >> 32;
}

static bool is_single(const struct call_pass *pass, const struct call_place *call)
{
    return pass->single && call_place_compare(call, pass->single) == 0;
}

/* How many calls of the function enclose the span: callers come before what they call. */
static uint32_t enter(struct array *active, const struct index_span *span)
{
    while (active->count > 0) {
        const struct index_span *top = array_at(active, active->count - 1);
        if (span->depth > top->depth && span->start >= top->start)
            break;
        active->count--;
    }
    array_add_all(active, span, 1);
    size_t level = active->count - 1;
    return level < LEVELS ? (uint32_t)level : LEVELS - 1;
}

/* ---- the longest ---- */

static int compare_longest(const void *left, const void *right)
{
    const struct call_place *a = left, *b = right;
    if (length_of(a) != length_of(b))
        return length_of(a) > length_of(b) ? -1 : 1;
    return call_place_compare(a, b);
}

static void cut_longest(struct array *slow, uint64_t *too_short)
{
    if (slow->count > 1)
        qsort(slow->elements, slow->count, slow->element_size, compare_longest);
    if (slow->count <= SLOW_CALLS_MAX)
        return;
    slow->count = SLOW_CALLS_MAX;
    *too_short = length_of(array_at(slow, SLOW_CALLS_MAX - 1));
}

/* ---- a reading of all calls ---- */

static void take_slow(struct pass_part *part, const struct call_place *call)
{
    part->slow_calls++;
    part->slow_time += length_of(call);
    if (length_of(call) < part->too_short)
        return;
    array_add_all(&part->slow, call, 1);
    if (part->slow.count >= CUT_AT)
        cut_longest(&part->slow, &part->too_short);
}

static void take_call(struct pass_part *part, const struct call_place *call, uint32_t level)
{
    const struct call_pass *pass = part->pass;
    if (pass->is_second) {
        if (level == pass->calls->level && length_of(call) > pass->calls->limit)
            take_slow(part, call);
        return;
    }
    part->levels[level]++;
    if (is_single(pass, call))
        part->given_level = level;
    if (hash_of(call) <= pass->sampled)
        array_add_all(&part->sample, &(struct levelled_call){*call, level}, 1);
}

static bool scan_part(void *state, const struct scan_part *scanned, struct error *error)
{
    struct pass_part *part = state;
    const struct call_pass *pass = part->pass;
    const struct index_span *spans;
    struct span_scan scan = span_scan_begin(pass->index, scanned->track, scanned->range);
    scan.only_group = pass->request->group;
    part->active.count = 0;
    for (size_t count; (count = span_scan_next(&scan, &spans, error)) > 0;)
        for (size_t i = count; i-- > 0;) {
            if (index_group_of(pass->index, spans[i].function) != pass->request->group)
                continue;
            uint32_t level = enter(&part->active, &spans[i]);
            if (range_overlaps(scanned->range, &spans[i]) && part_counts(scanned, &spans[i]) &&
                is_whole_call(&spans[i], pass->range))
                take_call(part, &(struct call_place){scanned->track, spans[i]}, level);
        }
    return span_scan_end(&scan);
}

static void *begin_part(void *context)
{
    struct pass_part *part = memory_allocate_zeroed(sizeof *part);
    part->pass = context;
    part->active = array_of(sizeof(struct index_span));
    part->sample = array_of(sizeof(struct levelled_call));
    part->slow = array_of(sizeof(struct call_place));
    part->given_level = UINT32_MAX;
    return part;
}

static void end_part(void *context, void *state)
{
    struct call_pass *pass = context;
    struct pass_part *part = state;
    uint64_t too_short = 0;
    for (size_t i = 0; i < LEVELS; i++)
        pass->levels[i] += part->levels[i];
    if (part->given_level != UINT32_MAX)
        pass->given_level = part->given_level;
    array_add_all(&pass->sample, part->sample.elements, part->sample.count);
    array_add_all(&pass->calls->slow, part->slow.elements, part->slow.count);
    cut_longest(&pass->calls->slow, &too_short);
    pass->calls->slow_calls += part->slow_calls;
    pass->calls->slow_time += part->slow_time;
    array_free(&part->active);
    array_free(&part->sample);
    array_free(&part->slow);
    free(part);
}

static bool read_calls(struct call_pass *pass, struct error *error)
{
    const struct part_scanner scanner = {pass, begin_part, scan_part, end_part};
    return scan_parts(pass->index, (struct index_tracks){0}, pass->range, &scanner, error);
}

/* ---- median and usual calls ---- */

static int compare_lengths(const void *left, const void *right)
{
    const struct levelled_call *a = left, *b = right;
    return compare_longest(&b->place, &a->place);
}

static int compare_places(const void *left, const void *right)
{
    return call_place_compare(left, right);
}

static uint32_t choose_level(const struct call_pass *pass)
{
    if (pass->request->given)
        return pass->given_level;
    uint32_t most = 0;
    for (uint32_t level = 0; level < LEVELS; level++) {
        if (pass->levels[level] >= ENOUGH_CALLS)
            return level;
        if (pass->levels[level] > pass->levels[most])
            most = level;
    }
    return most;
}

/* Leaves the sample with the calls of the level, the shortest first. */
static void narrow_sample(struct array *sample, uint32_t level)
{
    struct levelled_call *all = sample->elements;
    size_t kept = 0;
    for (size_t i = 0; i < sample->count; i++)
        if (all[i].level == level)
            all[kept++] = all[i];
    sample->count = kept;
    if (kept > 1)
        qsort(all, kept, sizeof *all, compare_lengths);
}

static void set_limit(const struct slow_calls_request *request, const struct array *sample,
                      struct slow_calls *calls)
{
    const struct levelled_call *middle = array_at(sample, (sample->count - 1) / 2);
    calls->median = length_of(&middle->place);
    double limit = request->factor * (double)calls->median;
    calls->limit = request->limit    ? request->limit
                   : limit < 0x1p+63 ? (uint64_t)limit
                                     : UINT64_MAX / 2;
}

/* Of the calls that are not slow, as many as are kept, evenly over the trace. */
static void pick_usual(const struct call_pass *pass, struct slow_calls *calls)
{
    struct array others = array_of(sizeof(struct call_place));
    for (size_t i = 0; i < pass->sample.count; i++) {
        const struct levelled_call *call = array_at(&pass->sample, i);
        if (length_of(&call->place) <= calls->limit && !is_single(pass, &call->place))
            array_add_all(&others, &call->place, 1);
    }
    if (others.count > 1)
        qsort(others.elements, others.count, others.element_size, compare_places);
    size_t wanted = others.count < USUAL_CALLS_MAX ? others.count : USUAL_CALLS_MAX;
    for (size_t i = 0; i < wanted; i++)
        array_add_all(&calls->usual, array_at(&others, i * others.count / wanted), 1);
    array_free(&others);
}

static void take_single(struct slow_calls *calls, const struct call_place *call)
{
    calls->slow.count = 0;
    array_add_all(&calls->slow, call, 1);
    calls->slow_calls = 1;
    calls->slow_time = length_of(call);
}

/* Where some calls stand far above all others, leaves those: the others are slow by chance, like
 * calls that an interrupt met. They must account for enough of the time. */
static void leave_standing_out(struct slow_calls *calls)
{
    static const double FAR = 3, ENOUGH = 0.2;
    double extra = 0, sum = 0, widest = FAR;
    size_t kept = calls->slow.count;
    for (size_t i = 0; i < calls->slow.count; i++)
        extra += (double)length_of(array_at(&calls->slow, i)) - (double)calls->median;
    for (size_t i = 0; i + 1 < calls->slow.count; i++) {
        double length = (double)length_of(array_at(&calls->slow, i));
        double next = (double)length_of(array_at(&calls->slow, i + 1));
        sum += length - (double)calls->median;
        if (length < widest * next || sum < ENOUGH * extra)
            continue;
        widest = length / next;
        kept = i + 1;
    }
    calls->slow.count = kept;
}

static bool find_slow(struct call_pass *pass, struct error *error)
{
    struct slow_calls *calls = pass->calls;
    pass->is_second = true;
    if (!read_calls(pass, error))
        return false;
    if (!pass->single && calls->slow_calls == 0) {
        const struct levelled_call *last = array_at(&pass->sample, pass->sample.count - 1);
        calls->is_longest = true;
        pass->single = &last->place;
    }
    if (pass->single)
        take_single(calls, pass->single);
    leave_standing_out(calls);
    pick_usual(pass, calls);
    return true;
}

static bool check_calls(const struct call_pass *pass, uint32_t level, struct error *error)
{
    const char *name = trace_index_function(pass->index, pass->request->group).name;
    if (level == UINT32_MAX)
        return error_set(error, ERROR_NOT_FOUND,
                         "the beginning or the end of that call of %s is not in the trace, so its "
                         "length is not known",
                         name);
    if (pass->sample.count >= 2)
        return true;
    return error_set(error, ERROR_NOT_FOUND,
                     "the trace has %s of %s, so there is nothing to compare it with. Ask about a "
                     "function that it calls more often; `magic-trace report` lists them",
                     pass->sample.count ? "only one whole call" : "no whole call", name);
}

bool slow_calls_find(const struct trace_index *index, const struct slow_calls_request *request,
                     struct slow_calls *calls, struct error *error)
{
    *calls = (struct slow_calls){
        .slow = array_of(sizeof(struct call_place)),
        .usual = array_of(sizeof(struct call_place)),
    };
    if (!index_check_group(index, request->group, error))
        return false;
    uint64_t all = trace_index_group_calls(index, request->group);
    struct call_pass pass = {
        .index = index,
        .request = request,
        .range = {0, UINT64_MAX},
        .single = request->given,
        .sampled = all <= SAMPLED_CALLS ? UINT64_MAX : UINT64_MAX / all * SAMPLED_CALLS,
        .sample = array_of(sizeof(struct levelled_call)),
        .given_level = UINT32_MAX,
        .calls = calls,
    };
    bool ok = read_calls(&pass, error);
    if (ok) {
        calls->level = choose_level(&pass);
        narrow_sample(&pass.sample, calls->level);
        ok = check_calls(&pass, calls->level, error);
    }
    if (ok) {
        calls->calls = pass.levels[calls->level];
        set_limit(request, &pass.sample, calls);
        ok = find_slow(&pass, error);
    }
    array_free(&pass.sample);
    return ok;
}

void slow_calls_free(struct slow_calls *calls)
{
    array_free(&calls->slow);
    array_free(&calls->usual);
}
