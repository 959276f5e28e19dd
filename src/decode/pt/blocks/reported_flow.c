#include "decode/pt/blocks/reported_flow.h"

static void report(const struct reported_flow *flow, struct flow_step step)
{
    step.thread = flow->thread;
    step.space = flow->space;
    step.time = flow->time;
    flow->observer->step(flow->observer->context, &step);
}

static void report_kind(const struct reported_flow *flow, enum flow_step_kind kind, uint64_t from,
                        uint64_t to)
{
    report(flow, (struct flow_step){.kind = (uint8_t)kind, .from = from, .to = to});
}

void observe_branch(const struct reported_flow *flow, uint8_t branch_kind, uint64_t from,
                    uint64_t next, uint64_t ip)
{
    static const uint8_t kinds[] = {
        [BRANCH_JUMP] = STEP_JUMP,
        [BRANCH_CALL] = STEP_CALL,
        [BRANCH_RETURN] = STEP_RETURN,
        [BRANCH_FAR_CALL] = STEP_FAR_CALL,
        [BRANCH_FAR_RETURN] = STEP_FAR_RETURN,
        [BRANCH_FAR_JUMP] = STEP_FAR_JUMP,
    };
    enum flow_step_kind kind = kinds[branch_kind];
    if (branch_kind == BRANCH_NONE)
        return;
    if (branch_kind == BRANCH_CONDITIONAL)
        kind = ip == next ? STEP_NOT_TAKEN : STEP_TAKEN;
    report_kind(flow, kind, from, ip);
}

static void report_instructions(const struct reported_flow *flow, const struct block *block)
{
    uint64_t ip = block->ip;
    for (uint32_t left = block->instructions; left > 1; left--) {
        report_kind(flow, STEP_INSTRUCTION, ip, 0);
        ip += code_space_branch(flow->space, ip, block->mode).length;
    }
    report_kind(flow, STEP_INSTRUCTION, block->last, 0);
}

void observe_block(const struct reported_flow *flow, const struct block *block)
{
    if (flow->observer->instructions)
        report_instructions(flow, block);
    if (flow->observer->blocks)
        report(flow, (struct flow_step){.kind = STEP_BLOCK,
                                        .from = block->ip,
                                        .to = block->next,
                                        .instructions = block->instructions});
    if (block->reads_own_address)
        report_kind(flow, STEP_CALL, block->last, block->next);
}

void observe_start(const struct reported_flow *flow, uint64_t ip)
{
    report_kind(flow, STEP_START, 0, ip);
}

void observe_event(const struct reported_flow *flow, const struct flow_event *event)
{
    switch ((enum flow_kind)event->kind) {
    case FLOW_INTERRUPT:
        report_kind(flow, event->to ? STEP_INTERRUPT : STEP_END, event->from, event->to);
        break;
    case FLOW_ABORT:
        report_kind(flow, STEP_ABORT, event->from, event->to);
        break;
    case FLOW_SYSCALL:
    case FLOW_STOP:
        if (!event->to)
            report_kind(flow, STEP_END, event->from, 0);
        break;
    case FLOW_GAP:
        if (event->gap == FLOW_GAP_OVERFLOW)
            report_kind(flow, STEP_OVERFLOW, 0, 0);
        else if (event->gap == FLOW_GAP_LOST)
            report_kind(flow, STEP_LOST, 0, 0);
        break;
    default: /* observe_branch has reported it */
        break;
    }
}

void observe_error(const struct reported_flow *flow, enum decode_error error, uint64_t ip,
                   uint64_t offset)
{
    report(flow,
           (struct flow_step){.kind = STEP_ERROR, .from = ip, .error = error, .offset = offset});
}
