/* The decoder: from the packets of one PSB segment to flow events.
 *
 * Called by decode_jobs.c. A PSB segment (psb_segment.h) belongs to one thread, or to one processor
 * on which threads took turns, as its schedule says. No packet of the trace segment around it was
 * lost.
 */
#ifndef MAGIC_TRACE_DECODE_PT_DECODER_H
#define MAGIC_TRACE_DECODE_PT_DECODER_H

#include "decode/event_batch.h"
#include "decode/pt/decoder_input.h"
#include "decode/schedule.h"
#include "recording/perf_data/perf_data_reader.h"
#include "symbol/symbols.h"

/* What all decoders of one recording share: safe for use from several threads. */
struct decoder_shared;

struct decoder_shared *decoder_shared_open(const struct perf_data *data, struct symbols *symbols);
/* After all decoders are closed. */
void decoder_shared_close(struct decoder_shared *shared);

/* What decoders learn about the code. Used by one decoder after the other, in one thread. */
struct decoder_memory;

struct decoder_memory *decoder_memory_new(void);
void decoder_memory_free(struct decoder_memory *memory);

struct decoder;

/* `memory` is borrowed until decoder_close. */
struct decoder *decoder_open(struct decoder_shared *shared, struct decoder_memory *memory,
                             const struct decoder_input *input);

/* Decodes about `steps` packets. False at the end of the PSB segment; then the reorder buffer has
 * all events. */
bool decoder_run(struct decoder *decoder, uint64_t steps);

/* Adds the decoder's counts. */
void decoder_add_statistics(const struct decoder *decoder, struct flow_statistics *statistics);

void decoder_close(struct decoder *decoder);

/* What a code in flow_event.error means, as text. */
const char *decoder_error_text(uint8_t code);

#endif
