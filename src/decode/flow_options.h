/* How a recording is to be decoded: set by the user, read by the flow driver (flow.h) and the
 * decoders.
 */
#ifndef MAGIC_TRACE_DECODE_FLOW_OPTIONS_H
#define MAGIC_TRACE_DECODE_FLOW_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

enum flow_decoder {
    FLOW_DECODER_NATIVE, /* the decoder of src/decode/pt/ */
    FLOW_DECODER_PERF,   /* stock perf (perf_decoder.h); before Linux 5.14 its text */
};

struct flow_options {
    enum flow_decoder decoder; /* of packets; unused for text */
    bool no_inlined;           /* inlined functions are not looked for */
    unsigned cores;            /* 0: all that this process may use */
    /* as in symbols_open; of text it may be NULL. Outlives the flow */
    const char *perf_map_directory;
    void (*progress)(const char *what, uint64_t done,
                     uint64_t total); /* bytes of PT; may be NULL; from the calling thread */
};

#endif
