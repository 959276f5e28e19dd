/* The argument of -events: events with commas between them, each a name or, as in Jane Street's
 * magic-trace,
 *
 *     ((when_to_sample (Period 50))(name Branch_misses)(precision Request_zero_skid))
 *
 * with (Frequency N) for N samples per second, and a precision of Arbitrary_skid, Constant_skid,
 * Request_zero_skid, Zero_skid or Maximum_possible. What is left out has the event's usual value.
 */
#ifndef MAGIC_TRACE_CLI_OPTIONS_EVENT_LIST_H
#define MAGIC_TRACE_CLI_OPTIONS_EVENT_LIST_H

#include "base/error.h"
#include "engine/processor_options.h"

/* Fills options->events. */
bool event_list_parse(struct processor_options *options, const char *list, struct error *error);

#endif
