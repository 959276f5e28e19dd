/* The calls of one group in a range (function_table.h). */
#include "base/memory.h"
#include "index/function_table.h"
#include "index/scan_parts.h"
#include "index/span_scan.h"

#include <stdlib.h>
#include <string.h>

/* ---- bins ---- */

/* Lengths below 4 have a bin each; above, each power of two has 4. */
unsigned call_bin_of(uint64_t length)
{
    if (length < 4)
        return (unsigned)length;
    unsigned power = 63 - (unsigned)__builtin_clzll(length);
    return 4 * (power - 1) + (unsigned)(length >> (power - 2) & 3);
}

uint64_t call_bin_first(unsigned bin)
{
    if (bin < 4)
        return bin;
    unsigned power = bin / 4 + 1;
    return power > 63 ? UINT64_MAX : (UINT64_C(4) + bin % 4) << (power - 2);
}

/* A bin has 2 to the power of this lengths. */
static unsigned bits_of_bin(unsigned bin)
{
    return bin < 4 ? 0 : bin / 4 - 1;
}

/* ---- one reading of all calls ---- */

struct call_reading {
    const struct trace_index *index;
    struct index_range range;
    uint32_t group;
    size_t state_size;
    /* What is done with each call that overlaps the range; `state` is a thread's, at first 0. */
    void (*take)(const struct call_reading *reading, void *state, const struct call_place *call,
                 bool is_recursive);
    /* An outermost call, for its time in the range, whichever part counts it; or NULL. */
    void (*take_time)(const struct call_reading *reading, void *state,
                      const struct call_place *call, struct index_range range);
    /* Adds a thread's state to `context`. */
    void (*add)(const struct call_reading *reading, void *state);
    void *context;
};

/* What one thread works with. */
struct reading_part {
    const struct call_reading *reading;
    uint64_t state[]; /* a statistic's own, for take() */
};

static void *begin_part(void *context)
{
    const struct call_reading *reading = context;
    struct reading_part *part = memory_allocate_zeroed(sizeof *part + reading->state_size);
    part->reading = reading;
    return part;
}

/* The last call of the group that is inside no other. */
struct outermost_call {
    bool known;
    uint64_t start;
    uint32_t depth;
};

/* Spans come from callers to callees, in the order of their ends, backwards: what begins inside the
 * last outermost call, and deeper, is inside of it, up to a span that is not deeper: times do not order calls that take none. */
static bool is_inside(const struct outermost_call *outermost, const struct index_span *span)
{
    return outermost->known && span->depth > outermost->depth && span->start >= outermost->start;
}

static void take_call(struct reading_part *part, const struct scan_part *scanned,
                      const struct index_span *span, struct outermost_call *outermost)
{
    const struct call_reading *reading = part->reading;
    bool is_recursive = is_inside(outermost, span);
    if (!is_recursive)
        *outermost = (struct outermost_call){true, span->start, span->depth};
    if (!range_overlaps(scanned->range, span))
        return;
    if (!is_recursive && reading->take_time)
        reading->take_time(reading, part->state, &(struct call_place){scanned->track, *span},
                           scanned->range);
    if (part_counts(scanned, span))
        reading->take(reading, part->state, &(struct call_place){scanned->track, *span},
                      is_recursive);
}

static bool scan_part(void *state, const struct scan_part *scanned, struct error *error)
{
    struct reading_part *part = state;
    const struct call_reading *reading = part->reading;
    const struct index_span *spans;
    struct outermost_call outermost = {0};
    struct span_scan scan = span_scan_begin(reading->index, scanned->track, scanned->range);
    scan.only_groups[0] = reading->group;
    for (size_t count; (count = span_scan_next(&scan, &spans, error)) > 0;)
        for (size_t i = count; i-- > 0;)
            if (index_group_of(reading->index, spans[i].function) == reading->group)
                take_call(part, scanned, &spans[i], &outermost);
            else if (spans[i].depth <= outermost.depth)
                outermost.known = false;
    return span_scan_end(&scan);
}

static void end_part(void *context, void *state)
{
    const struct call_reading *reading = context;
    struct reading_part *part = state;
    reading->add(reading, part->state);
    free(part);
}

