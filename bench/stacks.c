/* Memory and time of call stacks, without the decoder: follows made-up flow events and replays
 * them.
 *
 *     stacks [EVENTS [repeating|distinct|random [SEED]]]
 *
 * Prints processor time, and bytes per event from the peak resident set of the process, of which
 * one batch of events is a part as in a real decode. Exit status 1: the spans are not well nested.
 */
#include "made_up_program.h"

#include "base/array.h"
#include "stack/follow.h"
#include "stack/spans/replay.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

enum { BATCH = 4096 };

static void follow(struct thread_stack *stack, struct made_up_program *program, uint64_t count)
{
    struct flow_event batch[BATCH];
    while (count > 0) {
        size_t size = count < BATCH ? count : BATCH;
        for (size_t i = 0; i < size; i++)
            batch[i] = made_up_program_next(program);
        follow_events(stack, batch, size);
        count -= size;
    }
    follow_end(stack, &(struct follow_ending){0});
}

struct open_span {
    uint64_t place;
    function_id function;
    const struct gap *gap;
};

/* What is open, while the spans go by. */
struct nesting {
    struct array open; /* struct open_span */
    uint64_t place, spans;
    bool broken;
};

static void close_span(struct nesting *nesting, const struct replay_event *event)
{
    if (nesting->open.count == 0) {
        nesting->broken = true;
        return;
    }
    const struct open_span *span = array_at(&nesting->open, --nesting->open.count);
    if (span->function != event->function || span->gap != event->gap ||
        event->place.value <= span->place)
        nesting->broken = true;
}

static void take_span_event(struct nesting *nesting, const struct replay_event *event)
{
    if (event->place.value < nesting->place)
        nesting->broken = true;
    nesting->place = event->place.value;
    if (event->kind == SPAN_ENTER) {
        *(struct open_span *)array_add(&nesting->open) =
            (struct open_span){event->place.value, event->function, event->gap};
        nesting->spans++;
    } else if (event->kind == SPAN_LEAVE) {
        close_span(nesting, event);
    }
}

static struct nesting replay_all(const struct thread_stack *stack)
{
    struct nesting nesting = {.open = array_of(sizeof(struct open_span))};
    struct replay replay;
    struct replay_event events[64];
    size_t count;
    replay_init(&replay, stack);
    while ((count = replay_read(&replay, events, 64, (struct nanoseconds){UINT64_MAX})) > 0)
        for (size_t i = 0; i < count; i++)
            take_span_event(&nesting, &events[i]);
    replay_free(&replay);
    nesting.broken |= nesting.open.count != 0 || nesting.spans != stack->statistics.spans;
    array_free(&nesting.open);
    return nesting;
}

/* Of this process: others on the machine do not count. */
static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static bool parse_shape(const char *word, enum program_shape *shape)
{
    static const char *const names[] = {"repeating", "distinct", "random"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strcmp(word, names[i]) == 0) {
            *shape = (enum program_shape)i;
            return true;
        }
    return false;
}

static void print_facts(const struct thread_stack *stack, uint64_t events,
                        const struct nesting *nesting)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    printf("%llu events, %u frames, %llu spans, %zu segments, %llu unwound, %llu repaired\n",
           (unsigned long long)events, stack->tree.frames.count, (unsigned long long)nesting->spans,
           stack->segments.count, (unsigned long long)stack->statistics.unwound,
           (unsigned long long)stack->statistics.repaired);
    printf("peak memory %.1f bytes per event\n", (double)usage.ru_maxrss * 1024 / (double)events);
    printf("%s\n", nesting->broken ? "NOT WELL NESTED" : "well nested");
}

int main(int argc, char **argv)
{
    uint64_t events = argc > 1 ? strtoull(argv[1], NULL, 0) : 50000000;
    uint64_t seed = argc > 3 ? strtoull(argv[3], NULL, 0) : 1;
    enum program_shape shape = PROGRAM_RANDOM;
    if (events == 0 || seed == 0 || (argc > 2 && !parse_shape(argv[2], &shape))) {
        fprintf(stderr, "usage: stacks [EVENTS [repeating|distinct|random [SEED]]], numbers > 0\n");
        return 2;
    }
    struct made_up_program program;
    struct code_view code = made_up_program_code();
    struct thread_stack stack;
    made_up_program_begin(&program, shape, seed);
    thread_stack_init(&stack, &code);
    double begin = seconds();
    follow(&stack, &program, events);
    double followed = seconds();
    struct nesting nesting = replay_all(&stack);
    double replayed = seconds();
    printf("follow %.2f s, replay %.2f s\n", followed - begin, replayed - followed);
    print_facts(&stack, events, &nesting);
    thread_stack_free(&stack);
    return nesting.broken;
}
