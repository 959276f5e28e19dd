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
    uint64_t length; /* ns that count */
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
    struct array slow; /* of struct levelled_call */
    struct slow_calls *calls;
};

/* What one thread has found. */
struct pass_part {
    const struct call_pass *pass;
    struct array active; /* of struct index_span: calls of the function that enclose the next */
    uint64_t levels[LEVELS];
    struct array sample, slow;
    struct array split; /* of struct levelled_call: what may be parts of calls */
    uint64_t slow_calls, slow_time, preempted_calls, preempted_time;
    uint64_t too_short; /* for `slow` */
    uint32_t given_level;
};

uint64_t slow_calls_left_out(const struct slow_calls *calls, const struct call_place *call)
{
    if (!calls->preempted)
        return 0;
    const struct call_part whole = {.place = *call};
    const struct call_part *part = split_calls_first(&calls->split, call);
    uint64_t left_out = 0;
    for (part = part ? part : &whole; part; part = part->next)
        left_out += off_cpu_times_within(calls->preempted, part->place.track,
                                         call_part_range(part, &part->place.span));
    return left_out;
}

static struct levelled_call measure(const struct call_pass *pass, const struct call_place *call,
                                    uint32_t level)
{
    uint64_t all = call->span.end - call->span.start;
    return (struct levelled_call){*call, all - slow_calls_left_out(pass->calls, call), level};
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
    return pass->single && call->track == pass->single->track &&
           index_is_same_span(&call->span, &pass->single->span);
}

/* Takes the calls that do not enclose the span from `active`: callers come before what they call, in the order of their ends,
 * backwards. Where calls take no time, their times do not show it, but the depths of all spans do: so this is to be asked of those of
 * other functions, too. */
static void leave(struct array *active, const struct index_span *span)
{
    while (active->count > 0) {
        const struct index_span *top = array_at(active, active->count - 1);
        if (span->depth > top->depth && span->start >= top->start)
            break;
        active->count--;
    }
}

/* How many calls of the function enclose the span, which is one. */
static uint32_t enter(struct array *active, const struct index_span *span)
{
    leave(active, span);
    array_add_all(active, span, 1);
    size_t level = active->count - 1;
    return level < LEVELS ? (uint32_t)level : LEVELS - 1;
}

/* ---- the longest ---- */

static int compare_longest(const void *left, const void *right)
{
    const struct levelled_call *a = left, *b = right;
    if (a->length != b->length)
        return a->length > b->length ? -1 : 1;
    return call_place_compare(&a->place, &b->place);
}

static void cut_longest(struct array *slow, uint64_t *too_short)
{
    if (slow->count > 1)
        qsort(slow->elements, slow->count, slow->element_size, compare_longest);
    if (slow->count <= SLOW_CALLS_MAX)
        return;
    slow->count = SLOW_CALLS_MAX;
    *too_short = ((struct levelled_call *)array_at(slow, SLOW_CALLS_MAX - 1))->length;
}

/* ---- a reading of all calls ---- */

static void take_slow(struct pass_part *part, const struct levelled_call *call)
{
    part->slow_calls++;
    part->slow_time += call->length;
    if (call->length < part->too_short)
        return;
    array_add_all(&part->slow, call, 1);
    if (part->slow.count >= CUT_AT)
        cut_longest(&part->slow, &part->too_short);
}

static void take_call(struct pass_part *part, const struct call_place *call, uint32_t level)
{
    const struct call_pass *pass = part->pass;
    if (!pass->is_second) {
        part->levels[level]++;
        if (is_single(pass, call))
            part->given_level = level;
        if (hash_of(call) <= pass->sampled)
            *(struct levelled_call *)array_add(&part->sample) = measure(pass, call, level);
        return;
    }
    uint64_t all = call->span.end - call->span.start;
    if (level != pass->calls->level || all <= pass->calls->limit)
        return;
    const struct levelled_call measured = measure(pass, call, level);
    if (measured.length > pass->calls->limit) {
        take_slow(part, &measured);
    } else {
        part->preempted_calls++;
        part->preempted_time += all - measured.length;
    }
}

