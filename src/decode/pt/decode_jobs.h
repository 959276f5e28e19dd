/* Decodes the streams of a recording on several processor cores.
 *
 * Workers take one PSB segment (psb_segment.h) after the other and keep its events until their turn
 * comes. A job is a unit whose events are passed on in order: one thread's stream, or all
 * processors' streams together, because a thread's events may come from any of them. The result
 * does not depend on the number of workers. Called by flow_decode.
 */
#ifndef MAGIC_TRACE_DECODE_PT_DECODE_JOBS_H
#define MAGIC_TRACE_DECODE_PT_DECODE_JOBS_H

#include "decode/pt/decode_request.h"

/* Adds to `statistics`. */
void decode_all(const struct decode_request *request, struct flow_statistics *statistics);

#endif
