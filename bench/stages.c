/* What each stage after the decoder costs on a real recording: stacks, spans, trace, compression.
 *
 *     stages RECORDING [RUNS [no-inlined]]
 *
 * The flow events are decoded once and kept in memory (40 bytes each); then every stage runs alone,
 * RUNS times (default 3), and the fastest is reported: processor time of all threads of the
 * process, in nanoseconds per flow event and per span. The rows of traces contain that of spans.
 */
#include "base/file.h"
#include "base/memory.h"
#include "output/fxt/fxt_writer.h"
#include "stack/follow.h"
#include "stack/process_code.h"
#include "stack/timeline.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

/* One batch of events as the decoder gave it. */
struct kept_batch {
    size_t count;
    struct flow_event *events;
};

struct kept_thread {
    struct recorded *recorded;
    const struct thread *thread;
    struct array batches; /* struct kept_batch */
};

struct recorded {
    struct flow *flow;
    struct array threads; /* struct kept_thread * */
    uint64_t events;
};

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void *keep_thread(void *context, const struct thread *thread)
{
    struct recorded *recorded = context;
    struct kept_thread *kept = memory_allocate_zeroed(sizeof(*kept));
    *kept = (struct kept_thread){recorded, thread, array_of(sizeof(struct kept_batch))};
    *(struct kept_thread **)array_add(&recorded->threads) = kept;
    return kept;
}

static void keep_events(void *thread_object, const struct flow_event *events, size_t count)
{
    struct kept_thread *thread = thread_object;
    struct array copy = array_of(sizeof(struct flow_event));
    array_add_all(&copy, events, count);
    *(struct kept_batch *)array_add(&thread->batches) =
        (struct kept_batch){.count = count, .events = copy.elements};
    thread->recorded->events += count;
}

static void keep_end(void *thread_object)
{
}

static bool decode(struct recorded *recorded, const char *path, bool no_inlined,
                   struct error *error)
{
    struct flow_options options = {.cores = 1, .no_inlined = no_inlined};
    *recorded = (struct recorded){.threads = array_of(sizeof(struct kept_thread *))};
    recorded->flow = flow_open(path, &options, error);
    struct flow_sink sink = {
        .context = recorded, .begin = keep_thread, .events = keep_events, .end = keep_end};
    return recorded->flow != NULL && flow_decode(recorded->flow, &sink, error);
}

static void follow_thread(const struct recorded *recorded, const struct kept_thread *kept)
{
    const struct address_spaces *spaces = flow_address_spaces(recorded->flow);
    uint32_t pid = kept->thread->pid;
    struct process_code *code =
        process_code_open(address_spaces_process(spaces, pid), flow_symbols(recorded->flow),
                          flow_text_code(recorded->flow, pid));
    struct code_view view = process_code_view(code);
    struct thread_stack stack;
    thread_stack_init(&stack, &view);
    for (size_t i = 0; i < kept->batches.count; i++) {
        const struct kept_batch *batch = array_at(&kept->batches, i);
        follow_events(&stack, batch->events, batch->count);
    }
    follow_end(&stack, &(struct follow_ending){.time = kept->thread->ended});
    thread_stack_free(&stack);
    process_code_close(code);
}

static double measure_follow(const struct recorded *recorded)
{
    double begin = seconds();
    for (size_t i = 0; i < recorded->threads.count; i++)
        follow_thread(recorded, *(struct kept_thread **)array_at(&recorded->threads, i));
    return seconds() - begin;
}

static void forget(struct recorded *recorded)
{
    for (size_t i = 0; i < recorded->threads.count; i++) {
        struct kept_thread *kept = *(struct kept_thread **)array_at(&recorded->threads, i);
        for (size_t j = 0; j < kept->batches.count; j++)
            free(((struct kept_batch *)array_at(&kept->batches, j))->events);
        array_free(&kept->batches);
        free(kept);
    }
    array_free(&recorded->threads);
    flow_close(recorded->flow);
}

