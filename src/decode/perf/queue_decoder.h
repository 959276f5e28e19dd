/* The taken branches of one ring, as perf decoded them: from them to blocks, and so to flow events.
 *
 * The counterpart of our own decoder: what ran between two branches is read from the code, so
 * control_flow.h is told the same blocks, and the same stacks come of them. perf tells less than
 * packets do:
 *   - A time is that of the newest packet with a time. It is the time of the last branch that this
 *     packet's bits decided, but perf gives it to all of them, and does not say which bits were
 *     branches not taken. It is taken for that of the last taken branch with it.
 *   - Nothing of calls in progress (packet/callchain_snapshot.h); those at the beginning are read besides.
 *
 * Used by perf_decoder.c, from its thread only.
 */
#ifndef MAGIC_TRACE_DECODE_PERF_QUEUE_DECODER_H
#define MAGIC_TRACE_DECODE_PERF_QUEUE_DECODER_H

#include "decode/pt/blocks/control_flow.h"
#include "decode/pt/ring_beginning.h"
#include "recording/perf_script/branch_stream_reader.h"

struct queue_decoder {
    struct control_flow flow;
    bool kernel;      /* was traced too */
    uint64_t next;    /* while running: the instruction that is executed next; 0 unknown */
    bool ran_ahead;   /* the instruction at flow.last_ip was executed before its branch was read */
    struct ticks now; /* of the newest packet that tells a time */
    struct ticks resumed_at;
    struct reorder_buffer reorder_buffer; /* direct */

    bool bits_held; /* a packet of bits is being used up, whose last branch was at bits_time */
    struct ticks bits_time;
    uint64_t bits_position; /* the newest branch that may be that last one */
};

/* `kernel`: it was traced too. */
void queue_decoder_init(struct queue_decoder *queue, bool kernel);
void queue_decoder_free(struct queue_decoder *queue);

/* As control_flow_switch_thread. */
void queue_decoder_switch_thread(struct queue_decoder *queue, struct thread_sink *output,
                                 struct code_space *space);

/* The first event of a thread's ring is about to come. */
void queue_decoder_begin(struct queue_decoder *queue, const struct ring_beginning *beginning);

/* The event is one of the running thread's; `time` is that of the event. */
void queue_decoder_take(struct queue_decoder *queue, const struct branch_event *event,
                        struct ticks time);

/* There are no more. Delivers all events. */
void queue_decoder_end(struct queue_decoder *queue);

#endif
