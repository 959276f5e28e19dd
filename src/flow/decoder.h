/* A decoder: the packets of one stretch of a recording, in; flow events, out.
 *
 * This is the border behind which libipt is: libipt_decoder.c implements it with libipt's block
 * decoder, and a decoder of our own can take its place. Called by the driver (flow.c).
 *
 * A stretch is contiguous: no packet in it was lost. It belongs to one thread, or to one processor
 * on which threads took turns, as its schedule says.
 */
#ifndef MAGIC_TRACE_FLOW_DECODER_H
#define MAGIC_TRACE_FLOW_DECODER_H

#include "flow/event_batch.h"
#include "flow/schedule.h"
#include "recording/perf_data_reader.h"
#include "symbol/symbols.h"

/* What all decoders of one recording share: safe for use from several threads. */
struct decoder_shared;

struct decoder_shared *decoder_shared_open(const struct perf_data *data, struct symbols *symbols,
                                           struct error *error);
/* After all decoders are closed. */
void decoder_shared_close(struct decoder_shared *shared);

struct decoder_input {
    const uint8_t *bytes; /* borrowed until decoder_close */
    uint64_t size;
    uint64_t offset;                      /* of the first byte in its ring */
    const struct schedule *schedule;      /* borrowed; whose events these are */
    const struct flow_observer *observer; /* NULL: none */
    bool lost_after;                      /* data was lost behind the last byte */
};

struct decoder;

struct decoder *decoder_open(struct decoder_shared *shared, const struct decoder_input *input,
                             struct error *error);

/* Decodes on, until packets say that it is later than `limit`, or about `steps` blocks are done.
 * False at the end of the stretch; all events have then been delivered. */
bool decoder_run(struct decoder *decoder, struct ticks limit, uint64_t steps);

/* The time of the newest packet that tells time; 0 before the first. */
struct ticks decoder_time(const struct decoder *decoder);

/* Bytes decoded so far. */
uint64_t decoder_offset(const struct decoder *decoder);

/* Adds what this decoder has counted. */
void decoder_add_statistics(const struct decoder *decoder, struct flow_statistics *statistics);

void decoder_close(struct decoder *decoder);

/* In words, what a code in flow_event.error means. */
const char *decoder_error_text(uint8_t code);

#endif
