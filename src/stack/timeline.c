#include "stack/timeline.h"

#include "base/memory.h"
#include "base/printable.h"
#include "stack/death_text.h"
#include "stack/follow.h"
#include "stack/migrated_stacks.h"
#include "stack/rules/sampled_stacks.h"
#include "stack/timeline_memory.h"

#include <stdlib.h>

static void *begin_thread(void *context, const struct thread *thread)
{
    struct timeline *timeline = context;
    const struct address_spaces *spaces = flow_address_spaces(timeline->flow);
    const struct process *process = address_spaces_process(spaces, thread->pid);
    struct timeline_thread *begun = memory_allocate_zeroed(sizeof(*begun));
    begun->timeline = timeline;
    begun->thread = *thread;
    begun->code = process_code_open(process, flow_symbols(timeline->flow),
                                    flow_text_code(timeline->flow, thread->pid));
    struct code_view view = process_code_view(begun->code);
    thread_stack_init(&begun->stack, &view);
    begun->stack.no_stitching = flow_is_sampled(timeline->flow);
    begun->stack.begins_anywhere = flow_is_snapshot(timeline->flow);
    if (flow_finds_inlined(timeline->flow))
        begun->stack.inlined =
            process_code_inlined_view(flow_symbols(timeline->flow), timeline->moves);
    sampled_stacks_init(&begun->sampled);

    pthread_mutex_lock(&timeline->lock);
    *(struct timeline_thread **)array_add(&timeline->threads) = begun;
    pthread_mutex_unlock(&timeline->lock);
    return begun;
}

static void take_events(void *thread_object, const struct flow_event *events, size_t count)
{
    struct timeline_thread *thread = thread_object;
    follow_events(&thread->stack, events, count);
}

static void take_sample(void *thread_object, const struct stack_sample *sample)
{
    struct timeline_thread *thread = thread_object;
    sampled_stacks_follow(&thread->stack, &thread->sampled, sample);
}

/* NULL if no signal ended the thread. */
static const char *death_words(struct timeline_thread *thread)
{
    struct session_death death;
    if (!flow_death(thread->timeline->flow, thread->thread.pid, thread->thread.tid, &death))
        return NULL;
    struct code_place place = {0};
    if (death.has_address)
        place = process_code_place(thread->code, death.address);
    thread->death = death_text(&death, &place);
    return thread->death;
}

static void end_thread(void *thread_object)
{
    struct timeline_thread *thread = thread_object;
    if (thread->code == NULL)
        return;
    struct follow_ending ending = {.time = thread->thread.ended, .death = death_words(thread)};
    follow_end(&thread->stack, &ending);
    process_code_close(thread->code);
    thread->code = NULL;
}

static struct timeline_thread *thread_at(const struct timeline *timeline, size_t index)
{
    return *(struct timeline_thread **)array_at(&timeline->threads, index);
}

static void free_thread(struct timeline_thread *thread)
{
    end_thread(thread);
    thread_stack_free(&thread->stack);
    sampled_stacks_free(&thread->sampled);
    free(thread->death);
    free(thread);
}

static int compare_numbers(uint64_t left, uint64_t right)
{
    return left < right ? -1 : left > right;
}

/* Decoding threads begin in any order; the result must not depend on it. */
static int compare_threads(const void *left_pointer, const void *right_pointer)
{
    const struct timeline_thread *left = *(struct timeline_thread *const *)left_pointer;
    const struct timeline_thread *right = *(struct timeline_thread *const *)right_pointer;
    int order = compare_numbers(left->thread.pid, right->thread.pid);
    if (order == 0)
        order = compare_numbers(left->thread.tid, right->thread.tid);
    if (order == 0)
        order = compare_numbers(left->stack.history.first.value, right->stack.history.first.value);
    return order;
}

static void drop_empty_threads(struct timeline *timeline)
{
    size_t kept = 0;
    for (size_t i = 0; i < timeline->threads.count; i++) {
        struct timeline_thread *thread = thread_at(timeline, i);
        if (thread->stack.history.count == 0)
            free_thread(thread);
        else
            *(struct timeline_thread **)array_at(&timeline->threads, kept++) = thread;
    }
    timeline->threads.count = kept;
}

static void find_origin(struct timeline *timeline)
{
    for (size_t i = 0; i < timeline->threads.count; i++) {
        struct ticks first = thread_at(timeline, i)->stack.history.first;
        if (i == 0 || first.value < timeline->origin.value)
            timeline->origin = first;
    }
}

static void make_tracks(struct timeline *timeline)
{
    const struct address_spaces *spaces = flow_address_spaces(timeline->flow);
    for (size_t i = 0; i < timeline->threads.count; i++) {
        const struct thread *thread = &thread_at(timeline, i)->thread;
        const struct process *process = address_spaces_process(spaces, thread->pid);
        struct arena *memory = &timeline->functions.memory;
        const char *name = printable_name(memory, thread->name);
        *(struct span_track *)array_add(&timeline->tracks) = (struct span_track){
            .pid = thread->pid,
            .tid = thread->tid,
            .process_name = process != NULL ? printable_name(memory, process->name) : name,
            .thread_name = name,
        };
    }
}

