#include "decode/perf/queue_decoder.h"

#include "decode/text/text_error.h"

enum {
    /* Code without a taken branch is straight; nobody writes as much of it. What is farther apart
     * is not connected. */
    STRAIGHT_MAX = 1 << 20,
};

/* TSC packets have 56 bits (SDM volume 3, "Timestamp Counter (TSC) Packet"). */
static const uint64_t TSC_MAX = ((uint64_t)1 << 56) - 1;

void branch_lane_init(struct branch_lane *lane, bool kernel)
{
    *lane = (struct branch_lane){.kernel = kernel};
    control_flow_init(&lane->flow);
    delivery_init(&lane->delivery, NULL, true);
    lane->flow.batch.delivery = &lane->delivery;
}

void branch_lane_free(struct branch_lane *lane)
{
    control_flow_free(&lane->flow);
    delivery_free(&lane->delivery);
}

/* perf does not say whether code is 64-bit. In 32-bit code calls are as long, and what cannot be
 * walked is taken for one block. */
static struct branch code_at(const struct branch_lane *lane, uint64_t address)
{
    struct code_space *space = lane->flow.space;
    return space ? code_space_branch(space, address, X86_MODE_64)
                 : (struct branch){.kind = BRANCH_NONE};
}

/* ---- time ---- */

/* The code is that of `time` from here on. A user program is never running while it calls execve.
 */
static void advance_code(struct branch_lane *lane, struct ticks time)
{
    struct code_space *space = lane->flow.space;
    bool may_exec = !lane->flow.running || lane->kernel;
    struct ticks exec_until = may_exec ? time : lane->resumed_at;
    if (space)
        code_space_advance(space, code_space_changes(space, time, exec_until));
}

static bool is_news(const struct branch_lane *lane, struct ticks time)
{
    return time.value > lane->now.value;
}

static void settle_bits(struct branch_lane *lane)
{
    if (lane->bits_held)
        control_flow_time(&lane->flow, lane->bits_position, lane->bits_time);
    lane->bits_held = false;
}

/* A packet of its own tells where the branch went; of returns that may also be one bit. */
static bool has_packet(const struct branch_lane *lane)
{
    const struct control_flow *flow = &lane->flow;
    switch ((enum branch_kind)flow->branch_kind) {
    case BRANCH_NONE:
    case BRANCH_CONDITIONAL:
    case BRANCH_RETURN:
        return false;
    case BRANCH_FAR_CALL:
    case BRANCH_FAR_RETURN:
    case BRANCH_FAR_JUMP:
        return true;
    case BRANCH_JUMP:
    case BRANCH_CALL:
        break;
    }
    return !code_at(lane, flow->branch.from).direct;
}

/* The newest branch came with `time`. */
static void settle_branch(struct branch_lane *lane, struct ticks time)
{
    struct control_flow *flow = &lane->flow;
    bool packet = has_packet(lane);
    bool bit = flow->branch_kind == BRANCH_CONDITIONAL || flow->branch_kind == BRANCH_RETURN;
    if (!is_news(lane, time)) {
        if (packet || bit)
            lane->bits_position = flow->branch_position;
        return;
    }
    settle_bits(lane);
    lane->now = time;
    if (packet) {
        control_flow_time(flow, flow->branch_position, time);
        control_flow_branch_time_exact(flow);
        return;
    }
    lane->bits_held = true;
    lane->bits_time = time;
    lane->bits_position = flow->branch_position;
}

/* All branches before this moment are done. True when its time is told by a packet. */
static bool settle_all(struct branch_lane *lane, struct ticks time)
{
    bool news = is_news(lane, time);
    bool exact = news || lane->bits_held;
    if (news) {
        settle_bits(lane);
        lane->now = time;
    }
    lane->bits_held = false;
    control_flow_time(&lane->flow, lane->flow.position, lane->now);
    return exact;
}

/* ---- what ran ---- */

static void run_block(struct branch_lane *lane, uint64_t first, uint64_t last,
                      uint32_t instructions, uint8_t kind, bool transaction)
{
    struct branch branch = code_at(lane, last);
    struct block block = {.ip = first,
                          .last = last,
                          .next = last + branch.length,
                          .instructions = instructions,
                          .kind = kind,
                          .mode = X86_MODE_64,
                          .direct = branch.direct,
                          .reads_own_address = branch.reads_own_address};
    lane->flow.transaction = transaction;
    control_flow_block(&lane->flow, &block);
}

struct straight_run {
    uint64_t first;        /* of the block that is being executed */
    uint64_t at;           /* the next instruction */
    uint64_t last;         /* address of the last instruction executed */
    uint32_t instructions; /* of the block so far */
};

