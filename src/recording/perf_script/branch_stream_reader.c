#include "recording/perf_script/branch_stream_reader.h"

#include "base/memory.h"
#include "recording/perf_script/perf_text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    BUFFER_SIZE = 1 << 18,
    /* perf's decode errors have some 150 characters. */
    LINE_MAX_SIZE = 4096,
    FIRST_KIND = 0x80,
};

void branch_stream_open(struct branch_stream_reader *reader, int descriptor)
{
    *reader = (struct branch_stream_reader){
        .descriptor = descriptor,
        .buffer = memory_allocate(BUFFER_SIZE),
        .state = {.pid = UINT32_MAX, .tid = UINT32_MAX, .processor = UINT32_MAX},
    };
}

void branch_stream_close(struct branch_stream_reader *reader)
{
    free(reader->buffer);
}

/* ---- bytes ---- */

static void fill(struct branch_stream_reader *reader)
{
    memmove(reader->buffer, reader->buffer + reader->start, reader->end - reader->start);
    reader->end -= reader->start;
    reader->start = 0;
    ssize_t got;
    do
        got = read(reader->descriptor, reader->buffer + reader->end, BUFFER_SIZE - reader->end);
    while (got < 0 && errno == EINTR);
    if (got < 0)
        error_set_errno(&reader->damage, ERROR_IO, errno,
                        "Reading the branches that perf script decoded failed at byte %" PRIu64,
                        reader->offset);
    if (got > 0)
        reader->end += (size_t)got;
    else
        reader->at_end = true;
}

/* Whether `size` bytes, which are fewer than the buffer has, lie in it now. */
static bool have(struct branch_stream_reader *reader, size_t size)
{
    while (reader->end - reader->start < size && !reader->at_end)
        fill(reader);
    return reader->end - reader->start >= size;
}

static void consume(struct branch_stream_reader *reader, size_t size)
{
    reader->start += size;
    reader->offset += size;
}

/* The rest of the stream cannot be used. */
static bool give_up(struct branch_stream_reader *reader, const char *why)
{
    reader->at_end = true;
    reader->end = reader->start;
    if (reader->damage.code == ERROR_NONE)
        error_set(&reader->damage, ERROR_FORMAT,
                  "Reading the branches that perf script decoded failed at byte %" PRIu64 ": %s. "
                  "Everything before is shown.",
                  reader->offset, why);
    return false;
}

/* ---- lines that perf printed itself ---- */

/* Bytes up to the end of the line, the newline included; 0 when it has none. */
static size_t line_size(struct branch_stream_reader *reader)
{
    size_t size = 0;
    while (size < LINE_MAX_SIZE && have(reader, size + 1))
        if (reader->buffer[reader->start + size++] == '\n')
            return size;
    return 0;
}

/* True when it is a decode error. The message lies in the buffer, which the next call may change.
 */
static bool read_line(struct branch_stream_reader *reader, size_t size, struct branch_event *event)
{
    struct perf_text text;
    struct perf_text_record record;
    perf_text_open(&text, (struct text_slice){(char *)reader->buffer + reader->start, size});
    bool is_error = perf_text_next(&text, &record) && record.kind == PERF_TEXT_DECODE_ERROR;
    perf_text_close(&text);
    if (!is_error)
        return false;
    *event = (struct branch_event){.kind = BRANCH_EVENT_DECODE_ERROR,
                                   .pid = record.pid,
                                   .tid = record.tid,
                                   .processor = record.processor,
                                   .time = record.has_time ? record.time : reader->state.time,
                                   .from = record.from.address,
                                   .message = record.message};
    return true;
}

static bool take_line(struct branch_stream_reader *reader, struct branch_event *event)
{
    size_t size = line_size(reader);
    if (!size)
        return give_up(reader, "this is neither a record nor a line of text");
    bool is_error = read_line(reader, size, event);
    consume(reader, size);
    return is_error;
}

/* ---- records ---- */

union record {
    uint8_t kind;
    struct branch_stream_begin begin;
    struct branch_stream_thread thread;
    struct branch_stream_time time;
    struct branch_stream_branch branch;
    struct branch_stream_stack stack;
    struct branch_stream_end end;
};

