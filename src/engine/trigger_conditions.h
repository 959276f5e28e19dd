/* Whether a hit of the trigger counts: the conditions of struct trigger, judged hit by hit.
 *
 * Used by the engines that see hits themselves. Times are nanoseconds of one clock, whichever.
 */
#ifndef MAGIC_TRACE_ENGINE_TRIGGER_CONDITIONS_H
#define MAGIC_TRACE_ENGINE_TRIGGER_CONDITIONS_H

#include "engine/trigger.h"

struct trigger_conditions {
    const struct trigger *trigger; /* borrowed */
    uint64_t previous;             /* time of the hit before, of any thread; 0: none */
    uint64_t longest_delay;        /* between two hits; the caller may set it back */
};

/* The next hit, at `now`. `passed`: the time that the program passed; 0: none. */
bool trigger_conditions_met(struct trigger_conditions *conditions, uint64_t now, uint64_t passed);

#endif
