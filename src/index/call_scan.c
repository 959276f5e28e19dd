#include "index/call_scan.h"

#include "base/memory.h"
#include "index/file/index_reader.h"

#include <stdlib.h>
#include <string.h>

enum { NO_CHUNK = UINT32_MAX };

/* ---- numbers ---- */

struct call_numbers {
    const struct trace_index *index;
    uint32_t chunks; /* of spans, of all tracks */
    /* By chunk: how many spans lie in the chunks before it; one more at the end. Owned */
    uint64_t *before;
    uint64_t *of_crossing;   /* by crossing span; 0: not searched yet. Owned */
    struct index_span *room; /* of a chunk; owned */
};

struct call_numbers *call_numbers_new(const struct trace_index *index)
{
    struct call_numbers *numbers = memory_allocate(sizeof *numbers);
    const struct section_place *sections = index->header->sections;
    size_t chunks = sections[SECTION_SIEVES].count;
    *numbers = (struct call_numbers){
        .index = index,
        .chunks = (uint32_t)chunks,
        .before = memory_allocate((chunks + 1) * sizeof *numbers->before),
        .of_crossing = memory_allocate_zeroed((sections[SECTION_CROSSING].count + 1) *
                                              sizeof *numbers->of_crossing),
        .room = memory_allocate(INDEX_CHUNK_ITEMS * sizeof *numbers->room),
    };
    numbers->before[0] = 0;
    for (size_t i = 0; i < chunks; i++)
        numbers->before[i + 1] = numbers->before[i] + index->chunks[i].count;
    return numbers;
}

void call_numbers_free(struct call_numbers *numbers)
{
    free(numbers->before);
    free(numbers->of_crossing);
    free(numbers->room);
    free(numbers);
}

static uint64_t before_track(const struct call_numbers *numbers, uint32_t track)
{
    return numbers->before[numbers->index->tracks[track].first_chunk];
}

uint64_t call_numbers_of(const struct call_numbers *numbers, uint32_t track, uint64_t ended)
{
    return before_track(numbers, track) + ended + 1;
}

uint64_t call_numbers_ended(const struct call_numbers *numbers, uint32_t track, uint64_t number)
{
    return number - 1 - before_track(numbers, track);
}