/* Executes the instructions before `end`, each of which runs on into the next. Conditional jumps
 * among them were not taken, and end a block as they do in packets. Stops where the code is not
 * known, or is not what perf has seen. */
static struct straight_run run_before(struct branch_lane *lane, uint64_t end, bool transaction)
{
    struct straight_run run = {.first = lane->next, .at = lane->next};
    while (run.at < end) {
        struct branch branch = code_at(lane, run.at);
        if (!branch.length || (branch.kind != BRANCH_NONE && branch.kind != BRANCH_CONDITIONAL))
            break;
        run.last = run.at;
        run.at += branch.length;
        run.instructions++;
        if (branch.kind != BRANCH_CONDITIONAL)
            continue;
        run_block(lane, run.first, run.last, run.instructions, BRANCH_CONDITIONAL, transaction);
        run.first = run.at;
        run.instructions = 0;
    }
    return run;
}

/* Executes up to and including the instruction at `last`. */
static void run_to(struct branch_lane *lane, uint64_t last, uint8_t kind, bool transaction)
{
    struct straight_run run = run_before(lane, last, transaction);
    uint64_t first = run.first <= last ? run.first : last;
    bool contradicts = run.at != last && code_at(lane, run.at).length;
    /* Of code that is not what perf has seen, as many as there can be at most: no event in the
     * block must come behind its end. */
    uint32_t instructions = contradicts ? (uint32_t)(last - first) + 1 : run.instructions + 1;
    run_block(lane, first, last, instructions, kind, transaction);
}

/* Executes up to the instruction at `end`, which has not run. */
static void run_up_to(struct branch_lane *lane, uint64_t end, bool transaction)
{
    struct straight_run run = run_before(lane, end, transaction);
    if (run.instructions)
        run_block(lane, run.first, run.last, run.instructions, BRANCH_NONE, transaction);
}

/* Whether control can have come to `address` without a taken branch. */
static bool is_reachable(const struct branch_lane *lane, uint64_t address)
{
    return lane->next && address >= lane->next && address - lane->next <= STRAIGHT_MAX;
}

/* Makes control be somewhere before `address` in straight code, if it is not: what led there is not
 * known. */
static void be_before(struct branch_lane *lane, uint64_t address, struct ticks time)
{
    if (lane->flow.running && is_reachable(lane, address))
        return;
    bool exact = settle_all(lane, time);
    if (lane->flow.running)
        control_flow_gap(&lane->flow, FLOW_GAP_LOST, lane->flow.last_ip, 0);
    control_flow_resume(&lane->flow, address, exact);
    lane->resumed_at = lane->now;
    lane->next = address;
    lane->ran_ahead = false;
}

/* ---- branches ---- */

/* The kind in perf's words. */
static enum branch_kind kind_of(uint32_t flags)
{
    bool kernel = flags & (BRANCH_IS_SYSCALL | BRANCH_IS_INTERRUPT | BRANCH_ENTERS_GUEST);
    if (flags & BRANCH_LEAVES_GUEST)
        return BRANCH_FAR_RETURN;
    if (flags & BRANCH_IS_CALL)
        return kernel ? BRANCH_FAR_CALL : BRANCH_CALL;
    if (flags & BRANCH_IS_RETURN)
        return kernel ? BRANCH_FAR_RETURN : BRANCH_RETURN;
    return flags & BRANCH_IS_CONDITIONAL ? BRANCH_CONDITIONAL : BRANCH_JUMP;
}

static void start_tracing(struct branch_lane *lane, uint64_t ip, struct ticks time)
{
    bool exact = settle_all(lane, time);
    /* perf does not tell each time that it could not decode on. */
    if (lane->flow.running)
        control_flow_gap(&lane->flow, FLOW_GAP_LOST, lane->flow.last_ip, 0);
    advance_code(lane, time);
    control_flow_resume(&lane->flow, ip, exact);
    lane->resumed_at = lane->now;
    lane->next = ip;
    lane->ran_ahead = false;
}

void branch_lane_begin(struct branch_lane *lane, const struct ring_beginning *beginning)
{
    for (size_t i = 0; i < beginning->told.count; i++)
        control_flow_mnt(&lane->flow, *(uint64_t *)array_at(&beginning->told, i));
    if (beginning->ip)
        start_tracing(lane, beginning->ip, beginning->time);
}

