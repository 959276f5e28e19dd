#include "decode/thread_sink.h"

void thread_output_begin(struct thread_sink *output)
{
    if (output->begun)
        return;
    output->held = array_of(sizeof(struct flow_event));
    output->object = output->sink->begin(output->sink->context, output->thread);
    output->begun = true;
}

/* After a PSB time may be earlier than a time computed before. */
static void put_times_in_order(struct thread_sink *output, struct flow_event *events, size_t count)
{
    uint64_t newest = output->last_time.value;
    for (size_t i = 0; i < count && events[i].time.value < newest; i++)
        events[i].time.value = newest;
    output->last_time = events[count - 1].time;
}

static void deliver(struct thread_sink *output, struct flow_event *events, size_t count)
{
    if (!count)
        return;
    put_times_in_order(output, events, count);
    output->sink->events(output->object, events, count);
    output->delivered += count;
}

static void release(struct thread_sink *output)
{
    deliver(output, output->held.elements, output->held.count);
    output->held.count = 0;
}

static void hold(struct thread_sink *output, const struct flow_event *event)
{
    struct flow_event *held = array_add(&output->held);
    *held = *event;
    if (output->held.count > 1 && held->time.value < held[-1].time.value)
        held->time = held[-1].time;
}

static void count_gap(struct thread_sink *output, const struct flow_event *event)
{
    if (event->gap == FLOW_GAP_OVERFLOW)
        output->overflows++;
    else if (event->gap == FLOW_GAP_ERROR || event->gap == FLOW_GAP_NO_IMAGE)
        output->errors++;
}

/* True if the event was handled; else the caller passes it on after the held ones. */
static bool take_in_gap(struct thread_sink *output, const struct flow_event *event)
{
    if (event->kind == FLOW_GAP) {
        output->held.count = 0;
        return true;
    }
    if (event->kind != FLOW_RESUME && (event->kind != FLOW_CALLER || !output->held.count))
        return false;
    hold(output, event);
    return true;
}

void thread_output_add_hole(struct thread_sink *output, struct ticks begin)
{
    if (!output->holes.element_size)
        output->holes = array_of(sizeof(struct ticks));
    size_t index = output->holes.count;
    while (index > 0 && ((struct ticks *)array_at(&output->holes, index - 1))->value > begin.value)
        index--;
    *(struct ticks *)array_insert(&output->holes, index) = begin;
}

/* Whether `time` is the first that is later than one hole or several; *begin is the begin of the
 * last of them. */
static bool pass_holes(struct thread_sink *output, struct ticks time, struct ticks *begin)
{
    size_t first = output->next_hole;
    while (output->next_hole < output->holes.count) {
        const struct ticks *hole = array_at(&output->holes, output->next_hole);
        if (hole->value >= time.value)
            break;
        *begin = *hole;
        output->next_hole++;
    }
    return output->next_hole > first;
}

static void add_one(struct thread_sink *output, struct flow_event *event);

/* Called when tracing of the thread starts. */
static void report_hole(struct thread_sink *output, struct ticks time)
{
    struct flow_event gap = {.kind = FLOW_GAP, .gap = FLOW_GAP_LOST, .flags = FLOW_TIME_LOST};
    if (pass_holes(output, time, &gap.time) && !output->in_gap &&
        (output->delivered || output->held.count))
        add_one(output, &gap);
}

static void add_one(struct thread_sink *output, struct flow_event *event)
{
    if (event->kind == FLOW_RESUME)
        report_hole(output, event->time);
    if (output->in_gap && take_in_gap(output, event))
        return;
    release(output);
    output->in_gap = event->kind == FLOW_GAP;
    if (output->in_gap)
        count_gap(output, event);
    if (event->kind == FLOW_INTERRUPT && !event->to)
        hold(output, event);
    else
        deliver(output, event, 1);
}

void thread_output_add(struct thread_sink *output, struct flow_event *events, size_t count,
                       bool plain)
{
    thread_output_begin(output);
    size_t first = 0;
    for (size_t i = 0; i < count; i++) {
        bool direct = !output->held.count && !output->in_gap &&
                      (plain || !thread_output_must_see(events[i].kind));
        if (direct && plain)
            break;
        if (direct)
            continue;
        deliver(output, events + first, i - first);
        add_one(output, &events[i]);
        first = i + 1;
    }
    deliver(output, events + first, count - first);
}

void thread_output_stop(struct thread_sink *output)
{
    /* In a gap the held events stay: another gap may follow and include them. */
    if (!output->begun || output->in_gap)
        return;
    struct flow_event *held = output->held.elements;
    if (output->held.count && held->kind == FLOW_INTERRUPT)
        held->kind = FLOW_STOP;
    release(output);
}

void thread_output_end(struct thread_sink *output)
{
    array_free(&output->holes);
    if (!output->begun)
        return;
    thread_output_stop(output);
    release(output);
    array_free(&output->held);
    output->sink->end(output->object);
    output->begun = false;
}

void thread_output_add_statistics(const struct thread_sink *output,
                                  struct flow_statistics *statistics)
{
    statistics->events += output->delivered;
    statistics->errors += output->errors;
    statistics->overflows += output->overflows;
}
