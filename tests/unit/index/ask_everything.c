#include "ask_everything.h"

#include "base/memory.h"
#include "index/call_ordinal.h"
#include "index/call_scan.h"
#include "index/flame_graph.h"
#include "index/function_quantiles.h"
#include "index/function_table.h"
#include "index/marks.h"
#include "index/span_search.h"
#include "index/tiles.h"
#include "index/valued_calls.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Keeps the reading of answers from being optimised away. */
static volatile uint64_t sink;

struct asking {
    const struct trace_index *index;
    const struct index_facts *facts;
    uint64_t random;
};

static uint64_t choose(struct asking *asking, uint64_t limit)
{
    asking->random = asking->random * UINT64_C(6364136223846793005) + 1442695040888963407;
    return limit ? (asking->random >> 20) % limit : 0;
}

static struct index_range choose_range(struct asking *asking)
{
    uint64_t from = choose(asking, asking->facts->duration + 2);
    uint64_t to =
        choose(asking, 4) ? from + choose(asking, asking->facts->duration / 2 + 2) : UINT64_MAX;
    return (struct index_range){choose(asking, 3) ? from : 0, to};
}

static void ask_facts(struct asking *asking)
{
    const struct index_facts *facts = asking->facts;
    if (facts->damage)
        sink += strlen(facts->damage);
    for (uint32_t i = 0; i < facts->tracks; i++) {
        struct index_track track = trace_index_track(asking->index, i);
        sink += strlen(track.process) + strlen(track.thread) + track.depth;
    }
    for (uint32_t i = 0; i < facts->functions; i++) {
        struct index_function function = trace_index_function(asking->index, i);
        sink += strlen(function.name) + trace_index_group_calls(asking->index, function.group);
        sink += function.symbol ? strlen(function.symbol) : 0;
        sink += function.file ? strlen(function.file) : 0;
    }
}

static void ask_tiles(struct asking *asking, uint32_t track)
{
    const struct tiles_request request = {
        .track = track,
        .range = choose_range(asking),
        .resolution = UINT64_C(1) << choose(asking, 64),
        .depth = (uint32_t)choose(asking, 3),
        .rows = choose(asking, 2) ? UINT32_MAX : 3,
        .limit = choose(asking, 2) ? 10 : 100000,
    };
    struct array tiles = array_of(sizeof(struct index_tile));
    bool more;
    index_tiles(asking->index, &request, &tiles, &more, NULL);
    for (size_t i = 0; i < tiles.count; i++) {
        const struct index_tile *tile = array_at(&tiles, i);
        sink += trace_index_function(asking->index, tile->function).calls;
    }
    array_free(&tiles);
}

static void ask_spans(struct asking *asking, uint32_t track)
{
    struct array stack = array_of(sizeof(struct index_span));
    uint64_t time = choose(asking, asking->facts->duration + 2), self, children;
    index_stack_at(asking->index, track, time, &stack, NULL);
    index_span_at(asking->index, track, (uint32_t)choose(asking, 8), time, &stack, NULL);
    for (size_t i = 0; i < stack.count && i < 5; i++) {
        const struct index_span *span = array_at(&stack, i);
        sink += trace_index_function(asking->index, span->function).calls;
        index_span_self(asking->index, track, span, &self, &children, NULL);
    }
    array_free(&stack);
}

static void ask_group(struct asking *asking)
{
    const struct index_tracks tracks = {0};
    struct call_statistics statistics;
    uint32_t group = (uint32_t)choose(asking, asking->facts->functions);
    struct call_place from = {.span = {.start = choose(asking, asking->facts->duration + 2)}};
    struct call_place call;
    uint64_t ordinal;
    struct off_cpu_times *off_cpu = off_cpu_times_new(asking->index, OFF_CPU_ALL);
    const struct calls_request calls = {tracks, choose_range(asking), group, 5, {0}, 7, off_cpu,
                                        true};
    index_calls(asking->index, &calls, &statistics, NULL);
    call_statistics_free(&statistics);
    off_cpu_times_free(off_cpu);
    index_next_call(asking->index, tracks, group, &from, true, &call, &ordinal, NULL);
    index_next_call(asking->index, tracks, group, &from, false, &call, &ordinal, NULL);
    if (index_nth_call(asking->index, group, 1 + choose(asking, 1000), &call, NULL))
        index_call_ordinal(asking->index, tracks, group, &call, &ordinal, NULL);
}

static void ask_range(struct asking *asking)
{
    const struct index_tracks tracks = {0};
    struct array rows = array_of(sizeof(struct function_row));
    struct array nodes = array_of(sizeof(struct flame_node));
    index_function_table(asking->index, tracks, choose_range(asking), &rows, NULL);
    index_flame_graph(asking->index, &(struct flame_request){tracks, choose_range(asking), 0, true},
                      &nodes, NULL);
    array_free(&rows);
    array_free(&nodes);
}

