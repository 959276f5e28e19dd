/* What a decoder (decoder.h) is given of one PSB segment.
 */
#ifndef MAGIC_TRACE_DECODE_PT_DECODER_INPUT_H
#define MAGIC_TRACE_DECODE_PT_DECODER_INPUT_H

#include <stdbool.h>
#include <stdint.h>

struct flow_observer;
struct reorder_buffer;
struct schedule;

struct decoder_input {
    const uint8_t *bytes; /* the whole trace segment; borrowed until decoder_close */
    uint64_t size;
    uint64_t offset;                       /* of the first byte, in its ring */
    uint64_t start, stop;                  /* offsets of the PSB segment in `bytes` */
    const struct schedule *schedule;       /* borrowed; which thread the events belong to */
    const struct flow_observer *observer;  /* NULL: none */
    struct reorder_buffer *reorder_buffer; /* borrowed; takes the events */
    bool lost_after;                       /* data was lost after the trace segment */
};

#endif
