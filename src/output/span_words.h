/* What a trace says of spans in words: why one ended, whose code it is.
 *
 * Used by the exporters, so that all formats say the same; the words are those of FXT
 * (fxt_format.h).
 */
#ifndef MAGIC_TRACE_OUTPUT_SPAN_WORDS_H
#define MAGIC_TRACE_OUTPUT_SPAN_WORDS_H

#include "stack/spans/span.h"

/* "return", "tail call", ... */
const char *span_end_word(enum span_end end);

/* "own", "library", "kernel", "inlined", or "special" for what is no function of the program. */
const char *span_origin_word(const struct span_function *function);

/* " [inlined]" after the name of an inlined function; "" after others. */
const char *span_inlined_suffix(const struct span_function *function);

#endif
