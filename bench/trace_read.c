/* How fast a trace file becomes spans again.
 *
 *     trace_read FILE...    for each: millions of spans per second of processor time, for going
 *                           through the file first (threads, order), for its events, and together
 */
#include "bench_clock.h"
#include "output/fxt/fxt_reader.h"

#include <inttypes.h>
#include <stdio.h>

static uint64_t count_spans(struct span_source *source, struct error *error)
{
    struct span_event room;
    const struct span_event *events;
    uint64_t spans = 0;
    for (size_t count; (count = span_source_take(source, &room, &events, error)) > 0;)
        for (size_t i = 0; i < count; i++)
            spans += events[i].kind == SPAN_ENTER;
    return spans;
}

static bool measure(const char *path)
{
    struct error error = {0};
    double begin = bench_cpu_seconds();
    struct span_source *source = fxt_read(path, &error);
    if (!source) {
        fprintf(stderr, "%s\n", error.text);
        return false;
    }
    double surveyed = bench_cpu_seconds();
    uint64_t spans = count_spans(source, &error);
    double end = bench_cpu_seconds();
    source->close(source);
    if (error.code != ERROR_NONE)
        fprintf(stderr, "%s\n", error.text);
    double millions = (double)spans / 1e6;
    printf("%-40s %10" PRIu64 " %8.1f %8.1f %8.1f\n", path, spans, millions / (surveyed - begin),
           millions / (end - surveyed), millions / (end - begin));
    return error.code == ERROR_NONE;
}

int main(int argc, char **argv)
{
    bool ok = argc > 1;
    printf("%-40s %10s %8s %8s %8s\n", "million spans per second", "spans", "survey", "events",
           "both");
    for (int i = 1; i < argc; i++)
        ok = measure(argv[i]) && ok;
    return !ok;
}
