/* Memory and time of call stacks, without the decoder: follows made-up flow events and replays
 * them.
 *
 *     stack_memory [EVENTS [repeating|distinct]]
 *
 * Two shapes: "repeating" is what programs do (the same calls on the same stacks over and over),
 * "distinct" is the worst case (every call makes a stack that was never seen before). Prints bytes
 * per event, from the peak resident set of the process, of which one batch of events is a part as
 * in a real decode.
 */
#include "stack/follow.h"
#include "stack/replay.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

enum { FUNCTION_SIZE_BITS = 12, BATCH = 4096, DEPTH_MAXIMUM = 64, REPEATING_DEPTH_MAXIMUM = 12 };

struct program {
    uint64_t random; /* state of xorshift64 */
    uint64_t time;
    uint64_t calls;
    bool distinct;
    uint64_t return_addresses[DEPTH_MAXIMUM];
    size_t depth;
};

static uint64_t random_number(struct program *program)
{
    program->random ^= program->random << 13;
    program->random ^= program->random >> 7;
    program->random ^= program->random << 17;
    return program->random;
}

static uint64_t function_start(void *context, struct ticks time, uint64_t address)
{
    return address >> FUNCTION_SIZE_BITS << FUNCTION_SIZE_BITS;
}

static uint64_t landing_pad(void *context, struct ticks time, uint64_t address)
{
    return 0;
}

static bool forces_unwinding(void *context, function_id function)
{
    return false;
}

static uint32_t program_changes(void *context, struct ticks time)
{
    return 0;
}

/* A site that never comes again, or one of two of the function at this depth. */
static uint64_t call_site(struct program *program)
{
    if (program->distinct)
        return ++program->calls << 8;
    return (program->depth + 1) << FUNCTION_SIZE_BITS | (random_number(program) & 1) << 4;
}

static struct flow_event next_event(struct program *program)
{
    uint64_t number = random_number(program);
    struct flow_event event = {.time = {program->time += number % 64}};
    size_t depth_maximum = program->distinct ? DEPTH_MAXIMUM : REPEATING_DEPTH_MAXIMUM;
    bool is_call = program->depth == 0 || (program->depth < depth_maximum && number >> 32 & 1);
    if (is_call) {
        event.kind = FLOW_CALL;
        event.function = FUNCTION_FIRST + (function_id)program->depth;
        event.to = (uint64_t)event.function << FUNCTION_SIZE_BITS;
        event.next = program->return_addresses[program->depth++] = call_site(program) + 5;
    } else {
        event.kind = FLOW_RETURN;
        event.to = program->return_addresses[--program->depth];
        event.function = FUNCTION_FIRST;
    }
    return event;
}

static void follow(struct thread_stack *stack, struct program *program, uint64_t count)
{
    struct flow_event batch[BATCH];
    while (count > 0) {
        size_t size = count < BATCH ? count : BATCH;
        for (size_t i = 0; i < size; i++)
            batch[i] = next_event(program);
        follow_events(stack, batch, size);
        count -= size;
    }
    follow_end(stack, &(struct follow_ending){0});
}

static uint64_t replay_all(const struct thread_stack *stack)
{
    struct replay replay;
    struct replay_event event;
    uint64_t count = 0;
    replay_init(&replay, stack);
    while (replay_next(&replay, &event))
        count++;
    replay_free(&replay);
    return count;
}

static enum go_role go_role(void *context, function_id function)
{
    return GO_ROLE_NONE;
}

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
    uint64_t events = argc > 1 ? strtoull(argv[1], NULL, 0) : 100000000;
    struct program program = {
        .random = 1,
        .distinct = argc > 2 && strcmp(argv[2], "distinct") == 0,
    };
    struct code_view code = {
        .context = NULL,
        .function_start = function_start,
        .landing_pad = landing_pad,
        .forces_unwinding = forces_unwinding,
        .program_changes = program_changes,
        .go_role = go_role,
    };
    struct thread_stack stack;
    struct rusage usage;
    if (events == 0) {
        fprintf(stderr, "stack_memory: the number of events must be positive\n");
        return 2;
    }
    thread_stack_init(&stack, &code);
    double begin = seconds();
    follow(&stack, &program, events);
    double followed = seconds();
    uint64_t spans = replay_all(&stack);
    double replayed = seconds();
    getrusage(RUSAGE_SELF, &usage);
    printf("%llu events, %u frames, %llu span events\n", (unsigned long long)events,
           stack.tree.count, (unsigned long long)spans);
    printf("follow %.1f ns per event, replay %.1f ns per span event\n",
           (followed - begin) * 1e9 / (double)events, (replayed - followed) * 1e9 / (double)spans);
    printf("peak memory %.1f bytes per event\n", (double)usage.ru_maxrss * 1024 / (double)events);
    thread_stack_free(&stack);
    return 0;
}
