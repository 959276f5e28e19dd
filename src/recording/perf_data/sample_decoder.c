#include "recording/perf_data/sample_decoder.h"

static void skip_words(struct byte_cursor *cursor, uint64_t count)
{
    if (count > cursor_left(cursor) / sizeof(uint64_t)) {
        cursor->overrun = true;
        count = cursor_left(cursor) / sizeof(uint64_t);
    }
    cursor->next += count * sizeof(uint64_t);
}

/* The values of the counters (struct read_format in linux/perf_event.h). */
static void skip_counters(const struct perf_event_attr *attribute, struct byte_cursor *cursor)
{
    enum { FORMAT_LOST = 1 << 4 }; /* PERF_FORMAT_LOST, Linux 6.0 */
    uint64_t format = attribute->read_format;
    uint64_t times = ((format & PERF_FORMAT_TOTAL_TIME_ENABLED) != 0) +
                     ((format & PERF_FORMAT_TOTAL_TIME_RUNNING) != 0);
    uint64_t per_counter = 1 + ((format & PERF_FORMAT_ID) != 0) + ((format & FORMAT_LOST) != 0);
    uint64_t counters = format & PERF_FORMAT_GROUP ? cursor_take_u64(cursor) : 1;
    if (counters > cursor_left(cursor))
        cursor->overrun = true;
    else
        skip_words(cursor, times + counters * per_counter);
}

static void take_chain(struct sample *sample, struct byte_cursor *cursor)
{
    uint64_t count = cursor_take_u64(cursor);
    const uint8_t *chain = cursor->next;
    skip_words(cursor, count);
    if (cursor->overrun)
        return;
    sample->chain = chain;
    sample->chain_count = count;
}

static void take_raw(struct sample *sample, struct byte_cursor *cursor)
{
    size_t size = cursor_take_u32(cursor);
    if (size > cursor_left(cursor)) {
        cursor->overrun = true;
        return;
    }
    sample->raw = cursor->next;
    sample->raw_size = size;
}

bool sample_decode(const struct perf_event_attr *attribute, const uint8_t *body, size_t size,
                   struct sample *sample, struct byte_cursor *rest)
{
    uint64_t fields = attribute->sample_type;
    struct byte_cursor cursor = {body, body + size, false};
    *sample = (struct sample){.cpu = UINT32_MAX};
    if (fields & PERF_SAMPLE_IDENTIFIER)
        skip_words(&cursor, 1);
    if (fields & PERF_SAMPLE_IP)
        sample->ip = cursor_take_u64(&cursor);
    if (fields & PERF_SAMPLE_TID) {
        sample->pid = cursor_take_u32(&cursor);
        sample->tid = cursor_take_u32(&cursor);
    }
    if (fields & PERF_SAMPLE_TIME)
        sample->time = cursor_take_u64(&cursor);
    if (fields & PERF_SAMPLE_ADDR)
        skip_words(&cursor, 1);
    if (fields & PERF_SAMPLE_ID)
        skip_words(&cursor, 1);
    if (fields & PERF_SAMPLE_STREAM_ID)
        skip_words(&cursor, 1);
    if (fields & PERF_SAMPLE_CPU) {
        sample->cpu = cursor_take_u32(&cursor);
        cursor_take_u32(&cursor);
    }
    if (fields & PERF_SAMPLE_PERIOD)
        sample->period = cursor_take_u64(&cursor);
    if (fields & PERF_SAMPLE_READ)
        skip_counters(attribute, &cursor);
    if (fields & PERF_SAMPLE_CALLCHAIN)
        take_chain(sample, &cursor);
    if (fields & PERF_SAMPLE_RAW)
        take_raw(sample, &cursor);
    if (rest)
        *rest = cursor;
    return !cursor.overrun;
}