static bool read_calls(struct call_reading *reading, struct index_tracks tracks,
                       struct error *error)
{
    const struct part_scanner scanner = {reading, begin_part, scan_part, end_part};
    return scan_parts(reading->index, tracks, reading->range, &scanner, error);
}

/* ---- figures and the longest ---- */

struct figures {
    const struct calls_request *request;
    struct call_statistics *statistics;
};

/* What one thread has found. */
struct found_figures {
    struct call_statistics statistics;
    uint64_t too_short;      /* calls shorter than that are not among the longest */
    struct call_cell *cells; /* of the map, by column and bin; made with the first call */
};

static uint64_t length_of(const struct call_place *call)
{
    return call->span.end - call->span.start;
}

/* What calls are listed by. */
static uint64_t listed_length(const struct listed_call *call, bool by_on_cpu)
{
    return length_of(&call->place) - (by_on_cpu ? call->off_cpu : 0);
}

static int compare_listed(const void *left, const void *right, void *context)
{
    const struct calls_request *request = context;
    const struct listed_call *a = left, *b = right;
    uint64_t first = listed_length(a, request->by_on_cpu);
    uint64_t second = listed_length(b, request->by_on_cpu);
    if (first != second)
        return first > second ? -1 : 1;
    return call_place_compare(&a->place, &b->place);
}

static void cut_slowest(struct array *slowest, const struct calls_request *request)
{
    if (slowest->count > 1)
        qsort_r(slowest->elements, slowest->count, slowest->element_size, compare_listed,
                (void *)request);
    if (slowest->count > request->slowest)
        slowest->count = request->slowest;
}

static uint64_t off_cpu_of(const struct calls_request *request, const struct call_place *call)
{
    return off_cpu_times_within(request->off_cpu, call->track,
                                (struct index_range){call->span.start, call->span.end});
}

/* Keeps the longest, in any order until there are twice as many as wanted. Of equally long ones the
 * first counts, so those that are as long as the shortest kept must be looked at, too. */
static void offer_slowest(struct found_figures *found, const struct call_place *call,
                          const struct calls_request *request)
{
    enum { ROOM = 256 };
    const size_t wanted = request->slowest;
    const uint64_t length = length_of(call);
    struct array *slowest = &found->statistics.slowest;
    struct listed_call listed = {.place = *call};
    slowest->element_size = sizeof listed;
    if (wanted == 0 || length < found->too_short)
        return;
    if (request->lengths.to && (length < request->lengths.from || length >= request->lengths.to ||
                                !is_whole_call(&call->span, request->range)))
        return;
    if (request->by_on_cpu)
        listed.off_cpu = off_cpu_of(request, call);
    array_add_all(slowest, &listed, 1);
    if (slowest->count < 2 * wanted + ROOM)
        return;
    cut_slowest(slowest, request);
    found->too_short = listed_length(array_at(slowest, wanted - 1), request->by_on_cpu);
}

static void keep_longer(struct call_cell *cell, const struct call_place *call)
{
    uint64_t length = length_of(call), longest = length_of(&cell->longest);
    if (cell->calls == 0 || length > longest ||
        (length == longest && call_place_compare(call, &cell->longest) < 0))
        cell->longest = *call;
}

static void put_into_map(struct found_figures *found, const struct figures *figures,
                         const struct call_place *call)
{
    const struct calls_request *request = figures->request;
    if (!found->cells)
        found->cells =
            memory_allocate_zeroed(sizeof *found->cells * CALL_BINS * (size_t)request->columns);
    uint64_t column = (call->span.start - request->range.from) / figures->statistics->column;
    struct call_cell *cell =
        &found->cells[column * CALL_BINS + call_bin_of(call->span.end - call->span.start)];
    keep_longer(cell, call);
    cell->calls++;
}

static void add_map(struct array *map, const struct call_cell *cells, uint32_t columns)
{
    struct array sum = array_of(sizeof(struct call_cell));
    size_t before = 0;
    for (size_t i = 0; i < (size_t)columns * CALL_BINS; i++) {
        const struct call_cell *known = before < map->count ? array_at(map, before) : NULL;
        bool is_known = known && (size_t)known->column * CALL_BINS + known->bin == i;
        before += is_known;
        if (!is_known && cells[i].calls == 0)
            continue;
        struct call_cell cell = is_known ? *known
                                         : (struct call_cell){.column = (uint32_t)(i / CALL_BINS),
                                                              .bin = i % CALL_BINS};
        if (cells[i].calls > 0)
            keep_longer(&cell, &cells[i].longest);
        cell.calls += cells[i].calls;
        array_add_all(&sum, &cell, 1);
    }
    array_free(map);
    *map = sum;
}

