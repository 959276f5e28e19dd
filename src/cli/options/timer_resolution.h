/* The argument of -timer-resolution.
 *
 *     Low, Normal, High
 *     (Sample((freq N)))   N samples per second
 *     (Custom((cyc true)(cyc_thresh 1)(mtc true)(mtc_period 3)(noretcomp false)(psb_period 0)))
 *
 * with any of the fields. Names may be written in lower case.
 */
#ifndef MAGIC_TRACE_CLI_OPTIONS_TIMER_RESOLUTION_H
#define MAGIC_TRACE_CLI_OPTIONS_TIMER_RESOLUTION_H

#include "base/error.h"
#include "engine/processor_options.h"

bool timer_resolution_parse(struct timer_resolution *resolution, const char *text,
                            struct error *error);

#endif
