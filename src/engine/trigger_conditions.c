#include "engine/trigger_conditions.h"

bool trigger_conditions_met(struct trigger_conditions *conditions, uint64_t now, uint64_t passed)
{
    const struct trigger *trigger = conditions->trigger;
    uint64_t before = conditions->previous;
    conditions->previous = now;
    uint64_t delay = before && now > before ? now - before : 0;
    if (delay > conditions->longest_delay)
        conditions->longest_delay = delay;
    if (trigger->delay_threshold_ns && delay <= trigger->delay_threshold_ns)
        return false;
    return !trigger->duration_threshold_ns ||
           (passed && passed < now && now - passed > trigger->duration_threshold_ns);
}
