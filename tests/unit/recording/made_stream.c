#include "made_stream.h"

#include "recording/perf_script/branch_stream.h"

#include <string.h>

static void put(struct array *stream, const void *bytes, size_t size)
{
    array_add_all(stream, bytes, size);
}

void made_stream_begin(struct array *stream, uint32_t version)
{
    struct branch_stream_begin begin = {.kind = BRANCH_STREAM_BEGIN, .version = version};
    memcpy(begin.magic, branch_stream_magic, sizeof begin.magic);
    put(stream, &begin, sizeof begin);
}

void made_stream_thread(struct array *stream, uint32_t pid, uint32_t tid, uint32_t processor)
{
    struct branch_stream_thread thread = {
        .kind = BRANCH_STREAM_THREAD, .pid = pid, .tid = tid, .processor = processor};
    put(stream, &thread, sizeof thread);
}

void made_stream_time(struct array *stream, uint64_t nanoseconds)
{
    struct branch_stream_time time = {.kind = BRANCH_STREAM_TIME, .nanoseconds = nanoseconds};
    put(stream, &time, sizeof time);
}

void made_stream_branch(struct array *stream, uint32_t flags, uint64_t from, uint64_t to)
{
    struct branch_stream_branch branch = {
        .kind = BRANCH_STREAM_BRANCH, .flags = flags, .from = from, .to = to};
    put(stream, &branch, sizeof branch);
}

void made_stream_stack(struct array *stream, uint64_t address, uint64_t value)
{
    struct branch_stream_stack stack = {
        .kind = BRANCH_STREAM_STACK, .address = address, .value = value};
    put(stream, &stack, sizeof stack);
}

void made_stream_end(struct array *stream, uint64_t records)
{
    struct branch_stream_end end = {.kind = BRANCH_STREAM_END, .records = records};
    put(stream, &end, sizeof end);
}

void made_stream_line(struct array *stream, const char *line)
{
    put(stream, line, strlen(line));
}
