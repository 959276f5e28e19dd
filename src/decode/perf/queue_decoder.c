#include "decode/perf/queue_decoder.h"

#include "decode/text/text_error.h"

enum {
    /* The longest code without a taken branch that is plausible. Addresses farther apart are not
     * connected. */
    STRAIGHT_MAX = 1 << 20,
};

/* TSC packets have 56 bits (SDM volume 3, "Timestamp Counter (TSC) Packet"). */
static const uint64_t TSC_MAX = ((uint64_t)1 << 56) - 1;

void queue_decoder_init(struct queue_decoder *queue, bool kernel)
{
    *queue = (struct queue_decoder){.kernel = kernel};
    control_flow_init(&queue->flow);
    reorder_buffer_init(&queue->reorder_buffer, true);
    queue->flow.batch.reorder_buffer = &queue->reorder_buffer;
}

void queue_decoder_free(struct queue_decoder *queue)
{
    control_flow_free(&queue->flow);
    reorder_buffer_free(&queue->reorder_buffer);
}

/* perf does not say whether code is 64-bit. In 32-bit code calls have the same length, and code
 * that cannot be walked is treated as one block. */
static struct branch code_at(const struct queue_decoder *queue, uint64_t address)
{
    struct code_space *space = queue->flow.space;
    return space ? code_space_branch(space, address, X86_MODE_64)
                 : (struct branch){.kind = BRANCH_NONE};
}

/* ---- time ---- */

/* From here on the code is that at `time`. A user program never runs while it calls execve. */
static void advance_code(struct queue_decoder *queue, struct ticks time)
{
    struct code_space *space = queue->flow.space;
    bool may_exec = !queue->flow.running || queue->kernel;
    struct ticks exec_until = may_exec ? time : queue->resumed_at;
    if (space)
        code_space_advance(space, code_space_changes(space, time, exec_until));
}

static bool is_news(const struct queue_decoder *queue, struct ticks time)
{
    return time.value > queue->now.value;
}

static void settle_bits(struct queue_decoder *queue)
{
    if (queue->bits_held)
        control_flow_time(&queue->flow, queue->bits_position, queue->bits_time);
    queue->bits_held = false;
}

/* Whether a packet of its own gives the destination of the newest branch; a return may also be one
 * TNT bit. */
static bool has_packet(const struct queue_decoder *queue)
{
    const struct control_flow *flow = &queue->flow;
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
    return !code_at(queue, flow->branch.from).direct;
}

/* perf reported `time` with the newest branch. */
static void settle_branch(struct queue_decoder *queue, struct ticks time)
{
    struct control_flow *flow = &queue->flow;
    bool packet = has_packet(queue);
    bool bit = flow->branch_kind == BRANCH_CONDITIONAL || flow->branch_kind == BRANCH_RETURN;
    if (!is_news(queue, time)) {
        if (packet || bit)
            queue->bits_position = flow->branch_position;
        return;
    }
    settle_bits(queue);
    queue->now = time;
    if (packet) {
        control_flow_time(flow, flow->branch_position, time);
        control_flow_branch_time_exact(flow);
        return;
    }
    queue->bits_held = true;
    queue->bits_time = time;
    queue->bits_position = flow->branch_position;
}

/* Settles the time of all branches before this moment. True if a packet gave its time. */
static bool settle_all(struct queue_decoder *queue, struct ticks time)
{
    bool news = is_news(queue, time);
    bool exact = news || queue->bits_held;
    if (news) {
        settle_bits(queue);
        queue->now = time;
    }
    queue->bits_held = false;
    control_flow_time(&queue->flow, queue->flow.position, queue->now);
    return exact;
}

/* ---- what ran ---- */

static void run_block(struct queue_decoder *queue, uint64_t first, uint64_t last,
                      uint32_t instructions, uint8_t kind, bool transaction)
{
    struct branch branch = code_at(queue, last);
    struct block block = {.ip = first,
                          .last = last,
                          .next = last + branch.length,
                          .instructions = instructions,
                          .kind = kind,
                          .mode = X86_MODE_64,
                          .direct = branch.direct,
                          .reads_own_address = branch.reads_own_address};
    queue->flow.transaction = transaction;
    control_flow_block(&queue->flow, &block);
}