static void take_open_time(const struct call_reading *reading, void *state,
                           const struct call_place *call, struct index_range range)
{
    const struct calls_request *request = ((const struct figures *)reading->context)->request;
    struct found_figures *found = state;
    found->statistics.total += range_clip(range, &call->span);
    if (request->off_cpu) {
        struct call_place clipped = *call;
        clipped.span.start = call->span.start > range.from ? call->span.start : range.from;
        clipped.span.end = call->span.end < range.to ? call->span.end : range.to;
        found->statistics.off_cpu += off_cpu_of(request, &clipped);
    }
}

static void take_figures(const struct call_reading *reading, void *state,
                         const struct call_place *call, bool is_recursive)
{
    const struct figures *figures = reading->context;
    struct found_figures *found = state;
    struct call_statistics *statistics = &found->statistics;
    uint64_t length = call->span.end - call->span.start;
    statistics->calls++;
    statistics->recursive += is_recursive;
    offer_slowest(found, call, figures->request);
    if (!is_whole_call(&call->span, reading->range))
        return;
    if (statistics->whole == 0 || length < statistics->min)
        statistics->min = length;
    if (length > statistics->max)
        statistics->max = length;
    statistics->whole++;
    statistics->sum += length;
    statistics->bins[call_bin_of(length)]++;
    if (figures->request->columns)
        put_into_map(found, figures, call);
}

static void add_figures(const struct call_reading *reading, void *state)
{
    const struct figures *figures = reading->context;
    struct call_statistics *all = figures->statistics;
    struct call_statistics *found = &((struct found_figures *)state)->statistics;
    struct call_cell *cells = ((struct found_figures *)state)->cells;
    all->calls += found->calls;
    all->recursive += found->recursive;
    all->total += found->total;
    all->off_cpu += found->off_cpu;
    if (found->whole > 0 && (all->whole == 0 || found->min < all->min))
        all->min = found->min;
    if (found->max > all->max)
        all->max = found->max;
    all->whole += found->whole;
    all->sum += found->sum;
    for (unsigned i = 0; i < CALL_BINS; i++)
        all->bins[i] += found->bins[i];
    array_add_all(&all->slowest, found->slowest.elements, found->slowest.count);
    array_free(&found->slowest);
    cut_slowest(&all->slowest, figures->request);
    if (cells)
        add_map(&all->map, cells, figures->request->columns);
    free(cells);
}

/* ---- quantiles ---- */

/* A quantile's bin is known from the first reading, and each further one divides the lengths that it may have: it counts
 * how many calls have which of the next binary digits. So memory does not grow with the calls, and one more reading
 * is enough for most. */
enum { DIGIT_BITS = 12, DIGITS = 1 << DIGIT_BITS, QUANTILES = 2 };

/* Lengths from `first` on, 2 to the power of `bits` of them: one of these is the quantile. */
struct quantile_search {
    uint64_t first;
    unsigned bits;
    uint64_t ordinal; /* of the call among those with these lengths, from 1 */
};

struct digit_counts {
    uint64_t counts[QUANTILES][DIGITS];
};

struct digit_reading {
    struct quantile_search quantiles[QUANTILES];
    struct digit_counts *counts;
};

static unsigned shift_of(const struct quantile_search *quantile)
{
    return quantile->bits > DIGIT_BITS ? quantile->bits - DIGIT_BITS : 0;
}

static void take_digit(const struct call_reading *reading, void *state,
                       const struct call_place *call, bool is_recursive)
{
    (void)is_recursive;
    const struct digit_reading *digits = reading->context;
    struct digit_counts *counts = state;
    if (!is_whole_call(&call->span, reading->range))
        return;
    for (unsigned i = 0; i < QUANTILES; i++) {
        const struct quantile_search *quantile = &digits->quantiles[i];
        uint64_t offset = length_of(call) - quantile->first;
        if (offset >> quantile->bits == 0)
            counts->counts[i][offset >> shift_of(quantile)]++;
    }
}

