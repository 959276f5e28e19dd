/* How a recording is to be decoded: chosen by the user, read by the flow driver (flow.h) and by the
 * decoders.
 */
#ifndef MAGIC_TRACE_DECODE_FLOW_OPTIONS_H
#define MAGIC_TRACE_DECODE_FLOW_OPTIONS_H

#include <stdint.h>

enum flow_decoder {
    FLOW_DECODER_NATIVE, /* our own */
    FLOW_DECODER_PERF,   /* stock perf (perf_decoder.h); of before Linux 5.14: the text it prints */
};

struct flow_options {
    enum flow_decoder decoder;      /* of packets; text needs none */
    unsigned cores;                 /* 0: all that this process may use */
    const char *perf_map_directory; /* as in symbols_open; of text NULL: none. Outlives the flow */
    void (*progress)(const char *what, uint64_t done,
                     uint64_t total); /* bytes of PT; may be NULL; from the calling thread */
};

#endif
