#include "decode/flow_step.h"

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
        [STEP_BLOCK] = "block",
        [STEP_OVERFLOW] = "overflow",
        [STEP_LOST] = "lost",
        [STEP_ERROR] = "error",
    };
    return names[kind];
}
