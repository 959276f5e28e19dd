#include "index/function_quantiles.h"

#include "base/memory.h"
#include "index/scan_parts.h"
#include "index/span_scan.h"

#include <stdlib.h>
#include <string.h>

/* Bins: lengths below 256 have one each; above, each power of two has 128. */
enum { LINEAR_BITS = 8, BINS_OF_POWER = 1 << (LINEAR_BITS - 1) };

static unsigned bin_of(uint64_t length)
{
    if (length < 1 << LINEAR_BITS)
        return (unsigned)length;
    unsigned power = 63 - (unsigned)__builtin_clzll(length);
    unsigned shift = power - (LINEAR_BITS - 1);
    return shift * BINS_OF_POWER + (unsigned)(length >> shift);
}

/* A bin's lengths agree above their lowest bits: how many these are, and the first length. */
static unsigned bits_of_bin(unsigned bin)
{
    return bin < 2 * BINS_OF_POWER ? 0 : bin / BINS_OF_POWER - 1;
}

static uint64_t first_of_bin(unsigned bin)
{
    unsigned bits = bits_of_bin(bin);
    return (uint64_t)(bin - bits * BINS_OF_POWER) << bits;
}

/* What is searched: of a function's lengths from `first` on that agree with it above the lowest
 * `bits` bits, the one with this ordinal, counted from 1. */
enum { DIGIT_BITS = 10 };

struct quantile {
    uint64_t first, ordinal;
    unsigned bits; /* 0: found */
};

/* A function with its counts; in the first reading one table of counts serves all quantiles. */
enum { FIRST_READING = 0 };

struct searched_function {
    uint64_t calls;
    struct quantile quantiles[FUNCTION_QUANTILES];
    size_t counts[FUNCTION_QUANTILES]; /* where its counts begin in a thread's table */
    size_t count_size[FUNCTION_QUANTILES];
};

struct search {
    const struct trace_index *index;
    struct index_range range;
    struct quantiles_request request;
    uint32_t *function_of;               /* by group; UINT32_MAX: none. Owned */
    struct searched_function *functions; /* owned */
    size_t function_count;
    bool is_first;    /* reading, in bins */
    size_t counts;    /* size of a table */
    uint32_t *totals; /* the table of all threads; owned */
};

struct search_part {
    const struct search *search;
    uint32_t counts[];
};

/* ---- one reading ---- */

static void count_length(const struct search *search, uint32_t *counts, uint64_t length,
                         const struct searched_function *function)
{
    if (search->is_first) {
        counts[function->counts[FIRST_READING] + bin_of(length)]++;
        return;
    }
    for (unsigned i = 0; i < FUNCTION_QUANTILES; i++) {
        const struct quantile *quantile = &function->quantiles[i];
        if (quantile->bits > 0 && (length ^ quantile->first) >> quantile->bits == 0) {
            unsigned shift = quantile->bits > DIGIT_BITS ? quantile->bits - DIGIT_BITS : 0;
            counts[function->counts[i] + ((length - quantile->first) >> shift)]++;
        }
    }
}

static bool is_wanted(const struct search *search, const struct index_span *span)
{
    return search->request.all_calls || is_whole_call(span, search->range);
}

static bool scan_part(void *state, const struct scan_part *scanned, struct error *error)
{
    struct search_part *part = state;
    const struct search *search = part->search;
    const struct index_span *spans;
    struct span_scan scan = span_scan_begin(search->index, scanned->track, scanned->range);
    for (size_t count; (count = span_scan_next(&scan, &spans, error)) > 0;)
        for (size_t i = 0; i < count; i++) {
            const struct index_span *span = &spans[i];
            uint32_t number = search->function_of[index_group_of(search->index, span->function)];
            if (number != UINT32_MAX && is_wanted(search, span) &&
                range_overlaps(scanned->range, span) && part_counts(scanned, span))
                count_length(search, part->counts, span->end - span->start,
                             &search->functions[number]);
        }
    return span_scan_end(&scan);
}

static void *begin_part(void *context)
{
    const struct search *search = context;
    struct search_part *part =
        memory_allocate_zeroed(sizeof *part + search->counts * sizeof *part->counts);
    part->search = search;
    return part;
}

static void end_part(void *context, void *state)
{
    struct search *search = context;
    struct search_part *part = state;
    for (size_t i = 0; i < search->counts; i++)
        search->totals[i] += part->counts[i];
    free(part);
}

/* ---- between readings ---- */

/* Every function gets its places in the tables. */
static void place_first(struct search *search, const struct array *rows)
{
    search->counts = 0;
    for (size_t i = 0; i < search->function_count; i++) {
        const struct function_row *row = array_at(rows, i);
        struct searched_function *function = &search->functions[i];
        function->counts[FIRST_READING] = search->counts;
        uint64_t max =
            search->request.all_calls && row->cut_max > row->max ? row->cut_max : row->max;
        function->count_size[FIRST_READING] = function->calls > 0 ? bin_of(max) + 1 : 0;
        search->counts += function->count_size[FIRST_READING];
    }
}

