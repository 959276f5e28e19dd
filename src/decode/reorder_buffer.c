#include "decode/reorder_buffer.h"

void delivery_init(struct delivery *delivery, struct event_pool *pool, bool direct)
{
    *delivery = (struct delivery){.pool = pool,
                                  .direct = direct,
                                  .chunks = array_of(sizeof(struct event_chunk)),
                                  .pieces = array_of(sizeof(struct delivery_piece)),
                                  .runs = array_of(sizeof(struct delivery_run))};
}

void delivery_forget(struct delivery *delivery)
{
    for (size_t i = 0; i < delivery->chunks.count; i++)
        event_pool_put(delivery->pool, *(struct event_chunk *)array_at(&delivery->chunks, i));
    delivery->chunks.count = delivery->pieces.count = delivery->runs.count = 0;
    delivery->next_run = 0;
    delivery->events = 0;
}

void delivery_free(struct delivery *delivery)
{
    delivery_forget(delivery);
    array_free(&delivery->chunks);
    array_free(&delivery->pieces);
    array_free(&delivery->runs);
}

void delivery_take_chunk(struct delivery *delivery, struct event_chunk chunk)
{
    *(struct event_chunk *)array_add(&delivery->chunks) = chunk;
}

static struct delivery_run *run_at(const struct delivery *delivery, size_t index)
{
    return array_at(&delivery->runs, index);
}

static struct delivery_piece *piece_at(const struct delivery *delivery, size_t index)
{
    return array_at(&delivery->pieces, index);
}

/* The newest run, if it is the thread's and goes on; else a new one. */
static struct delivery_run *run_of(struct delivery *delivery, struct thread_output *output)
{
    size_t count = delivery->runs.count;
    struct delivery_run *newest = count ? run_at(delivery, count - 1) : NULL;
    if (newest && newest->output == output && !newest->stops)
        return newest;
    struct delivery_run *run = array_add(&delivery->runs);
    *run = (struct delivery_run){.output = output, .first = delivery->pieces.count};
    return run;
}

static void keep(struct delivery *delivery, struct delivery_run *run, struct flow_event *events,
                 size_t count, bool plain)
{
    struct delivery_piece *piece = array_add(&delivery->pieces);
    *piece = (struct delivery_piece){events, count, plain};
    run->count++;
    delivery->events += count;
}

void delivery_add(struct delivery *delivery, struct thread_output *output,
                  struct flow_event *events, size_t count, bool plain)
{
    if (delivery->direct)
        thread_output_add(output, events, count, plain);
    else
        keep(delivery, run_of(delivery, output), events, count, plain);
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
        *time = piece_at(delivery, run->first)->events->time;
    else
        time->value = 0; /* nothing but a stop */
    return true;
}

void delivery_pass_on(struct delivery *delivery)
{
    const struct delivery_run *run = run_at(delivery, delivery->next_run++);
    for (size_t i = 0; i < run->count; i++) {
        const struct delivery_piece *piece = piece_at(delivery, run->first + i);
        thread_output_add(run->output, piece->events, piece->count, piece->plain);
    }
    if (run->stops)
        thread_output_stop(run->output);
}
