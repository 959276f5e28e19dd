/* How fast a trace is indexed and the index asked:
 *
 *     index_speed TRACE.fxt INDEX [TIMES]
 *
 * The trace's events are read into memory first and replayed in batches, so that the reader's time
 * is not counted; TIMES times, one after the other, to see how it goes with a longer trace. Prints
 * one line a figure; CPU time, because other work may run beside it.
 */
#include "base/array.h"
#include "base/memory.h"
#include "bench_clock.h"
#include "index/build/index_builder.h"
#include "index/flame_graph.h"
#include "index/function_table.h"
#include "index/tiles.h"
#include "output/fxt/fxt_reader.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

enum { BATCH = 1024 };

/* A source that gives what is in memory. */
struct replay {
    struct span_source source;
    struct array events; /* of struct span_event */
    size_t given;
    uint64_t rounds, round;
    struct span_event batch[BATCH];
};

static uint64_t time_of(const struct replay *replay, size_t event)
{
    return ((const struct span_event *)array_at(&replay->events, event))->time.value;
}

static size_t take_replayed(struct span_source *source, const struct span_event **events,
                            struct error *error)
{
    struct replay *replay = source->context;
    size_t all = replay->events.count;
    if (replay->given == all && ++replay->round < replay->rounds)
        replay->given = 0;
    size_t count = all - replay->given < BATCH ? all - replay->given : BATCH;
    uint64_t later = all ? replay->round * (time_of(replay, all - 1) - time_of(replay, 0)) : 0;
    for (size_t i = 0; i < count; i++) {
        replay->batch[i] = *(struct span_event *)array_at(&replay->events, replay->given++);
        replay->batch[i].time.value += later;
    }
    *events = replay->batch;
    return count;
}

static void fail(const struct error *error)
{
    fprintf(stderr, "%s.\n", error->text);
    exit(1);
}

static void read_events(struct span_source *source, struct replay *replay)
{
    struct error error = {0};
    replay->events = array_of(sizeof(struct span_event));
    for (struct span_event event; source->next(source, &event, &error);)
        array_add_all(&replay->events, &event, 1);
    replay->source = *source;
    replay->source.context = replay;
    replay->source.take = take_replayed;
}

static void measure_build(struct replay *replay, const char *path)
{
    struct error error = {0};
    double begin = bench_cpu_seconds();
    if (!index_build(&replay->source, path, 1, &error))
        fail(&error);
    double seconds = bench_cpu_seconds() - begin;
    struct trace_index *index = trace_index_open(path, &error);
    if (!index)
        fail(&error);
    struct stat status;
    stat(path, &status);
    double spans = (double)trace_index_facts(index)->spans;
    printf("build: %.0f spans, %.2f s of CPU, %.1f M spans/s, %.2f bytes/span\n", spans, seconds,
           spans / seconds / 1e6, (double)status.st_size / spans);
    trace_index_close(index);
}

/* Every part of the trace, from the whole to a thousandth, in a thousand columns. */
static void measure_tiles(const struct trace_index *index)
{
    const struct index_facts *facts = trace_index_facts(index);
    for (unsigned parts = 1; parts <= 100000; parts *= 10) {
        uint64_t length = facts->duration / parts + 1, resolution = 1;
        while (resolution < length / 1000)
            resolution *= 2;
        unsigned asked = parts < 20 ? parts : 20;
        size_t count = 0;
        double begin = bench_cpu_seconds();
        for (unsigned i = 0; i < asked; i++) {
            struct array tiles = array_of(sizeof(struct index_tile));
            uint64_t from = facts->duration / asked * i;
            const struct tiles_request request = {
                .range = {from, from + length},
                .resolution = resolution,
                .rows = UINT32_MAX,
                .limit = 200000,
            };
            struct error error = {0};
            bool more;
            if (!index_tiles(index, &request, &tiles, &more, &error))
                fail(&error);
            count += tiles.count;
            array_free(&tiles);
        }
        printf("tiles: 1/%u of the trace: %.2f ms, %zu tiles\n", parts,
               (bench_cpu_seconds() - begin) * 1e3 / asked, count / asked);
    }
}

