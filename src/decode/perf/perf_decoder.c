#include "decode/perf/perf_decoder.h"

#include "base/memory.h"
#include "decode/perf/queue_decoder.h"
#include "decode/pt/ring_beginning.h"

#include <stdlib.h>
#include <uthash.h>

enum {
    EVENTS_PER_PROGRESS = 1 << 16,
    /* Linux's idle threads: one per processor, all with this tid; their events are dropped. */
    IDLE_TID = 0,
    NOBODY = UINT32_MAX,
};

/* A thread that receives events. */
struct event_sink {
    uint32_t tid;
    struct thread_sink output;
    struct thread unknown; /* describes a thread that the sideband does not know */
    UT_hash_handle hh;
};

/* All threads of a process share its code, because perf reports branches in the order of time. */
struct known_process {
    uint32_t pid;
    struct code_space space;
    UT_hash_handle hh;
};

/* Of a processor, or of a thread. */
struct ring {
    uint32_t id;  /* processor or tid */
    uint32_t tid; /* tid of the thread that runs */
    struct queue_decoder queue;
    const struct trace_stream *stream; /* of a thread's own ring; NULL: a processor's ring, or
                                        * unknown */
    size_t next_segment;               /* the next that has not begun, */
    struct ring_beginning beginning;   /* and its first packets */
    UT_hash_handle hh;
};

struct perf_decoding {
    const struct perf_decode_request *request;
    struct event_sink *event_sinks;  /* by tid */
    struct known_process *processes; /* by pid */
    struct ring *rings;              /* by id */
    struct ring *newest;             /* the ring of the newest event */
    struct nanoseconds first, last;  /* of the recording; for the progress line */
};

/* ---- threads and processes ---- */

static struct event_sink *get_event_sink(struct perf_decoding *decoding, uint32_t pid, uint32_t tid)
{
    struct event_sink *event_sink;
    HASH_FIND(hh, decoding->event_sinks, &tid, sizeof tid, event_sink);
    if (event_sink)
        return event_sink;
    event_sink = memory_allocate_zeroed(sizeof(*event_sink));
    event_sink->tid = tid;
    event_sink->unknown = (struct thread){.pid = pid, .tid = tid, .name = ""};
    const struct thread *thread = address_spaces_thread(decoding->request->spaces, tid);
    event_sink->output.thread = thread ? thread : &event_sink->unknown;
    event_sink->output.sink = decoding->request->sink;
    HASH_ADD(hh, decoding->event_sinks, tid, sizeof event_sink->tid, event_sink);
    return event_sink;
}

static struct code_space *get_space(struct perf_decoding *decoding, uint32_t pid)
{
    struct known_process *known;
    HASH_FIND(hh, decoding->processes, &pid, sizeof pid, known);
    if (known)
        return &known->space;
    const struct process *process = address_spaces_process(decoding->request->spaces, pid);
    if (!process)
        return NULL;
    known = memory_allocate_zeroed(sizeof(*known));
    known->pid = pid;
    code_space_init(&known->space, process, decoding->request->symbols);
    HASH_ADD(hh, decoding->processes, pid, sizeof known->pid, known);
    return &known->space;
}

static struct ring *get_ring(struct perf_decoding *decoding, uint32_t id)
{
    struct ring *ring = decoding->newest;
    if (ring && ring->id == id)
        return ring;
    HASH_FIND(hh, decoding->rings, &id, sizeof id, ring);
    if (!ring) {
        ring = memory_allocate_zeroed(sizeof(*ring));
        ring->id = id;
        ring->tid = NOBODY;
        queue_decoder_init(&ring->queue, decoding->request->data->setup.kernel);
        HASH_ADD(hh, decoding->rings, id, sizeof ring->id, ring);
    }
    return decoding->newest = ring;
}

static const struct trace_stream *find_stream(const struct perf_decoding *decoding, uint32_t tid)
{
    const struct array *streams = &decoding->request->streams->streams;
    for (size_t i = 0; i < streams->count; i++) {
        const struct trace_stream *stream = array_at(streams, i);
        if (stream->tid == tid)
            return stream;
    }
    return NULL;
}

static void read_beginning(struct ring *ring)
{
    if (ring->stream && ring->next_segment < ring->stream->segments.count)
        ring_beginning_read(&ring->beginning, trace_segment_at(ring->stream, ring->next_segment));
}

/* Whether the next trace segment has begun by `now`; one whose time is unknown has not. */
static bool has_begun(const struct perf_decoding *decoding, const struct ring *ring,
                      struct nanoseconds now)
{
    struct ticks time = ring->beginning.time;
    const struct clock_conversion *clock = &decoding->request->data->setup.clock;
    if (!ring->stream || ring->next_segment == ring->stream->segments.count)
        return false;
    return ring->next_segment == 0 ||
           (time.value && clock_to_nanoseconds(clock, time).value <= now.value);
}

/* The thread's ring may have been restarted since the event before; perf does not report that. */
static void begin_segments(const struct perf_decoding *decoding, struct ring *ring,
                           struct nanoseconds now)
{
    while (has_begun(decoding, ring, now)) {
        queue_decoder_begin(&ring->queue, &ring->beginning);
        ring_beginning_free(&ring->beginning);
        ring->next_segment++;
        read_beginning(ring);
    }
}

