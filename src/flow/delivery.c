#include "flow/delivery.h"

void delivery_init(struct delivery *delivery, bool direct)
{
    *delivery = (struct delivery){.direct = direct,
                                  .events = array_of(sizeof(struct flow_event)),
                                  .runs = array_of(sizeof(struct delivery_run))};
}

void delivery_reuse(struct delivery *delivery, bool direct)
{
    delivery->direct = direct;
    delivery->events.count = delivery->runs.count = delivery->next_run = 0;
}

void delivery_free(struct delivery *delivery)
{
    array_free(&delivery->events);
    array_free(&delivery->runs);
}

static struct delivery_run *run_at(const struct delivery *delivery, size_t index)
{
    return array_at(&delivery->runs, index);
}

/* The newest run, if it is the thread's and goes on; else a new one. */
static struct delivery_run *run_of(struct delivery *delivery, struct thread_output *output)
{
    size_t count = delivery->runs.count;
    struct delivery_run *newest = count ? run_at(delivery, count - 1) : NULL;
    if (newest && newest->output == output && !newest->stops)
        return newest;
    struct delivery_run *run = array_add(&delivery->runs);
    *run = (struct delivery_run){.output = output, .first = delivery->events.count, .plain = true};
    return run;
}

void delivery_add(struct delivery *delivery, struct thread_output *output,
                  struct flow_event *events, size_t count, bool plain)
{
    if (delivery->direct) {
        thread_output_add(output, events, count, plain);
        return;
    }
    struct delivery_run *run = run_of(delivery, output);
    array_add_all(&delivery->events, events, count);
    run->count += count;
    run->plain &= plain;
}

void delivery_stop(struct delivery *delivery, struct thread_output *output)
{
    if (delivery->direct)
        thread_output_stop(output);
    else
        run_of(delivery, output)->stops = true;
}

bool delivery_time(const struct delivery *delivery, struct ticks *time)
{
    if (delivery->next_run == delivery->runs.count)
        return false;
    const struct delivery_run *run = run_at(delivery, delivery->next_run);
    if (run->count)
        *time = ((const struct flow_event *)array_at(&delivery->events, run->first))->time;
    else
        time->value = 0; /* nothing but a stop */
    return true;
}

void delivery_pass_on(struct delivery *delivery)
{
    const struct delivery_run *run = run_at(delivery, delivery->next_run++);
    if (run->count)
        thread_output_add(run->output, array_at(&delivery->events, run->first), run->count,
                          run->plain);
    if (run->stops)
        thread_output_stop(run->output);
}
