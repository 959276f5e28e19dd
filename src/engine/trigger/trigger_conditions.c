#include "engine/trigger/trigger_conditions.h"

bool trigger_hit_counts(struct trigger_conditions *conditions, uint64_t now, uint64_t passed)
{
    const struct trigger *trigger = conditions->trigger;
    uint64_t before = conditions->previous;
    uint64_t delay = before && now > before ? now - before : 0;
    if (now > before)
        conditions->previous = now;
    if (delay > conditions->longest_delay)
        conditions->longest_delay = delay;
    if (trigger->delay_threshold_ns && delay <= trigger->delay_threshold_ns)
        return false;
    return !trigger->duration_threshold_ns ||
           (passed && now > passed && now - passed > trigger->duration_threshold_ns);
}