static void switch_thread(struct perf_decoding *decoding, struct ring *ring,
                          const struct branch_event *event)
{
    bool first = ring->tid == NOBODY;
    ring->tid = event->tid;
    if (event->tid == NOBODY || event->tid == IDLE_TID) {
        queue_decoder_switch_thread(&ring->queue, NULL, NULL);
        return;
    }
    struct event_sink *event_sink = get_event_sink(decoding, event->pid, event->tid);
    queue_decoder_switch_thread(&ring->queue, &event_sink->output,
                                get_space(decoding, event_sink->output.thread->pid));
    if (first && !decoding->request->data->setup.per_cpu) {
        ring->stream = find_stream(decoding, ring->id);
        read_beginning(ring);
    }
}

/* Threads with rings of their own are announced in the order of the file, as with our own decoder.
 */
static void begin_threads(struct perf_decoding *decoding)
{
    const struct array *streams = &decoding->request->streams->streams;
    for (size_t i = 0; i < streams->count; i++) {
        const struct trace_stream *stream = array_at(streams, i);
        if (stream->tid != NOBODY)
            thread_output_begin(&get_event_sink(decoding, stream->tid, stream->tid)->output);
    }
}

/* ---- events ---- */

static void take(struct perf_decoding *decoding, const struct branch_event *event)
{
    const struct pt_setup *setup = &decoding->request->data->setup;
    struct ring *ring = get_ring(decoding, setup->per_cpu ? event->processor : event->tid);
    if (ring->tid != event->tid && event->kind != BRANCH_EVENT_DECODE_ERROR)
        switch_thread(decoding, ring, event);
    begin_segments(decoding, ring, event->time);
    queue_decoder_take(&ring->queue, event, clock_to_ticks(&setup->clock, event->time));
}

static void find_times(struct perf_decoding *decoding)
{
    const struct perf_data *data = decoding->request->data;
    for (size_t i = 0; i < data->record_count && !decoding->first.value; i++)
        decoding->first = data->records[i].time;
    if (data->record_count)
        decoding->last = data->records[data->record_count - 1].time;
}

static void say_progress(const struct perf_decoding *decoding, struct nanoseconds now)
{
    if (decoding->request->options->progress && now.value >= decoding->first.value &&
        now.value <= decoding->last.value)
        decoding->request->options->progress("Decoding", now.value - decoding->first.value,
                                             decoding->last.value - decoding->first.value);
}

/* ---- the end ---- */

static void end_rings(struct perf_decoding *decoding, struct flow_statistics *statistics)
{
    struct ring *ring, *next;
    HASH_ITER(hh, decoding->rings, ring, next)
    {
        const struct control_flow *flow = &ring->queue.flow;
        queue_decoder_end(&ring->queue);
        statistics->instructions += flow->position;
        queue_decoder_free(&ring->queue);
        ring_beginning_free(&ring->beginning);
        HASH_DEL(decoding->rings, ring);
        free(ring);
    }
}

static void end_threads(struct perf_decoding *decoding, struct flow_statistics *statistics)
{
    struct event_sink *event_sink, *next;
    HASH_ITER(hh, decoding->event_sinks, event_sink, next)
    {
        thread_output_end(&event_sink->output);
        thread_output_add_statistics(&event_sink->output, statistics);
        HASH_DEL(decoding->event_sinks, event_sink);
        free(event_sink);
    }
}

static void free_processes(struct perf_decoding *decoding)
{
    struct known_process *known, *next;
    HASH_ITER(hh, decoding->processes, known, next)
    {
        HASH_DEL(decoding->processes, known);
        code_space_free(&known->space);
        free(known);
    }
}

static uint64_t size_of_packets(const struct trace_streams *streams)
{
    uint64_t size = 0;
    for (size_t i = 0; i < streams->streams.count; i++)
        size += trace_stream_at(streams, i)->size;
    return size;
}

uint64_t perf_decode_stream(const struct perf_decode_request *request, int descriptor,
                            struct flow_statistics *statistics, struct error *damage)
{
    struct perf_decoding decoding = {.request = request};
    struct branch_stream_reader reader;
    struct branch_event event;
    uint64_t events = 0;
    find_times(&decoding);
    begin_threads(&decoding);
    branch_stream_open(&reader, descriptor);
    while (branch_stream_next(&reader, &event)) {
        take(&decoding, &event);
        if (events++ % EVENTS_PER_PROGRESS == 0)
            say_progress(&decoding, event.time);
    }
    *damage = reader.damage;
    branch_stream_close(&reader);
    end_rings(&decoding, statistics);
    end_threads(&decoding, statistics);
    free_processes(&decoding);
    statistics->bytes += size_of_packets(request->streams);
    return events;
}

bool perf_decode_all(const struct perf_decode_request *request, struct flow_statistics *statistics,
                     struct error *damage, struct error *error)
{
    struct perf_script script;
    struct error failure;
    if (!perf_script_start(&script, request->script, error))
        return false;
    uint64_t events = perf_decode_stream(request, script.output, statistics, damage);
    /* If perf failed, that is why its stream is cut off. */
    if (!perf_script_finish(&script, &failure))
        *damage = failure;
    if (events || damage->code == ERROR_NONE)
        return true;
    return error_set(error, damage->code, "%s", damage->text);
}