static void ask_quantiles(struct asking *asking)
{
    const struct index_tracks tracks = {0};
    const struct index_range range = choose_range(asking);
    struct array rows = array_of(sizeof(struct function_row));
    if (index_function_table(asking->index, tracks, range, &rows, NULL)) {
        struct function_quantiles *quantiles =
            memory_allocate_zeroed((rows.count + 1) * sizeof *quantiles);
        const struct quantiles_request request = {
            .wanted = (unsigned)choose(asking, 1 << FUNCTION_QUANTILES),
            .all_calls = choose(asking, 2),
        };
        index_function_quantiles(asking->index, tracks, range, request, &rows, quantiles, NULL);
        for (size_t i = 0; i < rows.count; i++)
            sink += quantiles[i].values[QUANTILE_MEDIAN] + quantiles[i].values[QUANTILE_P99];
        free(quantiles);
    }
    array_free(&rows);
}

static struct call_bound choose_bound(struct asking *asking, uint64_t limit)
{
    uint64_t least = choose(asking, 2) ? choose(asking, limit) : 0;
    return (struct call_bound){least, choose(asking, 2) ? choose(asking, limit) : UINT64_MAX};
}

static void ask_calls(struct asking *asking)
{
    struct call_numbers *numbers = call_numbers_new(asking->index);
    struct call_scan *scan = call_scan_new(numbers);
    struct call_bounds bounds = {
        .number = choose_bound(asking, asking->facts->spans + 2),
        .start = choose_bound(asking, asking->facts->duration + 2),
        .end = choose_bound(asking, asking->facts->duration + 2),
        .duration = choose_bound(asking, asking->facts->duration / 4 + 2),
        .group = CALL_ANY,
        .depth = choose(asking, 4) ? CALL_ANY : (uint32_t)choose(asking, 4),
    };
    if (asking->facts->functions > 0 && choose(asking, 3) == 0)
        bounds.group = (uint32_t)choose(asking, asking->facts->functions);
    call_scan_begin(scan, &bounds);
    while (call_scan_next(scan, NULL)) {
        uint64_t self, caller;
        if (!call_scan_self(scan, &self, NULL) || !call_scan_caller(scan, &caller, NULL))
            break;
        sink += self + caller + call_scan_number(scan) + call_scan_call(scan).depth;
    }
    call_scan_free(scan);
    call_numbers_free(numbers);
}

static void ask_marks(struct asking *asking)
{
    struct array marks = array_of(sizeof(struct index_mark));
    struct array hits = array_of(sizeof(struct index_hit));
    struct array points = array_of(sizeof(struct counter_point));
    bool more;
    index_marks(asking->index, choose_range(asking), 100, &marks, &more, NULL);
    index_hits(asking->index, choose_range(asking), 100, &hits, &more, NULL);
    for (size_t i = 0; i < marks.count; i++)
        sink += strlen(((struct index_mark *)array_at(&marks, i))->text);
    for (size_t i = 0; i < hits.count; i++)
        sink += strlen(((struct index_hit *)array_at(&hits, i))->name);
    for (uint32_t i = 0; i < asking->facts->counters; i++) {
        sink += strlen(trace_index_counter(asking->index, i).name);
        index_counter_points(asking->index, i, choose_range(asking), 10, &points, NULL);
    }
    array_free(&marks);
    array_free(&hits);
    array_free(&points);
}

static void ask_values(struct asking *asking)
{
    struct arena memory = {0};
    struct valued_call call;
    struct named_values values;
    bool found;
    for (uint64_t i = 0; i < asking->facts->valued_calls && i < 100; i++)
        if (index_valued_call(asking->index, i, &call, NULL) &&
            index_values_at(asking->index, &call.place, choose(asking, 2) ? VALUES_OF_LAST : i,
                            &call, &found, NULL) &&
            found && call.value_count < 100 &&
            index_values_of(asking->index, &call, &memory, &values, NULL))
            sink += strlen(values.text);
    arena_free(&memory);
}

static void ask(struct asking *asking)
{
    ask_facts(asking);
    for (int i = 0; i < 4 && asking->facts->tracks > 0; i++) {
        uint32_t track = (uint32_t)choose(asking, asking->facts->tracks);
        ask_tiles(asking, track);
        ask_spans(asking, track);
    }
    ask_group(asking);
    ask_range(asking);
    ask_quantiles(asking);
    ask_calls(asking);
    ask_calls(asking);
    ask_marks(asking);
    ask_values(asking);
}

void ask_everything(const uint8_t *bytes, size_t size, uint64_t seed)
{
    int descriptor = memfd_create("index", MFD_CLOEXEC);
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", descriptor);
    if (descriptor < 0)
        return;
    if (write(descriptor, bytes, size) == (ssize_t)size) {
        struct trace_index *index = trace_index_open(path, NULL);
        if (index) {
            struct asking asking = {index, trace_index_facts(index), seed};
            ask(&asking);
            trace_index_close(index);
        }
    }
    close(descriptor);
}