static double measure_spans(struct timeline *timeline)
{
    struct error error = {0};
    struct span_event room;
    const struct span_event *events;
    double begin = seconds();
    struct span_source *source = timeline_spans(timeline, &error);
    while (span_source_take(source, &room, &events, &error) > 0)
        ;
    source->close(source);
    return seconds() - begin;
}

/* Negative: the trace could not be written. */
static double measure_trace(struct timeline *timeline, const char *path,
                            enum fxt_compression compression)
{
    struct fxt_options options = {.compression = compression};
    struct error error = {0};
    double begin = seconds();
    struct span_source *source = timeline_spans(timeline, &error);
    bool ok = fxt_write(source, path, &options, &error);
    source->close(source);
    if (!ok)
        fprintf(stderr, "%s\n", error.text);
    return ok ? seconds() - begin : -1;
}

struct totals {
    uint64_t events, spans;
};

static void show(const char *stage, double best, const struct totals *totals, uint64_t bytes)
{
    printf("%-28s %8.3f s %9.1f ns/event %9.1f ns/span", stage, best,
           best * 1e9 / (double)totals->events, best * 1e9 / (double)totals->spans);
    if (bytes > 0)
        printf(" %9.1f MB", (double)bytes / 1e6);
    puts("");
}

static double least(double left, double right)
{
    return left < right ? left : right;
}

static bool measure_file(struct timeline *timeline, const struct totals *totals, const char *stage,
                         const char *path, unsigned runs, enum fxt_compression compression)
{
    double best = 1e9;
    for (unsigned i = 0; i < runs; i++)
        best = least(best, measure_trace(timeline, path, compression));
    struct stat status = {0};
    if (best < 0 || stat(path, &status) != 0)
        return false;
    show(stage, best, totals, (uint64_t)status.st_size);
    return true;
}

static bool measure_output(struct timeline *timeline, struct totals *totals, unsigned runs)
{
    char folder[] = "/tmp/stages-XXXXXX";
    if (mkdtemp(folder) == NULL) {
        perror(folder);
        return false;
    }
    double best = 1e9;
    for (unsigned i = 0; i < runs; i++)
        best = least(best, measure_spans(timeline));
    show("spans", best, totals, 0);
    char plain[64], gzip[64];
    snprintf(plain, sizeof plain, "%s/trace.fxt", folder);
    snprintf(gzip, sizeof gzip, "%s/trace.fxt.gz", folder);
    bool ok = measure_file(timeline, totals, "trace, to /dev/null", "/dev/null", runs,
                           FXT_COMPRESS_NONE) &&
              measure_file(timeline, totals, "trace, to a file", plain, runs, FXT_COMPRESS_NONE) &&
              measure_file(timeline, totals, "trace, compressed", gzip, runs, FXT_COMPRESS_GZIP);
    file_remove_tree(folder, NULL);
    return ok;
}

int main(int argc, char **argv)
{
    unsigned runs = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 3;
    bool no_inlined = argc == 4 && strcmp(argv[3], "no-inlined") == 0;
    if (argc < 2 || argc > (no_inlined ? 4 : 3) || runs == 0) {
        fprintf(stderr, "usage: stages RECORDING [RUNS [no-inlined]]\n");
        return 2;
    }
    struct error error = {0};
    struct recorded recorded;
    struct flow_options options = {.cores = 0, .no_inlined = no_inlined};
    struct timeline *timeline = timeline_decode(argv[1], &options, &error);
    if (timeline == NULL || !decode(&recorded, argv[1], no_inlined, &error)) {
        fprintf(stderr, "%s\n", error.text);
        return 1;
    }
    struct totals totals = {recorded.events, timeline_statistics(timeline).spans};
    printf("%s: %llu flow events, %llu spans\n", argv[1], (unsigned long long)totals.events,
           (unsigned long long)totals.spans);
    double best = 1e9;
    for (unsigned i = 0; i < runs; i++)
        best = least(best, measure_follow(&recorded));
    show("stacks", best, &totals, 0);
    forget(&recorded);
    bool ok = measure_output(timeline, &totals, runs);
    timeline_free(timeline);
    return !ok;
}