/* Calls of which there may be more parts are taken when all of these are known. */
static void take_span(struct pass_part *part, const struct call_place *call, uint32_t level)
{
    const struct call_pass *pass = part->pass;
    if (trace_index_facts(pass->index)->switches > 0 && split_call_is_part(&call->span)) {
        if (!pass->is_second)
            *(struct levelled_call *)array_add(&part->split) =
                (struct levelled_call){.place = *call, .level = level};
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
    scan.only_groups[0] = pass->request->group;
    part->active.count = 0;
    for (size_t count; (count = span_scan_next(&scan, &spans, error)) > 0;)
        for (size_t i = count; i-- > 0;) {
            if (index_group_of(pass->index, spans[i].function) != pass->request->group) {
                leave(&part->active, &spans[i]);
                continue;
            }
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
    part->slow = array_of(sizeof(struct levelled_call));
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
    array_add_all(&pass->slow, part->slow.elements, part->slow.count);
    cut_longest(&pass->slow, &too_short);
    for (size_t i = 0; i < part->split.count; i++) {
        const struct levelled_call *call = array_at(&part->split, i);
        split_calls_add(&pass->calls->split, &call->place, call->level);
    }
    pass->calls->slow_calls += part->slow_calls;
    pass->calls->slow_time += part->slow_time;
    pass->calls->preempted_calls += part->preempted_calls;
    pass->calls->preempted_time += part->preempted_time;
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
    return compare_longest(right, left);
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
    calls->median = middle->length;
    /* Of less than a nanosecond: it counts as one. */
    double limit = request->factor * (double)(calls->median ? calls->median : 1);
    calls->limit = request->limit    ? request->limit
                   : limit < 0x1p+63 ? (uint64_t)limit
                                     : UINT64_MAX / 2;
}

/* Of the calls that are not slow, as many as are kept, evenly over the trace. */
static void pick_usual(const struct call_pass *pass, struct slow_calls *calls)
{
    struct array others = array_of(sizeof(struct call_place));
    bool single_is_left_out = false; /* one call: others without length may be at its place */
    for (size_t i = 0; i < pass->sample.count; i++) {
        const struct levelled_call *call = array_at(&pass->sample, i);
        if (!single_is_left_out && is_single(pass, &call->place))
            single_is_left_out = true;
        else if (call->length <= calls->limit)
            array_add_all(&others, &call->place, 1);
    }
    if (others.count > 1)
        qsort(others.elements, others.count, others.element_size, compare_places);
    size_t wanted = others.count < USUAL_CALLS_MAX ? others.count : USUAL_CALLS_MAX;
    for (size_t i = 0; i < wanted; i++)
        array_add_all(&calls->usual, array_at(&others, i * others.count / wanted), 1);
    array_free(&others);
}

static void take_single(struct call_pass *pass, const struct levelled_call *call)
{
    pass->slow.count = 0;
    array_add_all(&pass->slow, call, 1);
    pass->calls->slow_calls = 1;
    pass->calls->slow_time = call->length;
}

/* ---- those that stand out ---- */

static double extra_of(const struct levelled_call *call, uint64_t median)
{
    return call->length > median ? (double)(call->length - median) : 0;
}

/* How many calls stand far above all others, the longest first: the others are slow by chance, like
 * calls that an interrupt met. They must account for enough of the extra time. All of them: none do. */
static size_t count_standing_out(const struct array *slow, uint64_t median)
{
    static const double FAR = 3, ENOUGH = 0.2;
    const struct levelled_call *all = slow->elements;
    double extra = 0, sum = 0, widest = FAR;
    size_t kept = slow->count;
    for (size_t i = 0; i < slow->count; i++)
        extra += extra_of(&all[i], median);
    for (size_t i = 0; i + 1 < slow->count; i++) {
        sum += extra_of(&all[i], median);
        uint64_t next = all[i + 1].length > median ? all[i + 1].length : median;
        if ((double)all[i].length < widest * (double)next || sum < ENOUGH * extra)
            continue;
        widest = (double)all[i].length / (double)next;
        kept = i + 1;
    }
    return kept;
}

static bool find_slow(struct call_pass *pass, struct error *error)
{
    struct slow_calls *calls = pass->calls;
    pass->is_second = true;
    if (!read_calls(pass, error))
        return false;
    struct levelled_call single;
    if (pass->single) {
        single = measure(pass, pass->single, calls->level);
        take_single(pass, &single);
    } else if (calls->slow_calls == 0) {
        single = *(struct levelled_call *)array_at(&pass->sample, pass->sample.count - 1);
        calls->is_longest = true;
        pass->single = &single.place;
        take_single(pass, &single);
    }
    size_t kept = count_standing_out(&pass->slow, calls->median);
    for (size_t i = 0; i < kept; i++) {
        const struct levelled_call *call = array_at(&pass->slow, i);
        array_add_all(&calls->slow, &call->place, 1);
    }
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

/* `preempted`: the time that does not count; NULL: all counts. */
static bool find(const struct trace_index *index, const struct slow_calls_request *request,
                 struct off_cpu_times *preempted, struct slow_calls *calls, struct error *error)
{
    *calls = (struct slow_calls){
        .split = split_calls_new(),
        .slow = array_of(sizeof(struct call_place)),
        .usual = array_of(sizeof(struct call_place)),
        .preempted = preempted,
    };
    uint64_t all = trace_index_group_calls(index, request->group);
    struct call_pass pass = {
        .index = index,
        .request = request,
        .range = {0, UINT64_MAX},
        .single = request->given,
        .sampled = all <= SAMPLED_CALLS ? UINT64_MAX : UINT64_MAX / all * SAMPLED_CALLS,
        .sample = array_of(sizeof(struct levelled_call)),
        .slow = array_of(sizeof(struct levelled_call)),
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
    array_free(&pass.slow);
    return ok;
}

/* Whether nothing but preemption makes calls slow. */
static bool is_of_preemption(const struct slow_calls_request *request,
                             const struct slow_calls *calls)
{
    enum { TIMES = 9 }; /* the other extra time */
    if (!request->given)
        return calls->is_longest && calls->preempted_calls > 0;
    uint64_t left_out = slow_calls_left_out(calls, request->given);
    uint64_t extra = calls->slow_time > calls->median ? calls->slow_time - calls->median : 0;
    return left_out / TIMES > extra;
}

bool slow_calls_find(const struct trace_index *index, const struct slow_calls_request *request,
                     struct slow_calls *calls, struct error *error)
{
    *calls = (struct slow_calls){0};
    if (!index_check_group(index, request->group, error))
        return false;
    if (!request->counts_preempted) {
        struct off_cpu_times *preempted = off_cpu_times_new(index, OFF_CPU_PREEMPTED);
        bool ok = off_cpu_times_read(preempted, error);
        if (ok && off_cpu_times_known(preempted)) {
            ok = find(index, request, preempted, calls, error);
            if (!ok || !is_of_preemption(request, calls))
                return ok;
            slow_calls_free(calls);
        } else {
            off_cpu_times_free(preempted);
        }
        if (!ok)
            return false;
    }
    return find(index, request, NULL, calls, error);
}

void slow_calls_free(struct slow_calls *calls)
{
    split_calls_free(&calls->split);
    array_free(&calls->slow);
    array_free(&calls->usual);
    off_cpu_times_free(calls->preempted);
}