static struct index_range whole_trace(const struct trace_index *index)
{
    return (struct index_range){0, trace_index_facts(index)->duration + 1};
}

static void report(const struct trace_index *index, const char *what, double cpu, double wall)
{
    double spans = (double)trace_index_facts(index)->spans;
    printf("%s of the whole trace: %.0f ms of CPU, %.0f ms, %.1f ns/span\n", what, cpu * 1e3,
           wall * 1e3, cpu * 1e9 / spans);
}

static uint32_t measure_table(const struct trace_index *index)
{
    struct array rows = array_of(sizeof(struct function_row));
    struct error error = {0};
    double cpu = bench_cpu_seconds(), wall = bench_wall_seconds();
    if (!index_function_table(index, (struct index_tracks){0}, whole_trace(index), &rows, &error))
        fail(&error);
    report(index, "table", bench_cpu_seconds() - cpu, bench_wall_seconds() - wall);
    const struct function_row *most = rows.elements;
    for (size_t i = 1; i < rows.count; i++) {
        const struct function_row *row = array_at(&rows, i);
        if (row->calls > most->calls)
            most = row;
    }
    uint32_t group = rows.count > 0 ? most->group : 0;
    array_free(&rows);
    return group;
}

static void measure_flame(const struct trace_index *index)
{
    struct array nodes = array_of(sizeof(struct flame_node));
    struct error error = {0};
    double cpu = bench_cpu_seconds(), wall = bench_wall_seconds();
    const struct flame_request request = {.range = whole_trace(index), .share = 0.0005};
    if (!index_flame_graph(index, &request, &nodes, &error))
        fail(&error);
    report(index, "flame graph", bench_cpu_seconds() - cpu, bench_wall_seconds() - wall);
    array_free(&nodes);
}

static void measure_calls(const struct trace_index *index, uint32_t group)
{
    struct call_statistics calls;
    struct error error = {0};
    double cpu = bench_cpu_seconds(), wall = bench_wall_seconds();
    const struct calls_request request = {
        .range = whole_trace(index), .group = group, .slowest = 20};
    if (!index_calls(index, &request, &calls, &error))
        fail(&error);
    report(index, "calls of the most called", bench_cpu_seconds() - cpu,
           bench_wall_seconds() - wall);
    call_statistics_free(&calls);
}

static void measure_next(const struct trace_index *index, uint32_t group)
{
    struct call_place from = {.span = {.start = trace_index_facts(index)->duration / 2}}, call;
    uint64_t ordinal = 0;
    struct error error = {0};
    double cpu = bench_cpu_seconds(), wall = bench_wall_seconds();
    index_next_call(index, (struct index_tracks){0}, group, &from, true, &call, &ordinal, &error);
    report(index, "next call", bench_cpu_seconds() - cpu, bench_wall_seconds() - wall);
}

static void measure_queries(const char *path)
{
    struct error error = {0};
    double begin = bench_cpu_seconds();
    struct trace_index *index = trace_index_open(path, &error);
    if (!index)
        fail(&error);
    printf("open: %.2f ms\n", (bench_cpu_seconds() - begin) * 1e3);
    measure_tiles(index);
    uint32_t group = measure_table(index);
    measure_flame(index);
    measure_calls(index, group);
    measure_next(index, group);
    trace_index_close(index);
}

int main(int argc, char **argv)
{
    if (argc != 3 && argc != 4) {
        fputs("usage: index_speed TRACE.fxt INDEX [TIMES]\n", stderr);
        return 2;
    }
    struct error error = {0};
    struct span_source *source = fxt_read(argv[1], &error);
    if (!source)
        fail(&error);
    struct replay *replay = memory_allocate_zeroed(sizeof *replay);
    replay->rounds = argc == 4 ? strtoull(argv[3], NULL, 10) : 1;
    read_events(source, replay);
    measure_build(replay, argv[2]);
    array_free(&replay->events);
    free(replay);
    measure_queries(argv[2]);
    source->close(source);
    return 0;
}