/* The instruction at event->from was not executed. */
static void interrupt(struct branch_lane *lane, const struct branch_event *event, struct ticks time)
{
    struct control_flow *flow = &lane->flow;
    be_before(lane, event->from, time);
    run_up_to(lane, event->from, event->flags & BRANCH_IN_TRANSACTION);
    lane->next = event->to;
    lane->ran_ahead = false;
    bool exact = settle_all(lane, time);
    bool aborted = event->flags & BRANCH_IS_ABORT, ends = event->flags & BRANCH_ENDS_TRACE;
    if (ends && aborted)
        control_flow_aborted_out(flow, event->from, event->to, exact);
    else if (ends)
        control_flow_interrupted(flow, event->from, exact);
    else
        control_flow_diverted(flow, aborted ? FLOW_ABORT : FLOW_INTERRUPT, event->from, event->to,
                              exact);
}

static void run_branch(struct branch_lane *lane, const struct branch_event *event,
                       struct ticks time)
{
    struct branch code = code_at(lane, event->from);
    uint8_t kind = code.kind == BRANCH_NONE ? (uint8_t)kind_of(event->flags) : code.kind;
    bool has_run = lane->ran_ahead && event->from == lane->flow.last_ip;
    lane->ran_ahead = false;
    if (has_run)
        return;
    be_before(lane, event->from, time);
    run_to(lane, event->from, kind, event->flags & BRANCH_IN_TRANSACTION);
}

static void follow_branch(struct branch_lane *lane, const struct branch_event *event,
                          struct ticks time)
{
    run_branch(lane, event, time);
    lane->next = event->to;
    if (event->flags & BRANCH_ENDS_TRACE)
        control_flow_disabled(&lane->flow, settle_all(lane, time));
    else
        settle_branch(lane, time);
}

static void take_branch(struct branch_lane *lane, const struct branch_event *event,
                        struct ticks time)
{
    bool starts = event->flags & BRANCH_STARTS_TRACE, ends = event->flags & BRANCH_ENDS_TRACE;
    bool asynchronous = event->flags & (BRANCH_IS_ASYNCHRONOUS | BRANCH_IS_ABORT);
    if (is_news(lane, time) && !starts)
        advance_code(lane, time);
    if (starts && !ends)
        start_tracing(lane, event->to, time);
    else if (starts || !event->from)
        return; /* nothing of it was traced */
    else if (asynchronous)
        interrupt(lane, event, time);
    else
        follow_branch(lane, event, time);
}

/* ---- the rest ---- */

/* It is that at the instruction at event->from, or behind it if that is a branch. */
static void take_stack_pointer(struct branch_lane *lane, const struct branch_event *event,
                               struct ticks time)
{
    struct control_flow *flow = &lane->flow;
    if (!flow->running || !is_reachable(lane, event->from))
        return;
    struct branch code = code_at(lane, event->from);
    if (is_news(lane, time))
        advance_code(lane, time);
    run_to(lane, event->from, code.kind, event->flags & BRANCH_IN_TRANSACTION);
    settle_all(lane, time);
    lane->next = code.length ? event->from + code.length : 0;
    lane->ran_ahead = true;
    control_flow_stack_pointer(flow, event->to);
}

static void take_error(struct branch_lane *lane, const struct branch_event *event)
{
    struct text_error error = text_error_of(event->message);
    settle_all(lane, lane->now);
    control_flow_gap(&lane->flow, error.gap, event->from, error.error);
    lane->next = 0;
}

void branch_lane_take(struct branch_lane *lane, const struct branch_event *event, struct ticks time)
{
    /* No processor tells a later time: the stream is damaged. */
    if (time.value > TSC_MAX)
        time.value = TSC_MAX;
    switch (event->kind) {
    case BRANCH_EVENT_BRANCH:
        take_branch(lane, event, time);
        break;
    case BRANCH_EVENT_STACK_POINTER:
        take_stack_pointer(lane, event, time);
        break;
    case BRANCH_EVENT_DECODE_ERROR:
        take_error(lane, event);
        break;
    }
}

void branch_lane_switch_thread(struct branch_lane *lane, struct thread_output *output,
                               struct code_space *space)
{
    if (lane->flow.running)
        settle_all(lane, lane->now);
    control_flow_switch_thread(&lane->flow, output, space);
    lane->next = 0;
    lane->ran_ahead = false;
    lane->bits_held = false;
}

void branch_lane_end(struct branch_lane *lane)
{
    if (lane->flow.running) {
        settle_all(lane, lane->now);
        if (lane->next && !lane->ran_ahead)
            control_flow_arrive(&lane->flow, lane->next);
    }
    control_flow_end(&lane->flow);
    event_batch_flush(&lane->flow.batch, NULL);
}
