#include "index/build/bucket_recorder.h"

#include "index/file/bucket_codec.h"

#include <stdlib.h>

void bucket_recorder_init(struct bucket_recorder *recorder, uint64_t bucket_calls)
{
    *recorder = (struct bucket_recorder){
        .buckets = array_of(sizeof(struct bucket_record)),
        .bytes = array_of(1),
        .calls = array_of(sizeof(uint64_t)),
        .met = array_of(sizeof(uint32_t)),
        .bucket_calls = bucket_calls,
    };
}

void bucket_recorder_free(struct bucket_recorder *recorder)
{
    array_free(&recorder->buckets);
    array_free(&recorder->bytes);
    array_free(&recorder->calls);
    array_free(&recorder->met);
}

static int compare_ids(const void *left, const void *right)
{
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    return (a > b) - (a < b);
}

static void end_bucket(struct bucket_recorder *recorder)
{
    if (recorder->count == 0)
        return;
    struct bucket_count before = BUCKET_COUNT_BEFORE_FIRST;
    qsort(recorder->met.elements, recorder->met.count, recorder->met.element_size, compare_ids);
    for (size_t i = 0; i < recorder->met.count; i++) {
        uint32_t function = *(uint32_t *)array_at(&recorder->met, i);
        uint64_t *calls = array_at(&recorder->calls, function);
        const struct bucket_count count = {function, *calls};
        uint8_t bytes[BUCKET_COUNT_BYTES_MAX];
        const uint8_t *end = bucket_count_encode(bytes, &before, &count);
        array_add_all(&recorder->bytes, bytes, (size_t)(end - bytes));
        before = count;
        *calls = 0;
    }
    recorder->met.count = 0;
    recorder->count = 0;
}

void bucket_recorder_take(struct bucket_recorder *recorder, uint32_t function, uint64_t time)
{
    if (recorder->count >= recorder->bucket_calls && time > recorder->last)
        end_bucket(recorder);
    if (recorder->count++ == 0)
        *(struct bucket_record *)array_add(&recorder->buckets) =
            (struct bucket_record){.from = time, .first_byte = recorder->bytes.count};
    while (recorder->calls.count <= function)
        array_add(&recorder->calls);
    uint64_t *calls = array_at(&recorder->calls, function);
    if ((*calls)++ == 0)
        array_add_all(&recorder->met, &function, 1);
    recorder->last = time;
}

void bucket_recorder_void(struct bucket_recorder *recorder)
{
    recorder->is_void = true;
}

void bucket_recorder_finish(struct bucket_recorder *recorder)
{
    end_bucket(recorder);
    if (recorder->is_void)
        recorder->buckets.count = recorder->bytes.count = 0;
}
