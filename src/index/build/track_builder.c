#include "index/build/track_builder.h"

#include "base/memory.h"
#include "stack/spans/span.h"

#include <stdlib.h>

struct open_span {
    uint64_t start;
    uint64_t callees;        /* ns spent in them so far */
    uint64_t children;       /* so far */
    uint64_t previous_start; /* of the span before at this depth; UINT64_MAX: none */
    uint32_t function;
    uint32_t crossing; /* its number, if it has been open at the end of a chunk */
    uint8_t flags;
};

void track_builder_init(struct track_builder *track)
{
    *track = (struct track_builder){
        .writer = chunk_writer_new(),
        .sieves = array_of(sizeof(struct index_sieve)),
    };
}

void track_builder_free(struct track_builder *track)
{
    free(track->stack);
    chunk_writer_free(&track->writer);
    array_free(&track->sieves);
}

static void make_room(struct track_builder *track)
{
    size_t capacity = track->capacity ? 2 * track->capacity : 16;
    track->stack = memory_resize(track->stack, capacity * sizeof *track->stack);
    for (size_t i = track->capacity; i < capacity; i++)
        track->stack[i].previous_start = UINT64_MAX;
    track->capacity = capacity;
}

void track_builder_enter(struct track_builder *track, const struct span_beginning *beginning)
{
    if (track->depth == track->capacity)
        make_room(track);
    if (track->deepest == 0)
        track->first = beginning->time;
    struct open_span *span = &track->stack[track->depth++];
    span->start = beginning->time;
    span->callees = span->children = 0;
    span->function = beginning->function;
    span->crossing = INDEX_NO_CROSSING;
    span->flags = beginning->flags;
    if (track->depth > track->deepest)
        track->deepest = track->depth;
}

/* ---- crossing spans ---- */

/* Numbers all open spans that have none, the outermost first, so that parents have smaller numbers.
 * Gives the innermost's. */
static uint32_t number_crossing(struct track_builder *track, const struct track_output *output)
{
    size_t known = track->depth;
    while (known > 0 && track->stack[known - 1].crossing == INDEX_NO_CROSSING)
        known--;
    for (; known < track->depth; known++) {
        track->stack[known].crossing = (uint32_t)output->crossing->count;
        spill_add(output->crossing);
    }
    return track->depth ? track->stack[track->depth - 1].crossing : INDEX_NO_CROSSING;
}

static void write_crossing(const struct track_builder *track, const struct track_output *output,
                           const struct open_span *open, const struct index_span *span)
{
    struct crossing_span *crossing = spill_at(output->crossing, open->crossing);
    *crossing = (struct crossing_span){
        .start = span->start,
        .end = span->end,
        .self = span->end - span->start - open->callees,
        .children = open->children,
        .function = span->function,
        .depth = span->depth,
        .parent = track->depth ? track->stack[track->depth - 1].crossing : INDEX_NO_CROSSING,
        .flags = span->flags,
        .ending = span->ending,
    };
}

/* ---- chunks ---- */

static void flush(struct track_builder *track, const struct track_output *output)
{
    array_add_all(&track->sieves, &track->sieve, 1);
    track->sieve = (struct index_sieve){0};
    chunk_writer_flush(&track->writer, output->file, number_crossing(track, output));
}

static void write_span(struct track_builder *track, const struct track_output *output,
                       const struct index_span *span)
{
    if (track->writer.count == 0)
        track->coder = (struct span_coder){.end = span->end};
    uint8_t *bytes = chunk_writer_add(&track->writer, span->end, SPAN_BYTES_MAX + sizeof(uint64_t));
    chunk_writer_added(&track->writer, span_encode(bytes, &track->coder, span));
    uint32_t bit = sieve_bit(span->function);
    track->sieve.words[bit / 64] |= UINT64_C(1) << bit % 64;
    if (track->writer.count == output->chunk_items)
        flush(track, output);
}

/* ---- resolutions ---- */

static unsigned bit_width(uint64_t number)
{
    return number ? 64 - (unsigned)__builtin_clzll(number) : 0;
}

/* At resolution 1 << shift a span begins a tile of its own if it is at least as long as a bin, or
 * not in the bin of the span before it at its depth. (If that one is as long as a bin, they are in
 * different bins.) This holds for all shifts below a limit: the width in bits of the length, or of
 * the difference of the starts. */
static void count_tiles(struct track_builder *track, struct open_span *open, uint64_t length)
{
    unsigned of_length = bit_width(length);
    unsigned of_starts = bit_width(open->start ^ open->previous_start);
    unsigned shift = of_length > of_starts ? of_length : of_starts;
    track->begun[shift > INDEX_SHIFT_MAX + 1 ? INDEX_SHIFT_MAX + 1 : shift]++;
    open->previous_start = open->start;
}

uint64_t track_builder_tiles(const struct track_builder *track, unsigned shift)
{
    uint64_t tiles = 0;
    for (unsigned i = shift + 1; i <= INDEX_SHIFT_MAX + 1; i++)
        tiles += track->begun[i];
    return tiles;
}

bool track_builder_leave(struct track_builder *track, const struct track_output *output,
                         const struct span_ending *ending, struct index_span *left)
{
    if (track->depth == 0)
        return false;
    struct open_span *open = &track->stack[--track->depth];
    const struct index_span span = {
        .start = open->start,
        .end = ending->time,
        .depth = (uint32_t)track->depth,
        .function = open->function,
        .flags = open->flags | ending->flags,
        .ending = ending->ending,
    };
    uint64_t length = span.end - span.start;
    track->spans++;
    track->last = span.end;
    count_tiles(track, open, length);
    if (track->depth > 0) {
        struct open_span *parent = &track->stack[track->depth - 1];
        parent->callees += length;
        parent->children++;
    }
    if (open->crossing != INDEX_NO_CROSSING)
        write_crossing(track, output, open, &span);
    write_span(track, output, &span);
    *left = span;
    return true;
}

void track_builder_finish(struct track_builder *track, const struct track_output *output,
                          uint64_t time)
{
    const struct span_ending ending = {
        .time = time, .flags = SPAN_END_INFERRED, .ending = SPAN_END_OF_TRACE};
    struct index_span left;
    while (track_builder_leave(track, output, &ending, &left))
        ;
    if (track->writer.count > 0)
        flush(track, output);
    free(track->stack);
    track->stack = NULL;
    track->capacity = 0;
}