struct straight_run {
    uint64_t first;        /* of the block that is being executed */
    uint64_t at;           /* the next instruction */
    uint64_t last;         /* address of the last instruction executed */
    uint32_t instructions; /* of the block so far */
};

/* Executes the instructions before `end`, each of which continues with the next. Conditional jumps
 * among them were not taken, and end a block as they do in packets. Stops where the code is unknown
 * or differs from what perf has seen. */
static struct straight_run run_before(struct queue_decoder *queue, uint64_t end, bool transaction)
{
    struct straight_run run = {.first = queue->next, .at = queue->next};
    while (run.at < end) {
        struct branch branch = code_at(queue, run.at);
        if (!branch.length || (branch.kind != BRANCH_NONE && branch.kind != BRANCH_CONDITIONAL))
            break;
        run.last = run.at;
        run.at += branch.length;
        run.instructions++;
        if (branch.kind != BRANCH_CONDITIONAL)
            continue;
        run_block(queue, run.first, run.last, run.instructions, BRANCH_CONDITIONAL, transaction);
        run.first = run.at;
        run.instructions = 0;
    }
    return run;
}

/* Executes up to and including the instruction at `last`. */
static void run_to(struct queue_decoder *queue, uint64_t last, uint8_t kind, bool transaction)
{
    struct straight_run run = run_before(queue, last, transaction);
    uint64_t first = run.first <= last ? run.first : last;
    bool contradicts = run.at != last && code_at(queue, run.at).length;
    /* If the code differs from what perf has seen, the greatest possible number: no event in the
     * block may come after its end. */
    uint32_t instructions = contradicts ? (uint32_t)(last - first) + 1 : run.instructions + 1;
    run_block(queue, first, last, instructions, kind, transaction);
}

/* Executes up to but not including the instruction at `end`. */
static void run_up_to(struct queue_decoder *queue, uint64_t end, bool transaction)
{
    struct straight_run run = run_before(queue, end, transaction);
    if (run.instructions)
        run_block(queue, run.first, run.last, run.instructions, BRANCH_NONE, transaction);
}

/* Whether control can reach `address` from here without a taken branch. */
static bool is_reachable(const struct queue_decoder *queue, uint64_t address)
{
    return queue->next && address >= queue->next && address - queue->next <= STRAIGHT_MAX;
}

/* Ensures that control is before `address` in straight code; otherwise resumes at `address`,
 * because how control got there is unknown. */
static void be_before(struct queue_decoder *queue, uint64_t address, struct ticks time)
{
    if (queue->flow.running && is_reachable(queue, address))
        return;
    bool exact = settle_all(queue, time);
    if (queue->flow.running)
        control_flow_gap(&queue->flow, FLOW_GAP_LOST, queue->flow.last_ip, 0);
    control_flow_resume(&queue->flow, address, exact);
    queue->resumed_at = queue->now;
    queue->next = address;
    queue->ran_ahead = false;
}

/* ---- branches ---- */

/* The kind of branch for perf's flags. */
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

static void start_tracing(struct queue_decoder *queue, uint64_t ip, struct ticks time)
{
    bool exact = settle_all(queue, time);
    /* perf does not report every time that it stopped decoding. */
    if (queue->flow.running)
        control_flow_gap(&queue->flow, FLOW_GAP_LOST, queue->flow.last_ip, 0);
    advance_code(queue, time);
    control_flow_resume(&queue->flow, ip, exact);
    queue->resumed_at = queue->now;
    queue->next = ip;
    queue->ran_ahead = false;
}

void queue_decoder_begin(struct queue_decoder *queue, const struct ring_beginning *beginning)
{
    for (size_t i = 0; i < beginning->reported.count; i++)
        control_flow_mnt(&queue->flow, *(uint64_t *)array_at(&beginning->reported, i));
    if (beginning->ip)
        start_tracing(queue, beginning->ip, beginning->time);
}

/* An interrupt: the instruction at event->from was not executed. */
static void interrupt(struct queue_decoder *queue, const struct branch_event *event,
                      struct ticks time)
{
    struct control_flow *flow = &queue->flow;
    be_before(queue, event->from, time);
    run_up_to(queue, event->from, event->flags & BRANCH_IN_TRANSACTION);
    queue->next = event->to;
    queue->ran_ahead = false;
    bool exact = settle_all(queue, time);
    bool aborted = event->flags & BRANCH_IS_ABORT, ends = event->flags & BRANCH_ENDS_TRACE;
    if (ends && aborted)
        control_flow_aborted_out(flow, event->from, event->to, exact);
    else if (ends)
        control_flow_interrupted(flow, event->from, exact);
    else
        control_flow_diverted(flow, aborted ? FLOW_ABORT : FLOW_INTERRUPT, event->from, event->to,
                              exact);
}

