#include "decode/reorder_buffer.h"

#include <stdlib.h>

void reorder_buffer_init(struct reorder_buffer *reorder_buffer, bool direct)
{
    *reorder_buffer = (struct reorder_buffer){.direct = direct,
                                              .chunks = array_of(sizeof(struct flow_event *)),
                                              .parts = array_of(sizeof(struct reorder_buffer_part)),
                                              .runs = array_of(sizeof(struct reorder_buffer_run))};
}

void reorder_buffer_forget(struct reorder_buffer *reorder_buffer)
{
    for (size_t i = 0; i < reorder_buffer->chunks.count; i++)
        free(*(struct flow_event **)array_at(&reorder_buffer->chunks, i));
    reorder_buffer->chunks.count = reorder_buffer->parts.count = reorder_buffer->runs.count = 0;
    reorder_buffer->next_run = 0;
    reorder_buffer->events = 0;
}

void reorder_buffer_free(struct reorder_buffer *reorder_buffer)
{
    reorder_buffer_forget(reorder_buffer);
    array_free(&reorder_buffer->chunks);
    array_free(&reorder_buffer->parts);
    array_free(&reorder_buffer->runs);
}

void reorder_buffer_take_chunk(struct reorder_buffer *reorder_buffer, struct flow_event *chunk)
{
    *(struct flow_event **)array_add(&reorder_buffer->chunks) = chunk;
}

static struct reorder_buffer_run *run_at(const struct reorder_buffer *reorder_buffer, size_t index)
{
    return array_at(&reorder_buffer->runs, index);
}

static struct reorder_buffer_part *part_at(const struct reorder_buffer *reorder_buffer,
                                           size_t index)
{
    return array_at(&reorder_buffer->parts, index);
}

/* The newest run, if it is of this thread and has not stopped; else a new one. */
static struct reorder_buffer_run *run_of(struct reorder_buffer *reorder_buffer,
                                         struct thread_sink *output)
{
    size_t count = reorder_buffer->runs.count;
    struct reorder_buffer_run *newest = count ? run_at(reorder_buffer, count - 1) : NULL;
    if (newest && newest->output == output && !newest->stops)
        return newest;
    struct reorder_buffer_run *run = array_add(&reorder_buffer->runs);
    *run = (struct reorder_buffer_run){.output = output, .first = reorder_buffer->parts.count};
    return run;
}

static void keep(struct reorder_buffer *reorder_buffer, struct reorder_buffer_run *run,
                 struct flow_event *events, size_t count, bool plain)
{
    struct reorder_buffer_part *part = array_add(&reorder_buffer->parts);
    *part = (struct reorder_buffer_part){events, count, plain};
    run->count++;
    reorder_buffer->events += count;
}

void reorder_buffer_add(struct reorder_buffer *reorder_buffer, struct thread_sink *output,
                        struct flow_event *events, size_t count, bool plain)
{
    if (reorder_buffer->direct)
        thread_output_add(output, events, count, plain);
    else
        keep(reorder_buffer, run_of(reorder_buffer, output), events, count, plain);
}

void reorder_buffer_stop(struct reorder_buffer *reorder_buffer, struct thread_sink *output)
{
    if (reorder_buffer->direct)
        thread_output_stop(output);
    else
        run_of(reorder_buffer, output)->stops = true;
}

bool reorder_buffer_time(const struct reorder_buffer *reorder_buffer, struct ticks *time)
{
    if (reorder_buffer->next_run == reorder_buffer->runs.count)
        return false;
    const struct reorder_buffer_run *run = run_at(reorder_buffer, reorder_buffer->next_run);
    if (run->count)
        *time = part_at(reorder_buffer, run->first)->events->time;
    else
        time->value = 0; /* the run has only a stop */
    return true;
}

void reorder_buffer_pass_on(struct reorder_buffer *reorder_buffer)
{
    const struct reorder_buffer_run *run = run_at(reorder_buffer, reorder_buffer->next_run++);
    for (size_t i = 0; i < run->count; i++) {
        const struct reorder_buffer_part *part = part_at(reorder_buffer, run->first + i);
        thread_output_add(run->output, part->events, part->count, part->plain);
    }
    if (run->stops)
        thread_output_stop(run->output);
}
