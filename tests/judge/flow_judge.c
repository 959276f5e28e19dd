/* flow_judge [-events] RECORDING: what src/flow makes of a recording, in the words of the other
 * judges.
 *
 * With -events every flow event is printed too, one line each. Exit status 1 when there was a
 * decode error.
 */
#include "base/memory.h"
#include "decode/flow.h"
#include "judge.h"

#include <stdlib.h>
#include <string.h>

static const char *const kind_names[] = {
    "call", "return",    "jump",     "syscall", "interrupt", "resume", "kernel-return",
    "stop", "trap-push", "trap-pop", "stack",   "caller",    "gap",    "abort"};

static const char *const gap_names[] = {"", "overflow", "lost", "error", "no-image"};

struct counted_thread {
    struct judgement judgement;
    struct flow *flow;
    bool show;
};

struct counting {
    struct flow *flow;
    bool show;
    struct counted_thread **threads;
    size_t count;
};

static void *begin(void *context, const struct thread *thread)
{
    struct counting *counting = context;
    struct counted_thread *counted = memory_allocate_zeroed(sizeof(*counted));
    counted->judgement.tid = thread->tid;
    counted->flow = counting->flow;
    counted->show = counting->show;
    counting->threads =
        memory_resize(counting->threads, (counting->count + 1) * sizeof(*counting->threads));
    counting->threads[counting->count++] = counted;
    return counted;
}

static void print_event(const struct counted_thread *thread, const struct flow_event *event)
{
    printf("%u %" PRIu64 "%s %s %#" PRIx64 " -> %#" PRIx64 " %s %s%s%s%s\n", thread->judgement.tid,
           event->time.value, event->flags & FLOW_TIME_EXACT ? "!" : "", kind_names[event->kind],
           event->from, event->to,
           symbols_function(flow_symbols(thread->flow), event->function)->name,
           gap_names[event->gap], event->flags & FLOW_LOADS_STACK ? "loads-stack" : "",
           event->error ? ": " : "", event->error ? flow_error_text(event->error) : "");
}

static void take_events(void *thread_object, const struct flow_event *events, size_t count)
{
    struct counted_thread *thread = thread_object;
    struct judgement *judgement = &thread->judgement;
    for (size_t i = 0; i < count; i++) {
        const struct flow_event *event = &events[i];
        judgement->calls += event->kind == FLOW_CALL;
        judgement->returns += event->kind == FLOW_RETURN;
        judgement->syscalls += event->kind == FLOW_SYSCALL;
        judgement->interrupts += event->kind == FLOW_INTERRUPT;
        judgement->errors += event->kind == FLOW_GAP &&
                             (event->gap == FLOW_GAP_ERROR || event->gap == FLOW_GAP_NO_IMAGE);
        if (thread->show)
            print_event(thread, event);
    }
}

static void end(void *thread_object)
{
    (void)thread_object;
}

int main(int argc, char **argv)
{
    bool show = argc == 3 && strcmp(argv[1], "-events") == 0;
    struct flow_options options = {.no_inlined = true, .cores = show ? 1 : 0};
    struct error error;
    if (argc != (show ? 3 : 2)) {
        fprintf(stderr, "Usage: flow_judge [-events] RECORDING\n");
        return 2;
    }
    struct flow *flow = flow_open(argv[argc - 1], &options, &error);
    if (!flow) {
        fprintf(stderr, "%s\n", error.text);
        return 2;
    }
    struct counting counting = {.flow = flow, .show = show};
    struct flow_sink sink = {
        .context = &counting, .begin = begin, .events = take_events, .end = end};
    bool decoded = flow_decode(flow, &sink, &error);
    if (!decoded)
        fprintf(stderr, "%s\n", error.text);
    for (size_t i = 0; i < counting.count; i++) {
        print_judgement(&counting.threads[i]->judgement);
        free(counting.threads[i]);
    }
    free(counting.threads);
    struct flow_statistics statistics = flow_statistics(flow);
    printf("all: %" PRIu64 " bytes, %" PRIu64 " instructions, %" PRIu64 " events, %" PRIu64
           " errors, %" PRIu64 " overflows\n",
           statistics.bytes, statistics.instructions, statistics.events, statistics.errors,
           statistics.overflows);
    if (flow_damage(flow))
        fprintf(stderr, "%s\n", flow_damage(flow)->text);
    flow_close(flow);
    return !decoded || statistics.errors;
}
