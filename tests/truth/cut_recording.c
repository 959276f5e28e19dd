/* cut_recording RECORDING PERF_DATA CUTS SEED: copies a recording's perf.data and cuts packets out
 * of every thread's trace at up to CUTS places, which SEED chooses.
 *
 * As when a ring was full: the packets' offsets in the ring count what was cut out, and an AUX
 * record says that some were lost. Each thread's packets are divided into as many parts as there
 * are cuts, and somewhere in every part up to a half of it is missing. Parts are at least
 * LEAST_PART long, so that a decoder can find into the packets again: there is a PSB every 4 KiB.
 */
#include "base/array.h"
#include "base/memory.h"
#include "recording/perf_data/perf_data_reader.h"
#include "recording/perf_data/perf_data_writer.h"

#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    LEAST_PART = 8192, /* bytes */
    ALIGNMENT = 8,     /* of the packets in one AUXTRACE record */
};

struct cutting {
    const struct perf_data *data;
    struct perf_data_writer *writer;
    uint64_t cuts;
    uint64_t random; /* state */
    uint64_t cut, bytes;
};

/* Sebastiano Vigna's splitmix64. */
static uint64_t random_below(struct cutting *cutting, uint64_t limit)
{
    uint64_t word = cutting->random += UINT64_C(0x9e3779b97f4a7c15);
    word = (word ^ word >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    word = (word ^ word >> 27) * UINT64_C(0x94d049bb133111eb);
    return (word ^ word >> 31) % limit;
}

struct kept_part {
    uint64_t begin, end; /* bytes of the chunk that are kept */
};

static uint64_t aligned(uint64_t size)
{
    return size / ALIGNMENT * ALIGNMENT;
}

/* The parts of `chunk` that are kept: one more than there are cuts. */
static struct array choose(struct cutting *cutting, const struct aux_chunk *chunk)
{
    struct array kept = array_of(sizeof(struct kept_part));
    uint64_t count = chunk->size / LEAST_PART;
    if (count > cutting->cuts)
        count = cutting->cuts;
    uint64_t begin = 0;
    for (uint64_t i = 0; i < count; i++) {
        uint64_t part = chunk->size / count, part_begin = chunk->size * i / count;
        uint64_t size = ALIGNMENT + random_below(cutting, part / 2);
        uint64_t at = part_begin + part / 8 + random_below(cutting, part - part / 8 - size);
        struct kept_part before = {begin, aligned(at)};
        begin = aligned(at + size);
        *(struct kept_part *)array_add(&kept) = before;
        cutting->cut++;
        cutting->bytes += begin - before.end;
    }
    *(struct kept_part *)array_add(&kept) = (struct kept_part){begin, chunk->size};
    return kept;
}

static bool write_kept_parts(struct cutting *cutting, const struct aux_chunk *chunk,
                             const struct array *kept, struct error *error)
{
    bool ok = true;
    for (size_t i = 0; ok && i < kept->count; i++) {
        const struct kept_part *bounds = array_at(kept, i);
        struct aux_chunk part = *chunk;
        part.offset += bounds->begin;
        struct iovec bytes = {(void *)(uintptr_t)(chunk->bytes + bounds->begin),
                              bounds->end - bounds->begin};
        ok = perf_data_write_aux(cutting->writer, &part, &bytes, 1, error);
    }
    return ok;
}

/* Written before `record`, the AUX record that says that all of a ring was written. */
static bool write_losses(struct cutting *cutting, const struct sideband_record *record,
                         struct array *kept, struct error *error)
{
    bool ok = true;
    for (size_t i = 0; ok && i < cutting->data->chunk_count; i++) {
        const struct aux_chunk *chunk = &cutting->data->chunks[i];
        if (chunk->tid != record->tid || chunk->cpu != record->cpu)
            continue;
        for (size_t j = 0; ok && j + 1 < kept[i].count; j++) {
            const struct kept_part *part = array_at(&kept[i], j);
            struct sideband_record loss = *record;
            loss.aux.offset = chunk->offset + part->begin;
            loss.aux.size = part->end - part->begin;
            loss.aux.flags = PERF_AUX_FLAG_TRUNCATED;
            ok = perf_data_write_record(cutting->writer, &loss, error);
        }
    }
    return ok;
}

static bool write_all(struct cutting *cutting, struct error *error)
{
    const struct perf_data *data = cutting->data;
    struct array *kept = memory_allocate_zeroed((data->chunk_count + 1) * sizeof *kept);
    for (size_t i = 0; i < data->chunk_count; i++)
        kept[i] = choose(cutting, &data->chunks[i]);
    bool ok = true;
    for (size_t i = 0; ok && i < data->record_count; i++) {
        const struct sideband_record *record = &data->records[i];
        if (record->kind == SIDEBAND_AUX)
            ok = write_losses(cutting, record, kept, error);
        ok = ok && perf_data_write_record(cutting->writer, record, error);
    }
    for (size_t i = 0; ok && i < data->chunk_count; i++)
        ok = write_kept_parts(cutting, &data->chunks[i], &kept[i], error);
    for (size_t i = 0; i < data->chunk_count; i++)
        array_free(&kept[i]);
    free(kept);
    return ok;
}

static bool cut(const char *from, const char *to, struct cutting *cutting, struct error *error)
{
    struct perf_data data;
    if (!perf_data_open(&data, from, error))
        return false;
    cutting->data = &data;
    cutting->writer = perf_data_writer_open(to, &data.setup, NULL, error);
    bool ok = cutting->writer && write_all(cutting, error);
    if (ok)
        ok = perf_data_writer_close(cutting->writer, error);
    else if (cutting->writer)
        perf_data_writer_abandon(cutting->writer);
    perf_data_close(&data);
    return ok;
}

int main(int argc, char **argv)
{
    struct error error;
    if (argc != 5) {
        fprintf(stderr, "Usage: cut_recording RECORDING PERF_DATA CUTS SEED\n");
        return 2;
    }
    struct cutting cutting = {.cuts = strtoull(argv[3], NULL, 10),
                              .random = strtoull(argv[4], NULL, 10)};
    char *from = memory_format("%s/perf.data", argv[1]);
    bool done = cut(from, argv[2], &cutting, &error);
    free(from);
    if (!done) {
        fprintf(stderr, "%s\n", error.text);
        return 2;
    }
    printf("%" PRIu64 " cuts, %" PRIu64 " bytes\n", cutting.cut, cutting.bytes);
    return 0;
}
