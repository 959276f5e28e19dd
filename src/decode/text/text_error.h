/* perf's messages for packets that it could not decode, as gaps.
 *
 * Source: intel_pt_err_msgs of tools/perf/util/intel-pt-decoder/intel-pt-decoder.c of Linux 6.1.
 * Other messages, of other versions, become errors without a name.
 */
#ifndef MAGIC_TRACE_DECODE_TEXT_TEXT_ERROR_H
#define MAGIC_TRACE_DECODE_TEXT_TEXT_ERROR_H

#include "decode/flow_event.h"
#include "recording/perf_script/text_cursor.h"

struct text_error {
    enum flow_gap gap;
    uint8_t error; /* of FLOW_GAP_ERROR: for text_error_words */
};

struct text_error text_error_of(struct text_slice message);

/* NULL if `error` is a code of another decoder. */
const char *text_error_words(uint8_t error);

#endif
