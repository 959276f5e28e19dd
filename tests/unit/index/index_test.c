#include "index_test.h"

#include "base/memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

static char *new_path(void)
{
    const char *folder = getenv("TMPDIR");
    char *path = memory_format("%s/magic-trace-index-test.XXXXXX", folder ? folder : "/tmp");
    int descriptor = mkstemp(path);
    assert_true(descriptor >= 0);
    close(descriptor);
    return path;
}

static struct index_layout random_layout(uint64_t *random)
{
    return (struct index_layout){
        .chunk_items = 1 + (uint32_t)made_random(random, made_random(random, 4) ? 12 : 300),
        .level_ratio = 1 + made_random(random, 4),
        .level_enough = made_random(random, 60),
        .bucket_calls = 1 + made_random(random, 60),
    };
}

static struct trace_index *index_with(struct span_source *source, const struct index_layout *layout)
{
    char *path = new_path();
    struct error error = {0};
    bool built = layout ? index_build_as(source, path, 1, layout, &error)
                        : index_build(source, path, 1, &error);
    if (!built)
        fail_msg("%s", error.text);
    struct trace_index *index = trace_index_open(path, &error);
    if (!index)
        fail_msg("%s", error.text);
    unlink(path);
    free(path);
    return index;
}

struct trace_index *index_source(struct span_source *source)
{
    return index_with(source, NULL);
}

static void find_groups(struct indexed_trace *indexed)
{
    for (uint32_t name = 0; name < MADE_NAMES; name++)
        indexed->groups[name] = UINT32_MAX;
    for (uint32_t i = trace_index_facts(indexed->index)->functions; i-- > 0;)
        indexed->groups[name_of(indexed, i)] = trace_index_function(indexed->index, i).group;
}

struct indexed_trace indexed_trace_new(uint64_t seed)
{
    uint64_t random = seed;
    size_t steps =
        made_random(&random, 20) == 0 ? made_random(&random, 10) : made_random(&random, 700);
    struct indexed_trace indexed = {.trace = made_trace_new(seed, steps), .random = random};
    const struct index_layout layout = random_layout(&indexed.random);
    bool usual = made_random(&indexed.random, 5) == 0;
    indexed.index = index_with(made_trace_source(indexed.trace), usual ? NULL : &layout);
    indexed.level_ratio = usual ? 3 : layout.level_ratio;
    find_groups(&indexed);
    return indexed;
}

void indexed_trace_free(struct indexed_trace *indexed)
{
    trace_index_close(indexed->index);
    made_trace_free(indexed->trace);
}

uint32_t name_of(const struct indexed_trace *indexed, uint32_t function)
{
    return (uint32_t)(trace_index_function(indexed->index, function).name[0] - 'a');
}

uint64_t random_time(struct indexed_trace *indexed)
{
    const struct made_trace *trace = indexed->trace;
    uint64_t *random = &indexed->random;
    if (trace->spans.count == 0 || made_random(random, 5) == 0)
        return made_random(random, trace->duration + 10);
    const struct made_span *span = made_trace_span(trace, made_random(random, trace->spans.count));
    uint64_t time = made_random(random, 2) ? span->start : span->end;
    uint64_t step = made_random(random, 4);
    return step == 3 ? time : time + step > 0 ? time + step - 1 : 0;
}

struct index_range random_range(struct indexed_trace *indexed)
{
    uint64_t from = random_time(indexed), to = random_time(indexed);
    if (made_random(&indexed->random, 10) == 0)
        return (struct index_range){0, UINT64_MAX};
    if (from <= to)
        return (struct index_range){from, to};
    return (struct index_range){to, from};
}