static void add_digits(const struct call_reading *reading, void *state)
{
    const struct digit_reading *digits = reading->context;
    const struct digit_counts *counts = state;
    for (unsigned i = 0; i < QUANTILES; i++)
        for (unsigned digit = 0; digit < DIGITS; digit++)
            digits->counts->counts[i][digit] += counts->counts[i][digit];
}

/* The first of the counts that, with those before, has the call of that ordinal; *ordinal becomes that among its calls. */
static unsigned find_ordinal(const uint64_t *counts, unsigned count, uint64_t *ordinal)
{
    unsigned found = 0;
    while (found < count - 1 && counts[found] < *ordinal)
        *ordinal -= counts[found++];
    return found;
}

static struct quantile_search search_in_bin(const uint64_t *bins, uint64_t ordinal)
{
    unsigned bin = find_ordinal(bins, CALL_BINS, &ordinal);
    return (struct quantile_search){call_bin_first(bin), bits_of_bin(bin), ordinal};
}

static void narrow(struct quantile_search *quantile, const uint64_t *counts)
{
    unsigned shift = shift_of(quantile);
    quantile->first += (uint64_t)find_ordinal(counts, DIGITS, &quantile->ordinal) << shift;
    quantile->bits = shift;
}

static bool find_quantiles(struct call_reading *reading, struct index_tracks tracks,
                           struct call_statistics *statistics, struct error *error)
{
    uint64_t whole = statistics->whole;
    struct digit_reading digits = {
        {search_in_bin(statistics->bins, (whole + 1) / 2),
         search_in_bin(statistics->bins, whole - whole / 100)},
        memory_allocate(sizeof *digits.counts),
    };
    reading->state_size = sizeof *digits.counts;
    reading->take = take_digit;
    reading->take_time = NULL;
    reading->add = add_digits;
    reading->context = &digits;
    bool ok = true;
    while (ok && (digits.quantiles[0].bits > 0 || digits.quantiles[1].bits > 0)) {
        memset(digits.counts, 0, sizeof *digits.counts);
        ok = read_calls(reading, tracks, error);
        for (unsigned i = 0; i < QUANTILES; i++)
            narrow(&digits.quantiles[i], digits.counts->counts[i]);
    }
    statistics->median = digits.quantiles[0].first;
    statistics->p99 = digits.quantiles[1].first;
    free(digits.counts);
    return ok;
}

static uint64_t column_width(const struct trace_index *index, struct index_range range,
                             uint32_t columns)
{
    uint64_t end = trace_index_facts(index)->duration + 1;
    uint64_t to = range.to < end ? range.to : end;
    return (to > range.from ? to - range.from : 0) / columns + 1;
}

bool index_calls(const struct trace_index *index, const struct calls_request *request,
                 struct call_statistics *statistics, struct error *error)
{
    const struct index_range range = request->range;
    *statistics = (struct call_statistics){.slowest = array_of(sizeof(struct listed_call)),
                                           .map = array_of(sizeof(struct call_cell))};
    if (!index_check_group(index, request->group, error) ||
        (request->off_cpu && !off_cpu_times_read(request->off_cpu, error)))
        return false;
    if (request->columns)
        statistics->column = column_width(index, range, request->columns);
    struct figures figures = {request, statistics};
    struct call_reading reading = {
        .index = index,
        .range = range,
        .group = request->group,
        .state_size = sizeof(struct found_figures),
        .take = take_figures,
        .take_time = take_open_time,
        .add = add_figures,
        .context = &figures,
    };
    if (!read_calls(&reading, request->tracks, error))
        return false;
    for (size_t i = 0; request->off_cpu && i < statistics->slowest.count; i++) {
        struct listed_call *listed = array_at(&statistics->slowest, i);
        listed->off_cpu = off_cpu_of(request, &listed->place);
    }
    return statistics->whole == 0 || find_quantiles(&reading, request->tracks, statistics, error);
}

void call_statistics_free(struct call_statistics *statistics)
{
    array_free(&statistics->slowest);
    array_free(&statistics->map);
}
