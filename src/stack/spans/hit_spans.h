/* Adds the hits of the trigger to a recording's spans: tracks of their own, process "Snapshot
 * symbol hits", each hit a span from the time that the program passed to the hit.
 *
 * Hits that overlap (of several threads) are on separate tracks, so that every track is well
 * nested. Called by timeline_spans.c.
 */
#ifndef MAGIC_TRACE_STACK_SPANS_HIT_SPANS_H
#define MAGIC_TRACE_STACK_SPANS_HIT_SPANS_H

#include "decode/flow.h"
#include "stack/spans/span.h"
#include "stack/spans/span_functions.h"

/* Wraps `source`, whose time 0 is `origin` of the session's clock; close() closes both. `functions`
 * must outlive it. Returns `source` itself if there are no hits. */
struct span_source *hit_spans(struct span_source *source, const struct session *session,
                              struct nanoseconds origin, struct span_functions *functions);

#endif
