#include "flow/flow_step.h"

#include "flow/flow.h"

const char *flow_step_name(enum flow_step_kind kind)
{
    static const char *const names[STEP_KINDS] = {
        [STEP_TAKEN] = "conditional",
        [STEP_NOT_TAKEN] = "conditional",
        [STEP_JUMP] = "jump",
        [STEP_CALL] = "call",
        [STEP_RETURN] = "return",
        [STEP_FAR_CALL] = "far-call",
        [STEP_FAR_RETURN] = "far-return",
        [STEP_FAR_JUMP] = "far-jump",
        [STEP_INTERRUPT] = "interrupt",
        [STEP_ABORT] = "abort",
        [STEP_START] = "start",
        [STEP_END] = "end",
        [STEP_INSTRUCTION] = "instruction",
        [STEP_OVERFLOW] = "overflow",
        [STEP_LOST] = "lost",
        [STEP_ERROR] = "error",
    };
    return names[kind];
}

/* A sink for which flow events do not matter. */

static void *begin_thread(void *context, const struct thread *thread)
{
    return NULL;
}

static void drop_events(void *thread_object, const struct flow_event *events, size_t count)
{
}

static void end_thread(void *thread_object)
{
}

static bool tell_damage(const struct flow *flow, struct error *error)
{
    const struct error *damage = flow_damage(flow);
    if (damage)
        *error = *damage;
    return !damage;
}

bool flow_observe(const char *recording, const struct flow_observer *observer, struct error *error)
{
    static const struct flow_sink sink = {
        .begin = begin_thread, .events = drop_events, .end = end_thread};
    if (flow_is_text(recording))
        return error_set(error, ERROR_FORMAT,
                         "%s is text that perf script has printed: there are no packets in it. "
                         "Give the recording that it was made of.",
                         recording);
    const struct flow_options options = {.observer = observer};
    struct flow *flow = flow_open(recording, &options, error);
    if (!flow)
        return false;
    bool ok = flow_decode(flow, &sink, error) && tell_damage(flow, error);
    flow_close(flow);
    return ok;
}