static void place_next(struct search *search)
{
    search->counts = 0;
    for (size_t i = 0; i < search->function_count; i++)
        for (unsigned j = 0; j < FUNCTION_QUANTILES; j++) {
            struct searched_function *function = &search->functions[i];
            unsigned bits = function->quantiles[j].bits;
            function->counts[j] = search->counts;
            function->count_size[j] =
                bits > 0 ? (size_t)1 << (bits < DIGIT_BITS ? bits : DIGIT_BITS) : 0;
            search->counts += function->count_size[j];
        }
}

/* The element of the counts in which the quantile lies, whose ordinal becomes that in it. */
static unsigned find_count(const uint32_t *counts, size_t size, struct quantile *quantile)
{
    unsigned found = 0;
    while (found + 1 < size && counts[found] < quantile->ordinal)
        quantile->ordinal -= counts[found++];
    return found;
}

static bool is_asked_for(const struct search *search, unsigned quantile)
{
    return search->request.wanted >> quantile & 1;
}

static void narrow_first(struct search *search)
{
    for (size_t i = 0; i < search->function_count; i++) {
        struct searched_function *function = &search->functions[i];
        const uint32_t *counts = search->totals + function->counts[FIRST_READING];
        for (unsigned j = 0; j < FUNCTION_QUANTILES && function->calls > 0; j++) {
            if (!is_asked_for(search, j))
                continue;
            unsigned bin =
                find_count(counts, function->count_size[FIRST_READING], &function->quantiles[j]);
            function->quantiles[j].first = first_of_bin(bin);
            function->quantiles[j].bits = bits_of_bin(bin);
        }
    }
}

static void narrow_next(struct search *search)
{
    for (size_t i = 0; i < search->function_count; i++)
        for (unsigned j = 0; j < FUNCTION_QUANTILES; j++) {
            struct searched_function *function = &search->functions[i];
            struct quantile *quantile = &function->quantiles[j];
            if (quantile->bits == 0)
                continue;
            unsigned shift = quantile->bits > DIGIT_BITS ? quantile->bits - DIGIT_BITS : 0;
            uint64_t digit =
                find_count(search->totals + function->counts[j], function->count_size[j], quantile);
            quantile->first += digit << shift;
            quantile->bits = shift;
        }
}

/* ---- the whole ---- */

static bool read_once(struct search *search, struct index_tracks tracks, struct error *error)
{
    const struct part_scanner scanner = {search, begin_part, scan_part, end_part};
    free(search->totals);
    search->totals = memory_allocate_zeroed((search->counts + 1) * sizeof *search->totals);
    return scan_parts(search->index, tracks, search->range, &scanner, error);
}

static const unsigned PER_MILLE[FUNCTION_QUANTILES] = {
    [QUANTILE_MEDIAN] = 500, [QUANTILE_P90] = 900,  [QUANTILE_P95] = 950,
    [QUANTILE_P99] = 990,    [QUANTILE_P999] = 999,
};

/* Counted from 1: count * per_mille / 1000, rounded up. */
static uint64_t nearest_rank(uint64_t count, unsigned per_mille)
{
    return count - count / 1000 * (1000 - per_mille) - count % 1000 * (1000 - per_mille) / 1000;
}

static void init(struct search *search, const struct array *rows)
{
    uint32_t groups = search->index->facts.functions;
    search->function_count = rows->count;
    search->functions = memory_allocate_zeroed((rows->count + 1) * sizeof *search->functions);
    search->function_of = memory_allocate((groups + 1) * sizeof *search->function_of);
    memset(search->function_of, 0xff, (groups + 1) * sizeof *search->function_of);
    for (size_t i = 0; i < rows->count; i++) {
        const struct function_row *row = array_at(rows, i);
        search->function_of[row->group] = (uint32_t)i;
        uint64_t calls = search->request.all_calls ? row->calls : row->whole;
        search->functions[i].calls = calls;
        for (unsigned j = 0; j < FUNCTION_QUANTILES; j++)
            search->functions[i].quantiles[j].ordinal = nearest_rank(calls, PER_MILLE[j]);
    }
}

bool index_function_quantiles(const struct trace_index *index, struct index_tracks tracks,
                              struct index_range range, struct quantiles_request request,
                              const struct array *rows, struct function_quantiles *quantiles,
                              struct error *error)
{
    struct search search = {.index = index, .range = range, .request = request, .is_first = true};
    init(&search, rows);
    place_first(&search, rows);
    bool ok = read_once(&search, tracks, error);
    narrow_first(&search);
    search.is_first = false;
    for (place_next(&search); ok && search.counts > 0; place_next(&search)) {
        ok = read_once(&search, tracks, error);
        narrow_next(&search);
    }
    for (size_t i = 0; i < rows->count; i++)
        for (unsigned j = 0; j < FUNCTION_QUANTILES; j++)
            quantiles[i].values[j] = search.functions[i].quantiles[j].first;
    free(search.functions);
    free(search.function_of);
    free(search.totals);
    return ok;
}