/* The first chunk that has a span with this number or a greater one. */
static uint32_t chunk_of_number(const struct call_numbers *numbers, uint64_t number)
{
    uint32_t low = 0, high = numbers->chunks;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (numbers->before[middle + 1] < number)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool is_same(const struct index_span *a, const struct index_span *b)
{
    return a->start == b->start && a->end == b->end && a->depth == b->depth &&
           a->function == b->function;
}

/* Searches the chunks that have spans with that end; 0: no chunk has, so the index is damaged. */
static bool find_number(struct call_numbers *numbers, const struct chunk_run *run,
                        const struct index_span *span, uint64_t *number, struct error *error)
{
    const struct trace_index *index = numbers->index;
    for (size_t chunk = chunk_run_find(run, span->end);
         chunk < run->count && run->chunks[chunk].first_end <= span->end; chunk++) {
        if (!index_read_spans(index, run, chunk, numbers->room, error))
            return false;
        for (uint32_t i = 0; i < run->chunks[chunk].count; i++)
            if (is_same(&numbers->room[i], span)) {
                *number = numbers->before[&run->chunks[chunk] - index->chunks] + i + 1;
                return true;
            }
    }
    return index_damaged(index, error);
}

/* ---- what is read ---- */

/* A call that is open at the end of a chunk. */
struct open_call {
    uint32_t crossing; /* its number among the index's crossing spans */
    struct index_span span;
    uint64_t self;
};

/* Where a call's caller stands: below INDEX_CHUNK_ITEMS in the same chunk; from there on among the
 * calls that are open at the chunk's end. */
enum { NO_CALLER = UINT32_MAX };

struct call_scan {
    struct call_numbers *numbers;
    struct call_bounds bounds;
    uint32_t first_chunk, last_chunk; /* of the whole index: that of the bounds' numbers */
    uint32_t next_track;
    struct array chunks; /* of uint32_t: those of the track that are to be read, ascending */
    size_t next_chunk;
    uint32_t track, loaded; /* the chunk in `spans`, among those of the whole index; or NO_CHUNK */
    uint32_t remembered;    /* the first chunk that need not be forgotten (index_forget_chunks()) */
    struct chunk_run run;   /* of the track */
    uint32_t at, count;     /* in `spans`: that of the next call, and their number */
    struct index_span *spans; /* owned, as the following */
    uint64_t *self;
    uint32_t *callers;
    bool has_self, has_callers; /* of the chunk that is loaded */
    struct array open_before;   /* of struct open_call: at the end of the chunk before */
    struct array open;          /* the same, at the end of this one; innermost first */
    struct array path;          /* by depth, while callers are searched and sums made */
};

struct call_bounds call_bounds_all(void)
{
    const struct call_bound any = {0, UINT64_MAX};
    return (struct call_bounds){
        .number = any,
        .start = any,
        .end = any,
        .duration = any,
        .group = CALL_ANY,
        .depth = CALL_ANY,
    };
}

struct call_scan *call_scan_new(struct call_numbers *numbers)
{
    struct call_scan *scan = memory_allocate(sizeof *scan);
    *scan = (struct call_scan){
        .numbers = numbers,
        .chunks = array_of(sizeof(uint32_t)),
        .loaded = NO_CHUNK,
        .spans = memory_allocate(INDEX_CHUNK_ITEMS * sizeof *scan->spans),
        .self = memory_allocate(INDEX_CHUNK_ITEMS * sizeof *scan->self),
        .callers = memory_allocate(INDEX_CHUNK_ITEMS * sizeof *scan->callers),
        .open_before = array_of(sizeof(struct open_call)),
        .open = array_of(sizeof(struct open_call)),
        .path = array_of(sizeof(uint64_t)),
    };
    return scan;
}

void call_scan_free(struct call_scan *scan)
{
    array_free(&scan->chunks);
    array_free(&scan->open_before);
    array_free(&scan->open);
    array_free(&scan->path);
    free(scan->spans);
    free(scan->self);
    free(scan->callers);
    free(scan);
}

/* ---- which chunks may hold calls within the bounds ---- */

static uint64_t sum_or_max(uint64_t a, uint64_t b)
{
    uint64_t sum;
    return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

static bool is_within(struct call_bound bound, uint64_t value)
{
    return value >= bound.min && value <= bound.max;
}

/* Each of start, end and duration bounds the others. */
static bool narrow(struct call_bounds *bounds)
{
    uint64_t first_end = sum_or_max(bounds->start.min, bounds->duration.min);
    uint64_t last_end = sum_or_max(bounds->start.max, bounds->duration.max);
    if (bounds->end.min < first_end)
        bounds->end.min = first_end;
    if (bounds->end.max > last_end)
        bounds->end.max = last_end;
    if (bounds->start.max > bounds->end.max)
        bounds->start.max = bounds->end.max;
    return bounds->start.min <= bounds->start.max && bounds->end.min <= bounds->end.max &&
           bounds->duration.min <= bounds->duration.max && bounds->number.min <= bounds->number.max;
}

/* Chunks are offered in ascending order. */
static void offer_chunk(struct call_scan *scan, size_t chunk)
{
    const struct trace_index *index = scan->numbers->index;
    uint32_t number = (uint32_t)(&scan->run.chunks[chunk] - index->chunks);
    const uint32_t *last =
        scan->chunks.count ? array_at(&scan->chunks, scan->chunks.count - 1) : NULL;
    if ((last && *last >= number) || number < scan->first_chunk || number > scan->last_chunk ||
        (scan->bounds.group != CALL_ANY &&
         !index_may_hold(index, &scan->run, chunk, scan->bounds.group)))
        return;
    *(uint32_t *)array_add(&scan->chunks) = number;
}

/* The chunks in which calls may lie that end at `end`. */
static void offer_end(struct call_scan *scan, uint64_t end)
{
    for (size_t chunk = chunk_run_find(&scan->run, end);
         chunk < scan->run.count && scan->run.chunks[chunk].first_end <= end; chunk++)
        offer_chunk(scan, chunk);
}

static bool may_be(const struct call_bounds *bounds, uint64_t start, uint64_t end)
{
    return is_within(bounds->start, start) && is_within(bounds->end, end) &&
           is_within(bounds->duration, end - start);
}

static void offer_chunks(struct call_scan *scan, size_t first, size_t last)
{
    const struct chunk_run *run = &scan->run;
    for (size_t chunk = first; chunk < run->count && chunk <= last &&
                               run->chunks[chunk].first_end <= scan->bounds.end.max;
         chunk++)
        offer_chunk(scan, chunk);
}

/* What begins up to a moment ends in the first chunk that ends later, or before it, or is open at
 * its end. */
static bool offer_by_time(struct call_scan *scan, size_t first, size_t last, struct error *error)
{
    const struct chunk_run *run = &scan->run;
    offer_chunks(scan, first, last);
    if (last >= run->count || run->chunks[last].last_end > scan->bounds.end.max)
        return true;
    struct crossing_walk walk = crossing_walk_begin(scan->numbers->index, run, last);
    for (struct index_span span; crossing_walk_next(&walk, &span);)
        if (may_be(&scan->bounds, span.start, span.end))
            offer_end(scan, span.end);
    return !walk.damaged || index_damaged(scan->numbers->index, error);
}

/* A level of detail has each call that is at least as long as its resolution as a tile of its own.
 */
static bool offer_long(struct call_scan *scan, const struct chunk_run *level, struct error *error)
{
    const struct call_bounds *bounds = &scan->bounds;
    struct tile_item *tiles = memory_allocate(INDEX_CHUNK_ITEMS * sizeof *tiles);
    bool ok = true;
    for (size_t chunk = chunk_run_find(level, bounds->end.min);
         ok && chunk < level->count && level->chunks[chunk].first_end <= bounds->end.max; chunk++) {
        ok = index_read_tiles(scan->numbers->index, level, chunk, tiles, error);
        for (uint32_t i = 0; ok && i < level->chunks[chunk].count; i++)
            if (tiles[i].spans == 1 && may_be(bounds, tiles[i].start, tiles[i].end))
                offer_end(scan, tiles[i].end);
    }
    free(tiles);
    return ok;
}

static bool choose_chunks(struct call_scan *scan, uint32_t track, struct error *error)
{
    /* With fewer chunks, a level of detail is not worth reading. */
    enum { MANY_CHUNKS = 16 };
    const struct call_bounds *bounds = &scan->bounds;
    const struct trace_index *index = scan->numbers->index;
    scan->chunks.count = scan->next_chunk = 0;
    scan->track = track;
    scan->run = index_spans_of(index, track);
    uint32_t base = (uint32_t)(scan->run.chunks - index->chunks);
    if (scan->run.count == 0 || base > scan->last_chunk)
        return true;
    size_t first = chunk_run_find(&scan->run, bounds->end.min);
    size_t last = chunk_run_find(&scan->run, sum_or_max(bounds->start.max, 1));
    if (scan->first_chunk > base && first < scan->first_chunk - base)
        first = scan->first_chunk - base;
    if (scan->last_chunk < scan->numbers->chunks && last >= scan->last_chunk - base) {
        offer_chunks(scan, first, scan->last_chunk - base);
        return true;
    }
    if (bounds->duration.min > 1 && last - first >= MANY_CHUNKS) {
        unsigned shift = 63 - (unsigned)__builtin_clzll(bounds->duration.min);
        const struct chunk_run level = index_level_of(index, track, shift);
        if (!level.is_spans)
            return offer_long(scan, &level, error);
    }
    return offer_by_time(scan, first, last, error);
}

/* ---- going from call to call ---- */

void call_scan_begin(struct call_scan *scan, const struct call_bounds *bounds)
{
    scan->bounds = *bounds;
    scan->chunks.count = scan->next_chunk = 0;
    scan->at = scan->count = 0;
    const struct trace_index *index = scan->numbers->index;
    scan->next_track = narrow(&scan->bounds) ? 0 : index->facts.tracks;
    scan->first_chunk = chunk_of_number(scan->numbers, bounds->number.min);
    scan->last_chunk = chunk_of_number(scan->numbers, bounds->number.max);
    /* Tracks before that of the first number are passed over without a look at each of them. */
    uint32_t low = scan->next_track, high = index->facts.tracks;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        const struct track_record *track = &index->tracks[middle];
        if (track->first_chunk + track->chunk_count <= scan->first_chunk)
            low = middle + 1;
        else
            high = middle;
    }
    scan->next_track = low;
}

static void forget_passed(struct call_scan *scan, uint32_t number)
{
    enum { MANY_CHUNKS = 64 };
    uint32_t base = (uint32_t)(scan->run.chunks - scan->numbers->index->chunks);
    if (number < scan->remembered || scan->remembered < base)
        scan->remembered = number;
    if (number - scan->remembered < MANY_CHUNKS)
        return;
    index_forget_chunks(scan->numbers->index, &scan->run, scan->remembered - base, number - base);
    scan->remembered = number;
}

/* The chunk that is loaded may be wanted again: a caller is often searched next to its callee. */
static bool load(struct call_scan *scan, uint32_t number, struct error *error)
{
    const struct trace_index *index = scan->numbers->index;
    size_t chunk = (size_t)(&index->chunks[number] - scan->run.chunks);
    scan->at = 0;
    scan->count = index->chunks[number].count;
    if (scan->loaded == number)
        return true;
    forget_passed(scan, number);
    scan->loaded = NO_CHUNK;
    scan->has_self = scan->has_callers = false;
    if (!index_read_spans(index, &scan->run, chunk, scan->spans, error)) {
        scan->count = 0;
        return false;
    }
    scan->loaded = number;
    return true;
}

static bool is_wanted_track(const struct call_scan *scan, uint32_t track)
{
    const struct trace_index *index = scan->numbers->index;
    return !index->tracks[track].is_hits && (!scan->bounds.tracks || scan->bounds.tracks[track]);
}

static bool next_chunk(struct call_scan *scan, struct error *error)
{
    const struct trace_index *index = scan->numbers->index;
    while (scan->next_chunk == scan->chunks.count) {
        while (scan->next_track < index->facts.tracks && !is_wanted_track(scan, scan->next_track))
            scan->next_track++;
        if (scan->next_track == index->facts.tracks ||
            index->tracks[scan->next_track].first_chunk > scan->last_chunk ||
            !choose_chunks(scan, scan->next_track++, error))
            return false;
    }
    return load(scan, *(uint32_t *)array_at(&scan->chunks, scan->next_chunk++), error);
}

static bool is_wanted(const struct call_scan *scan, const struct index_span *span)
{
    const struct call_bounds *bounds = &scan->bounds;
    return may_be(bounds, span->start, span->end) &&
           (bounds->depth == CALL_ANY || span->depth == bounds->depth) &&
           (bounds->group == CALL_ANY ||
            index_group_of(scan->numbers->index, span->function) == bounds->group);
}

bool call_scan_next(struct call_scan *scan, struct error *error)
{
    for (;;) {
        while (scan->at < scan->count) {
            const struct index_span *span = &scan->spans[scan->at++];
            if (is_wanted(scan, span) && is_within(scan->bounds.number, call_scan_number(scan)))
                return true;
        }
        if (!next_chunk(scan, error))
            return false;
    }
}

struct index_span call_scan_call(const struct call_scan *scan)
{
    return scan->spans[scan->at - 1];
}

uint32_t call_scan_track(const struct call_scan *scan)
{
    return scan->track;
}

uint64_t call_scan_number(const struct call_scan *scan)
{
    return scan->numbers->before[scan->loaded] + scan->at;
}

/* ---- self times and callers, of a chunk at once ---- */

/* Appends what is open at the end of the chunk, innermost first. */
static bool add_open(const struct call_scan *scan, size_t chunk, struct array *open,
                     struct error *error)
{
    const struct trace_index *index = scan->numbers->index;
    struct crossing_walk walk = crossing_walk_begin(index, &scan->run, chunk);
    open->count = 0;
    for (struct index_span span; crossing_walk_next(&walk, &span);)
        *(struct open_call *)array_add(open) = (struct open_call){
            .crossing = (uint32_t)(walk.crossing - index->crossing),
            .span = span,
            .self = walk.crossing->self,
        };
    return !walk.damaged || index_damaged(index, error);
}

static uint64_t *path_at(struct call_scan *scan, uint32_t depth, uint64_t unset)
{
    while (scan->path.count <= depth)
        *(uint64_t *)array_add(&scan->path) = unset;
    return array_at(&scan->path, depth);
}

/* Calls come after those that they call. Of one that was open at the end of the chunk before, all is
 * known already; it is the next at its depth. */
static void add_up(struct call_scan *scan)
{
    scan->path.count = 0;
    size_t next_open = 0;
    for (uint32_t i = 0; i < scan->count; i++) {
        const struct index_span *span = &scan->spans[i];
        uint64_t length = span->end - span->start;
        uint64_t *inside = path_at(scan, span->depth + 1, 0);
        scan->self[i] = length - *inside;
        *inside = 0;
        *path_at(scan, span->depth, 0) += length;
        if (next_open < scan->open_before.count) {
            const struct open_call *open = array_at(&scan->open_before, next_open);
            if (open->span.depth == span->depth) {
                scan->self[i] = open->self;
                next_open++;
            }
        }
    }
}

static void find_callers(struct call_scan *scan)
{
    scan->path.count = 0;
    for (size_t i = scan->open.count; i-- > 0;) {
        const struct open_call *open = array_at(&scan->open, i);
        *path_at(scan, open->span.depth, NO_CALLER) = INDEX_CHUNK_ITEMS + i;
    }
    for (uint32_t i = scan->count; i-- > 0;) {
        uint32_t depth = scan->spans[i].depth;
        *path_at(scan, depth, NO_CALLER) = i;
        scan->callers[i] =
            depth > 0 ? (uint32_t)*path_at(scan, depth - 1, NO_CALLER) : (uint32_t)NO_CALLER;
    }
}

static size_t loaded_chunk(const struct call_scan *scan)
{
    return (size_t)(&scan->numbers->index->chunks[scan->loaded] - scan->run.chunks);
}

bool call_scan_self(struct call_scan *scan, uint64_t *self, struct error *error)
{
    if (!scan->has_self) {
        size_t chunk = loaded_chunk(scan);
        scan->open_before.count = 0;
        if (chunk > 0 && !add_open(scan, chunk - 1, &scan->open_before, error))
            return false;
        add_up(scan);
        scan->has_self = true;
    }
    *self = scan->self[scan->at - 1];
    return true;
}

static bool number_of_open(struct call_scan *scan, const struct open_call *open, uint64_t *number,
                           struct error *error)
{
    uint64_t *known = &scan->numbers->of_crossing[open->crossing];
    if (*known == 0 && !find_number(scan->numbers, &scan->run, &open->span, known, error))
        return false;
    *number = *known;
    return true;
}

bool call_scan_caller(struct call_scan *scan, uint64_t *caller, struct error *error)
{
    if (!scan->has_callers) {
        if (!add_open(scan, loaded_chunk(scan), &scan->open, error))
            return false;
        find_callers(scan);
        scan->has_callers = true;
    }
    uint32_t place = scan->callers[scan->at - 1];
    *caller = 0;
    if (place == NO_CALLER)
        return true;
    if (place >= INDEX_CHUNK_ITEMS)
        return number_of_open(scan, array_at(&scan->open, place - INDEX_CHUNK_ITEMS), caller,
                              error);
    *caller = scan->numbers->before[scan->loaded] + place + 1;
    return true;
}