static size_t record_size(uint8_t kind)
{
    switch ((enum branch_stream_kind)kind) {
    case BRANCH_STREAM_BEGIN:
        return sizeof(struct branch_stream_begin);
    case BRANCH_STREAM_THREAD:
        return sizeof(struct branch_stream_thread);
    case BRANCH_STREAM_TIME:
        return sizeof(struct branch_stream_time);
    case BRANCH_STREAM_BRANCH:
        return sizeof(struct branch_stream_branch);
    case BRANCH_STREAM_STACK:
        return sizeof(struct branch_stream_stack);
    case BRANCH_STREAM_END:
        return sizeof(struct branch_stream_end);
    }
    return 0;
}

static bool begin(struct branch_stream_reader *reader, const struct branch_stream_begin *record)
{
    if (reader->begun ||
        memcmp(record->magic, branch_stream_magic, sizeof branch_stream_magic) != 0)
        return give_up(reader, "no stream of branches begins like this");
    if (record->version != BRANCH_STREAM_VERSION)
        return give_up(reader, "the filter that runs in perf belongs to another version of "
                               "magic-trace; install both together");
    reader->begun = true;
    return true;
}

static bool end(struct branch_stream_reader *reader, const struct branch_stream_end *record)
{
    if (record->records != reader->records)
        return give_up(reader, "records are missing");
    reader->ended = true;
    return true;
}

static void take_branch(struct branch_stream_reader *reader,
                        const struct branch_stream_branch *record, struct branch_event *event)
{
    *event = reader->state;
    event->kind = BRANCH_EVENT_BRANCH;
    event->flags = record->flags;
    event->from = record->from;
    event->to = record->to;
}

static void take_stack(struct branch_stream_reader *reader,
                       const struct branch_stream_stack *record, struct branch_event *event)
{
    *event = reader->state;
    event->kind = BRANCH_EVENT_STACK_POINTER;
    event->from = record->address;
    event->to = record->value;
}

/* True when it is an event. */
static bool use_record(struct branch_stream_reader *reader, const union record *record,
                       struct branch_event *event)
{
    switch ((enum branch_stream_kind)record->kind) {
    case BRANCH_STREAM_BEGIN:
        begin(reader, &record->begin);
        break;
    case BRANCH_STREAM_THREAD:
        reader->state.pid = record->thread.pid;
        reader->state.tid = record->thread.tid;
        reader->state.processor = record->thread.processor;
        break;
    case BRANCH_STREAM_TIME:
        reader->state.time.value = record->time.nanoseconds;
        break;
    case BRANCH_STREAM_BRANCH:
        take_branch(reader, &record->branch, event);
        return true;
    case BRANCH_STREAM_STACK:
        take_stack(reader, &record->stack, event);
        return true;
    case BRANCH_STREAM_END:
        end(reader, &record->end);
        break;
    }
    return false;
}

static bool take_record(struct branch_stream_reader *reader, struct branch_event *event)
{
    uint8_t kind = reader->buffer[reader->start];
    size_t size = record_size(kind);
    if (!size)
        return give_up(reader, "there is no record of this kind");
    if (!reader->begun && kind != BRANCH_STREAM_BEGIN)
        return give_up(reader, "the beginning is missing");
    if (reader->ended)
        return give_up(reader, "data follow the end");
    if (!have(reader, size))
        return give_up(reader, "it ends in the middle of a record");
    union record record;
    memcpy(&record, reader->buffer + reader->start, size);
    bool is_event = use_record(reader, &record, event);
    if (reader->start == reader->end)
        return false; /* given up */
    consume(reader, size);
    reader->records++;
    return is_event;
}

bool branch_stream_next(struct branch_stream_reader *reader, struct branch_event *event)
{
    while (have(reader, 1)) {
        bool is_record = reader->buffer[reader->start] >= FIRST_KIND;
        if (is_record ? take_record(reader, event) : take_line(reader, event))
            return true;
    }
    if (!reader->ended)
        give_up(reader, "perf script ended before it had decoded everything");
    return false;
}
