/* flow_alone RECORDING [CORES [no-inlined]]: from packets to flow events and no further, the events are only
 * counted. Called by bench/decode. Prints one line of JSON; seconds of processor time but for
 * wall_seconds, which is decoding without opening.
 */
#include "base/memory.h"
#include "bench_clock.h"
#include "decode/flow.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *begin(void *context, const struct thread *thread)
{
    return context;
}

static void count_events(void *events, const struct flow_event *batch, size_t count)
{
    atomic_fetch_add_explicit((_Atomic uint64_t *)events, count, memory_order_relaxed);
}

static void end(void *events)
{
}

int main(int argc, char **argv)
{
    bool no_inlined = argc == 4 && strcmp(argv[3], "no-inlined") == 0;
    if (argc < 2 || argc > (no_inlined ? 4 : 3)) {
        fprintf(stderr, "Usage: flow_alone RECORDING [CORES [no-inlined]]\n");
        return 2;
    }
    struct flow_options options = {.cores = argc >= 3 ? (unsigned)atoi(argv[2]) : 1,
                                   .no_inlined = no_inlined};
    struct error error;
    memory_keep_freed(); /* as `magic-trace decode` does */
    double began = bench_cpu_seconds();
    struct flow *flow = flow_open(argv[1], &options, &error);
    if (!flow) {
        fprintf(stderr, "%s\n", error.text);
        return 1;
    }
    double opened = bench_cpu_seconds(), opened_wall = bench_wall_seconds();
    _Atomic uint64_t events = 0;
    struct flow_sink sink = {
        .context = &events, .begin = begin, .events = count_events, .end = end};
    if (!flow_decode(flow, &sink, &error)) {
        fprintf(stderr, "%s\n", error.text);
        return 1;
    }
    double decoded = bench_cpu_seconds(), decoded_wall = bench_wall_seconds();
    struct flow_statistics statistics = flow_statistics(flow);
    printf("{\"open_seconds\": %.6f, \"seconds\": %.6f, \"wall_seconds\": %.6f, "
           "\"bytes\": %" PRIu64 ", \"instructions\": %" PRIu64 ", \"events\": %" PRIu64
           ", \"errors\": %" PRIu64 "}\n",
           opened - began, decoded - opened, decoded_wall - opened_wall, statistics.bytes,
           statistics.instructions, atomic_load(&events), statistics.errors);
    flow_close(flow);
    return 0;
}
