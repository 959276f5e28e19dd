#include "index/slow_calls.h"

#include "base/memory.h"
#include "index/preempted_time.h"
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
    struct call_place whole_single;  /* what `single` is, when it is in several parts */
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
    struct array split; /* of struct levelled_call: what may be parts of calls */
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

/* Calls of which there may be more parts are taken when all of these are known. */
static void take_span(struct pass_part *part, const struct call_place *call, uint32_t level)
{
    const struct call_pass *pass = part->pass;
    if (trace_index_facts(pass->index)->switches > 0 && split_call_is_part(&call->span)) {
        if (!pass->is_second)
            array_add_all(&part->split, &(struct levelled_call){*call, level}, 1);
    } else if (is_whole_call(&call->span, pass->range)) {
        take_call(part, call, level);
    }
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
            if (range_overlaps(scanned->range, &spans[i]) && part_counts(scanned, &spans[i]))
                take_span(part, &(struct call_place){scanned->track, spans[i]}, level);
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
    part->split = array_of(sizeof(struct levelled_call));
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
    for (size_t i = 0; i < part->split.count; i++) {
        const struct levelled_call *call = array_at(&part->split, i);
        split_calls_add(&pass->calls->split, &call->place, call->level);
    }
    pass->calls->slow_calls += part->slow_calls;
    pass->calls->slow_time += part->slow_time;
    array_free(&part->active);
    array_free(&part->sample);
    array_free(&part->slow);
    array_free(&part->split);
    free(part);
}

/* The call that is asked about may be named by any of its parts. */
static void find_single(struct call_pass *pass)
{
    const struct call_part *part =
        pass->single ? split_calls_first(&pass->calls->split, pass->single) : NULL;
    if (part && split_calls_whole(part, &pass->whole_single))
        pass->single = &pass->whole_single;
}

static void take_split_calls(struct call_pass *pass)
{
    const struct array *parts = &pass->calls->split.parts;
    struct pass_part *taken = begin_part(pass);
    for (size_t i = 0; i < parts->count; i++) {
        const struct call_part *part = array_at(parts, i);
        struct call_place call;
        if (split_calls_whole(part, &call))
            take_call(taken, &call, part->level);
    }
    end_part(pass, taken);
}

static bool read_calls(struct call_pass *pass, struct error *error)
{
    const struct part_scanner scanner = {pass, begin_part, scan_part, end_part};
    if (!scan_parts(pass->index, (struct index_tracks){0}, pass->range, &scanner, error))
        return false;
    if (!pass->is_second) {
        split_calls_join(&pass->calls->split, pass->index);
        find_single(pass);
    }
    take_split_calls(pass);
    return true;
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

/* ---- those that stand out ---- */

struct weighed_call {
    struct call_place place;
    uint64_t weight; /* ns: its length; or that without the time in which it was preempted */
};

static int compare_weights(const void *left, const void *right)
{
    const struct weighed_call *a = left, *b = right;
    if (a->weight != b->weight)
        return a->weight > b->weight ? -1 : 1;
    return call_place_compare(&a->place, &b->place);
}

static double extra_of(uint64_t weight, uint64_t median)
{
    return weight > median ? (double)(weight - median) : 0;
}

/* How many calls stand far above all others, the greatest first: the others are slow by chance, like
 * calls that an interrupt met. They must account for enough of the extra time. 0: none do. */
static size_t count_standing_out(const struct array *weighed, uint64_t median)
{
    static const double FAR = 3, ENOUGH = 0.2;
    const struct weighed_call *all = weighed->elements;
    double extra = 0, sum = 0, widest = FAR;
    size_t kept = 0;
    for (size_t i = 0; i < weighed->count; i++)
        extra += extra_of(all[i].weight, median);
    for (size_t i = 0; i + 1 < weighed->count; i++) {
        sum += extra_of(all[i].weight, median);
        uint64_t next = all[i + 1].weight > median ? all[i + 1].weight : median;
        if ((double)all[i].weight < widest * (double)next || sum < ENOUGH * extra)
            continue;
        widest = (double)all[i].weight / (double)next;
        kept = i + 1;
    }
    return kept;
}

/* Whether calls with the time in which they were preempted are so long that the first `kept` do not
 * matter. */
static bool is_negligible(const struct array *weighed, size_t kept, uint64_t median)
{
    static const double MATTERS = 0.1;
    double extra = 0, sum = 0;
    for (size_t i = 0; i < weighed->count; i++) {
        const struct weighed_call *call = array_at(weighed, i);
        extra += extra_of(length_of(&call->place), median);
        sum += i < kept ? extra_of(length_of(&call->place), median) : 0;
    }
    return sum < MATTERS * extra;
}

static bool weigh(const struct call_pass *pass, bool without_preempted, struct array *weighed,
                  struct error *error)
{
    const struct array *slow = &pass->calls->slow;
    bool ok = true;
    weighed->count = 0;
    for (size_t i = 0; ok && i < slow->count; i++) {
        struct weighed_call *call = array_add(weighed);
        uint64_t preempted = 0;
        call->place = *(struct call_place *)array_at(slow, i);
        if (without_preempted && !split_calls_first(&pass->calls->split, &call->place))
            ok = index_preempted_time(pass->index, &call->place, &preempted, error);
        call->weight = length_of(&call->place) - preempted;
    }
    if (weighed->count > 1)
        qsort(weighed->elements, weighed->count, weighed->element_size, compare_weights);
    return ok;
}

/* Leaves the first `kept`; all those that are not longer than the shortest of these are left out,
 * too, and the longer ones were passed over. */
static void leave_first(struct slow_calls *calls, const struct array *weighed, size_t kept)
{
    uint64_t shortest = UINT64_MAX, too_short = 0;
    calls->slow.count = 0;
    for (size_t i = 0; i < weighed->count; i++) {
        const struct weighed_call *call = array_at(weighed, i);
        uint64_t length = length_of(&call->place);
        if (i < kept)
            array_add_all(&calls->slow, &call->place, 1);
        if (i < kept && length < shortest)
            shortest = length;
        calls->passed_over += i >= kept && length > shortest;
    }
    cut_longest(&calls->slow, &too_short);
}

/* Leaves the calls that stand out. Without the time in which they were preempted, some may that are
 * hidden among others which had to wait for a processor. */
static bool leave_standing_out(const struct call_pass *pass, struct error *error)
{
    struct slow_calls *calls = pass->calls;
    struct array weighed = array_of(sizeof(struct weighed_call));
    bool ok = weigh(pass, true, &weighed, error);
    size_t kept = ok ? count_standing_out(&weighed, calls->median) : 0;
    if (ok && (kept == 0 || is_negligible(&weighed, kept, calls->median))) {
        ok = weigh(pass, false, &weighed, error);
        kept = count_standing_out(&weighed, calls->median);
    }
    if (ok && kept > 0)
        leave_first(calls, &weighed, kept);
    array_free(&weighed);
    return ok;
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
    if (!leave_standing_out(pass, error))
        return false;
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
        .split = split_calls_new(),
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
    split_calls_free(&calls->split);
    array_free(&calls->slow);
    array_free(&calls->usual);
}
