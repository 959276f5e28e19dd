/* The taken branches of one ring, as perf decoded them: from branches to blocks, and so to flow
 * events.
 *
 * The counterpart of our own decoder: what ran between two branches is read from the code, so
 * control_flow.h gets the same blocks, and the result is the same stacks. perf reports less than
 * packets do:
 *   - The time of a branch is that of the newest packet with a time. It is the time of the last
 *     branch that this packet's bits decided, but perf gives it to all of them, and does not say
 *     which bits were branches not taken. We take it as the time of the last taken branch with it.
 *   - perf does not report active calls (packet/callchain_snapshot.h); those at the beginning of a
 *     trace segment are read by ring_beginning.h.
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
    bool kernel;      /* the kernel was traced, too */
    uint64_t next;    /* while running: the next instruction; 0: unknown */
    bool ran_ahead;   /* the instruction at flow.last_ip was executed before its branch was read */
    struct ticks now; /* of the newest packet that gave a time */
    struct ticks resumed_at;
    struct reorder_buffer reorder_buffer; /* always direct */

    bool bits_held; /* the bits of a packet are in use; the last one's branch was at bits_time */
    struct ticks bits_time;
    uint64_t bits_position; /* the newest branch that may be the one of the last bit */
};

/* `kernel`: the kernel was traced, too. */
void queue_decoder_init(struct queue_decoder *queue, bool kernel);
void queue_decoder_free(struct queue_decoder *queue);

/* As control_flow_switch_thread. */
void queue_decoder_switch_thread(struct queue_decoder *queue, struct thread_sink *output,
                                 struct code_space *space);

/* Called before the first event of a trace segment of a thread's ring. */
void queue_decoder_begin(struct queue_decoder *queue, const struct ring_beginning *beginning);

/* Takes an event of the running thread, which happened at `time`. */
void queue_decoder_take(struct queue_decoder *queue, const struct branch_event *event,
                        struct ticks time);

/* Called after the last event. Passes on all events. */
void queue_decoder_end(struct queue_decoder *queue);

#endif