/* The threads from index `first` to `end` are those of one process. */
static void migrate_in_process(struct timeline *timeline, size_t first, size_t end)
{
    struct array stacks = array_of(sizeof(struct thread_stack *));
    for (size_t i = first; i < end; i++)
        *(struct thread_stack **)array_add(&stacks) = &thread_at(timeline, i)->stack;
    migrated_stacks_join(stacks.elements, stacks.count, &timeline->shared_stacks);
    array_free(&stacks);
}

static void migrate_in_processes(struct timeline *timeline)
{
    size_t first = 0;
    for (size_t i = 1; i <= timeline->threads.count; i++) {
        bool last = i == timeline->threads.count;
        if (last || thread_at(timeline, i)->thread.pid != thread_at(timeline, first)->thread.pid) {
            migrate_in_process(timeline, first, i);
            first = i;
        }
    }
}

static void finish_decoding(struct timeline *timeline)
{
    for (size_t i = 0; i < timeline->threads.count; i++)
        end_thread(thread_at(timeline, i));
    drop_empty_threads(timeline);
    if (timeline->threads.count > 0)
        qsort(timeline->threads.elements, timeline->threads.count, timeline->threads.element_size,
              compare_threads);
    migrate_in_processes(timeline);
    find_origin(timeline);
    make_tracks(timeline);
}

struct timeline *timeline_decode(const char *path, const struct flow_options *options,
                                 struct error *error)
{
    struct flow *flow = flow_open(path, options, error);
    if (flow == NULL)
        return NULL;
    struct timeline *timeline = memory_allocate_zeroed(sizeof(*timeline));
    timeline->flow = flow;
    timeline->threads = array_of(sizeof(struct timeline_thread *));
    timeline->tracks = array_of(sizeof(struct span_track));
    pthread_mutex_init(&timeline->lock, NULL);
    span_functions_init(&timeline->functions, flow_symbols(flow));
    if (flow_finds_inlined(flow) && !flow_has_coarse_times(flow))
        timeline->moves = inlined_moves_new(symbols_inlined_calls(flow_symbols(flow)));

    struct flow_sink sink = {
        .context = timeline,
        .begin = begin_thread,
        .events = take_events,
        .sample = take_sample,
        .end = end_thread,
    };
    if (!flow_decode(flow, &sink, error)) {
        timeline_free(timeline);
        return NULL;
    }
    finish_decoding(timeline);
    return timeline;
}

void timeline_free(struct timeline *timeline)
{
    for (size_t i = 0; i < timeline->threads.count; i++)
        free_thread(thread_at(timeline, i));
    array_free(&timeline->threads);
    array_free(&timeline->tracks);
    span_functions_free(&timeline->functions);
    inlined_moves_free(timeline->moves);
    pthread_mutex_destroy(&timeline->lock);
    flow_close(timeline->flow);
    free(timeline);
}

const struct clock_conversion *timeline_clock(const struct timeline *timeline)
{
    const struct pt_setup *setup = &flow_perf_data(timeline->flow)->setup;
    return setup->has_clock ? &setup->clock : NULL;
}

struct history_clock timeline_history_clock(const struct timeline *timeline)
{
    return (struct history_clock){.conversion = timeline_clock(timeline),
                                  .is_coarse = flow_has_coarse_times(timeline->flow)};
}

struct nanoseconds timeline_nanoseconds(const struct timeline *timeline, struct ticks ticks)
{
    const struct clock_conversion *clock = timeline_clock(timeline);
    if (clock == NULL)
        return (struct nanoseconds){ticks.value};
    return clock_to_nanoseconds(clock, ticks);
}

struct nanoseconds timeline_origin(const struct timeline *timeline)
{
    return timeline_nanoseconds(timeline, timeline->origin);
}

struct timeline_statistics timeline_statistics(const struct timeline *timeline)
{
    struct timeline_statistics sum = {
        .flow = flow_statistics(timeline->flow),
        .threads = timeline->threads.count,
        .damaged_debug = symbols_damaged_debug_information(timeline->functions.symbols)};
    for (size_t i = 0; i < timeline->threads.count; i++) {
        const struct thread_stack *stack = &thread_at(timeline, i)->stack;
        sum.spans += stack->statistics.spans;
        sum.gaps += stack->gaps.count;
        sum.unwound += stack->statistics.unwound;
        sum.repaired += stack->statistics.repaired;
        sum.ignored += stack->statistics.ignored;
    }
    return sum;
}

const struct flow *timeline_flow(const struct timeline *timeline)
{
    return timeline->flow;
}

const struct error *timeline_damage(const struct timeline *timeline)
{
    return flow_damage(timeline->flow);
}