static void run_branch(struct queue_decoder *queue, const struct branch_event *event,
                       struct ticks time)
{
    struct branch code = code_at(queue, event->from);
    uint8_t kind = code.kind == BRANCH_NONE ? (uint8_t)kind_of(event->flags) : code.kind;
    bool has_run = queue->ran_ahead && event->from == queue->flow.last_ip;
    queue->ran_ahead = false;
    if (has_run)
        return;
    be_before(queue, event->from, time);
    run_to(queue, event->from, kind, event->flags & BRANCH_IN_TRANSACTION);
}

static void follow_branch(struct queue_decoder *queue, const struct branch_event *event,
                          struct ticks time)
{
    run_branch(queue, event, time);
    queue->next = event->to;
    if (event->flags & BRANCH_ENDS_TRACE)
        control_flow_disabled(&queue->flow, event->to, settle_all(queue, time));
    else
        settle_branch(queue, time);
}

static void take_branch(struct queue_decoder *queue, const struct branch_event *event,
                        struct ticks time)
{
    bool starts = event->flags & BRANCH_STARTS_TRACE, ends = event->flags & BRANCH_ENDS_TRACE;
    bool asynchronous = event->flags & (BRANCH_IS_ASYNCHRONOUS | BRANCH_IS_ABORT);
    if (is_news(queue, time) && !starts)
        advance_code(queue, time);
    if (starts && !ends)
        start_tracing(queue, event->to, time);
    else if (starts || !event->from)
        return; /* nothing of it was traced */
    else if (asynchronous)
        interrupt(queue, event, time);
    else
        follow_branch(queue, event, time);
}

/* ---- the rest ---- */

/* The stack pointer at the instruction at event->from, or after it if it is a branch. */
static void take_stack_pointer(struct queue_decoder *queue, const struct branch_event *event,
                               struct ticks time)
{
    struct control_flow *flow = &queue->flow;
    if (!flow->running || !is_reachable(queue, event->from))
        return;
    struct branch code = code_at(queue, event->from);
    if (is_news(queue, time))
        advance_code(queue, time);
    run_to(queue, event->from, code.kind, event->flags & BRANCH_IN_TRANSACTION);
    settle_all(queue, time);
    queue->next = code.length ? event->from + code.length : 0;
    queue->ran_ahead = true;
    control_flow_stack_pointer(flow, event->to);
}

static void take_error(struct queue_decoder *queue, const struct branch_event *event)
{
    struct text_error error = text_error_of(event->message);
    settle_all(queue, queue->now);
    control_flow_gap(&queue->flow, error.gap, event->from, error.error);
    queue->next = 0;
}

void queue_decoder_take(struct queue_decoder *queue, const struct branch_event *event,
                        struct ticks time)
{
    /* Processors do not write later times: the stream is damaged. */
    if (time.value > TSC_MAX)
        time.value = TSC_MAX;
    switch (event->kind) {
    case BRANCH_EVENT_BRANCH:
        take_branch(queue, event, time);
        break;
    case BRANCH_EVENT_STACK_POINTER:
        take_stack_pointer(queue, event, time);
        break;
    case BRANCH_EVENT_DECODE_ERROR:
        take_error(queue, event);
        break;
    }
}

void queue_decoder_switch_thread(struct queue_decoder *queue, struct thread_sink *output,
                                 struct code_space *space)
{
    if (queue->flow.running)
        settle_all(queue, queue->now);
    control_flow_switch_thread(&queue->flow, output, space);
    queue->next = 0;
    queue->ran_ahead = false;
    queue->bits_held = false;
}

void queue_decoder_end(struct queue_decoder *queue)
{
    if (queue->flow.running) {
        settle_all(queue, queue->now);
        if (queue->next && !queue->ran_ahead)
            control_flow_arrive(&queue->flow, queue->next);
    }
    control_flow_end(&queue->flow);
    event_batch_flush(&queue->flow.batch, NULL);
}
