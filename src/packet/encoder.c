#include "packet/encoder.h"

#include "packet/callchain_snapshot.h"

#include <string.h>

enum {
    NO_BRANCHES = 1, /* of encoder->tnt */

    /* Cycles that one CYC packet may hold. A longer time (a blocking system call) is emitted as a
     * TSC packet, which is shorter. */
    LONGEST_CYCLES = 1 << 26,
};

/* Never written: the inline path never takes its edges. */
struct pt_code_block pt_code_block_none = {
    .seen_target = PT_NOWHERE,
    .seen_fall = PT_NOWHERE,
    .seen_call = PT_NOWHERE,
    .target = PT_NOWHERE,
    .fall = PT_NOWHERE,
    .slow = 1,
    .kind = PT_BLOCK_NONE,
};

static const uint64_t unknown_stack_pointer;

/* Packets being written: the stream grows by all of them at once, so that a reader sees all or
 * none. */
struct group {
    uint8_t *start;
    uint8_t *end;
};

static struct group group_begin(const struct pt_encoder *encoder)
{
    uint64_t head = atomic_load_explicit(&encoder->head, memory_order_relaxed);
    uint8_t *start = encoder->packets + (head & encoder->mask);
    return (struct group){start, start};
}

/* Everything stored before (the packets, and an emptied encoder->tnt) is visible before the new
 * head: a reader of a killed owner's state may miss branches but never sees them twice. */
static void group_end(struct pt_encoder *encoder, const struct group *group)
{
    uint64_t head = atomic_load_explicit(&encoder->head, memory_order_relaxed);
    atomic_store_explicit(&encoder->head, head + (uint64_t)(group->end - group->start),
                          memory_order_release);
}

static bool has_branches(const struct pt_encoder *encoder)
{
    return encoder->tnt != NO_BRANCHES;
}

static void clear_returns(struct pt_encoder *encoder)
{
    encoder->floor = encoder->depth;
}

/* Where instructions are the clock, those of a block that was interrupted are taken back. */
static uint64_t time_now(const struct pt_encoder *encoder)
{
    uint64_t now = encoder->owner->time(encoder->owner);
    return now > encoder->last_time ? now : encoder->last_time;
}

static void put_tsc(struct pt_encoder *encoder, struct group *group, uint64_t now)
{
    group->end += pt_packet_tsc(group->end, now);
    if (encoder->periods)
        group->end += pt_packet_tma(group->end, (uint16_t)(now / PT_CRYSTAL_TICKS),
                                    (uint16_t)(now % PT_CRYSTAL_TICKS));
    encoder->last_time = now;
}

/* A processor writes an MTC packet for each period. Decoders take one packet for up to 255 periods.
 */
static void put_period(struct pt_encoder *encoder, struct group *group, uint64_t now)
{
    enum { PERIOD = PT_CRYSTAL_TICKS << PT_MTC_FREQUENCY, MOST_PERIODS = 128 };
    uint64_t period = now / PERIOD, passed = period - encoder->last_time / PERIOD;
    if (passed > MOST_PERIODS) {
        put_tsc(encoder, group, now);
    } else if (passed > 0) {
        group->end += pt_packet_mtc(group->end, (uint8_t)period);
        encoder->last_time = period * PERIOD;
    }
}

/* Puts the time of the packets that follow in the group; with coarse time an MTC packet or nothing.
 * The owner is asked for the time in any case, because it may have work to do at that moment.
 *
 * All time that passes goes into CYC packets, because perf adds them up from one TSC that directly
 * follows a CYC to the next such TSC (intel_pt_calc_tsc_timestamp() in
 * tools/perf/util/intel-pt-decoder). If a TSC came without a CYC, perf's sum would be too small,
 * and its clock would stand still until the sum has caught up. */
static void put_exact_time(struct pt_encoder *encoder, struct group *group)
{
    uint64_t now = time_now(encoder);
    if (encoder->coarse_time) {
        if (encoder->periods)
            put_period(encoder, group, now);
        return;
    }
    uint64_t cycles = now - encoder->last_time;
    bool too_long = cycles > LONGEST_CYCLES;
    group->end += pt_packet_cyc(group->end, too_long ? 0 : cycles);
    encoder->last_time = now;
    encoder->time_is_due = 0;
    if (too_long)
        put_tsc(encoder, group, now);
}

static void put_time(struct pt_encoder *encoder, struct group *group)
{
    if (!encoder->sparse_time || encoder->time_is_due)
        put_exact_time(encoder, group);
}

/* Puts a time that decoders must know exactly, because something outside the trace happens then,
 * too. */
static void put_moment(struct pt_encoder *encoder, struct group *group)
{
    if (encoder->coarse_time)
        put_tsc(encoder, group, time_now(encoder));
    else
        put_exact_time(encoder, group);
}

static void count_work(struct pt_encoder *encoder)
{
    encoder->instructions = pt_encoder_instructions(encoder);
    encoder->cost = pt_encoder_cost(encoder);
    encoder->work = 0;
}

static void put_untimed_branches(struct pt_encoder *encoder, struct group *group)
{
    count_work(encoder);
    if (has_branches(encoder)) {
        group->end += pt_packet_tnt(group->end, encoder->tnt);
        encoder->tnt = NO_BRANCHES;
    }
}

/* Puts the time and the branches up to it. What follows in the group happens at that time, too. */
static void put_branches(struct pt_encoder *encoder, struct group *group)
{
    put_time(encoder, group);
    put_untimed_branches(encoder, group);
}

static void put_branches_up_to_moment(struct pt_encoder *encoder, struct group *group)
{
    put_moment(encoder, group);
    put_untimed_branches(encoder, group);
}

static void put_ip(struct pt_encoder *encoder, struct group *group, enum pt_ip_packet kind,
                   uint64_t ip)
{
    if (encoder->last_ip == 0)
        group->end += pt_packet_ip_whole(group->end, kind, ip);
    else
        group->end += pt_packet_ip(group->end, kind, ip, encoder->last_ip);
    encoder->last_ip = ip;
}

/* `ip` is the address to be executed next, or 0 if tracing is off. No branch may be pending. */
static void put_psb(struct pt_encoder *encoder, struct group *group, uint64_t ip)
{
    bool first = encoder->last_time == 0;
    bool timed = !first && !encoder->coarse_time;
    if (timed)
        put_exact_time(encoder, group);
    encoder->last_psb = atomic_load_explicit(&encoder->head, memory_order_relaxed) +
                        (uint64_t)(group->end - group->start);
    encoder->last_ip = 0;
    clear_returns(encoder);
    group->end += pt_packet_psb(group->end);
    put_tsc(encoder, group, timed ? encoder->last_time : time_now(encoder));
    group->end += pt_packet_cbr(group->end, encoder->bus_ratio);
    group->end += pt_packet_mode_exec_64(group->end);
    if (ip != 0)
        put_ip(encoder, group, PT_FUP, ip);
    group->end += pt_packet_psbend(group->end);
    encoder->next_psb = encoder->last_psb + encoder->psb_interval;
    encoder->placed = 0;
}

static bool psb_is_due(const struct pt_encoder *encoder)
{
    uint64_t head = atomic_load_explicit(&encoder->head, memory_order_relaxed);
    return head >= encoder->next_psb;
}

/* False when tracing has to end. */
static bool may_go_on(struct pt_encoder *encoder)
{
    if (atomic_load_explicit(encoder->stop, memory_order_relaxed))
        return false;
    uint64_t head = atomic_load_explicit(&encoder->head, memory_order_relaxed);
    return head < encoder->limit || encoder->owner->make_room(encoder->owner);
}

/* Drops calls that have ended. Decoders do not know that they were dropped, so no later return may
 * be compressed against what the return stack holds. */
static void drop_dead_calls(struct pt_encoder *encoder, uint64_t stack_pointer)
{
    uint64_t depth = pt_calls_drop_dead(&encoder->calls, encoder->depth, stack_pointer);
    if (depth == encoder->depth)
        return;
    encoder->depth = depth;
    clear_returns(encoder);
}

enum { POPPED = 8 };

/* vfork keeps its return address in a register while it makes its system call (glibc,
 * sysdeps/unix/sysv/linux/x86_64/vfork.S), and is still active. */
static uint64_t stack_pointer_after_system_call(const struct pt_encoder *encoder)
{
    uint64_t pointer = *encoder->stack_pointer;
    return pointer > POPPED ? pointer - POPPED : 0;
}

static bool reports_calls(const struct pt_encoder *encoder)
{
    return encoder->calls.ring != &encoder->unreported &&
           encoder->stack_pointer != &unknown_stack_pointer;
}

enum { MNT_SIZE = 11, CALLS_SHARE = 8 }; /* of the packets that are callers, an eighth */

/* Emits the active calls, in groups of packets that fit into what make_room leaves; `flags` are added to the header.
 * Returns how many packets. If the room runs out, the snapshot stays incomplete, and decoders drop it: 0. */
static uint32_t put_calls(struct pt_encoder *encoder, uint64_t stack_pointer, uint64_t flags)
{
    enum { MOST_PER_GROUP = PT_ENCODER_SLACK / 2 / MNT_SIZE };
    struct pt_calls *calls = &encoder->calls;
    encoder->depth = pt_calls_drop_all_dead(calls, encoder->depth, stack_pointer);
    clear_returns(encoder);
    uint64_t left = encoder->depth, outermost;
    uint32_t count = pt_calls_count_packets(calls, left, &outermost);
    struct group group = group_begin(encoder);
    group.end += pt_packet_mnt(
        group.end, callchain_header(count, calls->all && outermost == calls->base) | flags);
    for (uint32_t reported = 0; reported < count; reported++) {
        group.end += pt_packet_mnt(group.end, pt_calls_next_packet(calls, &left));
        if (reported % MOST_PER_GROUP != MOST_PER_GROUP - 1)
            continue;
        group_end(encoder, &group);
        if (!may_go_on(encoder))
            return 0;
        group = group_begin(encoder);
    }
    group_end(encoder, &group);
    return count;
}

/* A callchain snapshot, just after a PSB. */
static void report_calls(struct pt_encoder *encoder, uint64_t stack_pointer)
{
    if (!reports_calls(encoder))
        return;
    uint32_t count = put_calls(encoder, stack_pointer, 0);
    if (encoder->psb_interval < CALLS_SHARE * MNT_SIZE * count)
        encoder->next_psb = encoder->last_psb + CALLS_SHARE * MNT_SIZE * count;
}

/* Subtracts the instructions of `block` from `pc` on, which were counted when it began. */
static void uncount(struct pt_encoder *encoder, const struct pt_code_block *block, uint64_t pc)
{
    uint64_t counted = block->work & (((uint64_t)1 << PT_WORK_COST_SHIFT) - 1);
    uint64_t executed = 0;
    for (uint64_t at = block->pc; at < pc && executed < counted; executed++)
        at += block->length[executed];
    count_work(encoder);
    encoder->instructions -= counted - executed;
}

static bool is_inside(const struct pt_code_block *block, uint64_t pc)
{
    return pc >= block->pc && pc < block->end;
}

static void put_asynchronous_end(struct pt_encoder *encoder, uint64_t ip)
{
    struct group group = group_begin(encoder);
    put_branches(encoder, &group);
    put_ip(encoder, &group, PT_FUP, ip);
    group.end += pt_packet_ip_suppressed(group.end, PT_TIP_PGD);
    group_end(encoder, &group);
    encoder->previous = &pt_code_block_none;
}

void pt_encoder_stop_at(struct pt_encoder *encoder, uint64_t pc)
{
    if (encoder->stopped)
        return;
    encoder->stopped = 1;
    if (encoder->previous->kind == PT_BLOCK_NONE)
        return;
    if (is_inside(encoder->previous, pc))
        uncount(encoder, encoder->previous, pc); /* counted, but will not be seen */
    put_asynchronous_end(encoder, pc);
}

/* After a step to `pc`: makes room in the ring, and writes a PSB+ if one is due and `synchronises`. */
static void settle(struct pt_encoder *encoder, uint64_t pc, bool synchronises)
{
    if (!may_go_on(encoder)) {
        pt_encoder_stop_at(encoder, pc);
    } else if (synchronises && psb_is_due(encoder)) {
        struct group group = group_begin(encoder);
        if (has_branches(encoder))
            put_branches(encoder, &group);
        put_psb(encoder, &group, pc);
        group_end(encoder, &group);
        report_calls(encoder, *encoder->stack_pointer);
    }
}

void pt_code_block_describe(struct pt_code_block *block)
{
    uint64_t counted = block->instructions;
    bool falls = true;
    block->bits = block->push = 0;
    block->slow = block->loads_stack;
    switch ((enum pt_code_block_kind)block->kind) {
    case PT_BLOCK_SEQUENTIAL:
        block->target = PT_NOWHERE;
        break;
    case PT_BLOCK_CONDITIONAL:
        block->bits = 1;
        break;
    case PT_BLOCK_JUMP:
        falls = false;
        break;
    case PT_BLOCK_CALL:
        falls = false;
        block->push = block->target != block->end;
        break;
    case PT_BLOCK_REPEAT:
        /* One block per iteration, but one instruction: put_edge counts it when the loop is left,
         * an edge that the inline path does not take. */
        block->target = block->end - block->length[block->instructions - 1];
        counted--;
        falls = false;
        break;
    case PT_BLOCK_OUTSIDE:
        counted = 0;
        /* fall through */
    default:
        block->target = PT_NOWHERE;
        falls = false;
        block->slow = 1;
        break;
    }
    block->fall = falls ? block->end : PT_NOWHERE;
    /* A branch into the block itself looks like a restart of it: pt_encoder_step_slow decides. */
    if (block->restartable && block->kind != PT_BLOCK_REPEAT && is_inside(block, block->target))
        block->slow = 1;
    atomic_init(&block->seen_target, PT_NOWHERE);
    atomic_init(&block->seen_fall, PT_NOWHERE);
    atomic_init(&block->seen_call, PT_NOWHERE);
    block->work = counted | (uint64_t)block->cost << PT_WORK_COST_SHIFT;
}

void pt_encoder_begin(struct pt_encoder *encoder, uint8_t bus_ratio, uint32_t psb_interval)
{
    encoder->tnt = NO_BRANCHES;
    encoder->bus_ratio = bus_ratio;
    encoder->psb_interval = psb_interval;
    encoder->previous = &pt_code_block_none;
    encoder->stack_pointer = &unknown_stack_pointer;
    if (!encoder->calls.ring)
        encoder->calls.ring = &encoder->unreported;
}

void pt_encoder_know_stack(struct pt_encoder *encoder, const uint64_t *stack_pointer)
{
    encoder->stack_pointer = stack_pointer;
}

void pt_encoder_flush(struct pt_encoder *encoder, uint64_t pc)
{
    struct group group = group_begin(encoder);
    put_branches(encoder, &group);
    group_end(encoder, &group);
    settle(encoder, pc, true);
}

void pt_encoder_emit(struct pt_encoder *encoder)
{
    if (encoder->stopped || !has_branches(encoder) || !may_go_on(encoder))
        return;
    struct group group = group_begin(encoder);
    put_branches_up_to_moment(encoder, &group);
    group_end(encoder, &group);
}

void pt_encoder_emit_time(struct pt_encoder *encoder)
{
    struct group group = group_begin(encoder);
    put_time(encoder, &group);
    group_end(encoder, &group);
}

/* A TSC packet, unlike a CYC packet, gives the time of what was before it. */
static void put_time_here(struct pt_encoder *encoder, struct group *group, uint64_t now)
{
    uint64_t cycles = now - encoder->last_time;
    group->end += pt_packet_cyc(group->end, cycles > LONGEST_CYCLES ? 0 : cycles);
    put_tsc(encoder, group, now);
}

void pt_encoder_emit_pause(struct pt_encoder *encoder, uint64_t until)
{
    bool off = encoder->last_time == 0 || encoder->previous->kind == PT_BLOCK_NONE;
    if (encoder->stopped || off || encoder->coarse_time || !may_go_on(encoder))
        return;
    struct group group = group_begin(encoder);
    put_branches_up_to_moment(encoder, &group);
    put_time_here(encoder, &group, encoder->last_time);
    put_time_here(encoder, &group, until > encoder->last_time ? until : encoder->last_time);
    group_end(encoder, &group);
}

struct pt_encoder_progress pt_encoder_progress(const struct pt_encoder *encoder)
{
    return (struct pt_encoder_progress){
        .head = atomic_load_explicit(&encoder->head, memory_order_relaxed),
        .tnt = encoder->tnt,
    };
}

/* EXSTOP is the packet that binds a time to an address without a branch. libipt and perf read it on
 * every machine, and no decoder takes it for a branch. */
void pt_encoder_emit_arrival(struct pt_encoder *encoder, uint64_t pc,
                             struct pt_encoder_progress before)
{
    struct pt_encoder_progress now = pt_encoder_progress(encoder);
    /* A PSB gives the address, but decoders do not bind a time to it. */
    bool synchronised = encoder->last_psb >= before.head;
    bool reported = !synchronised && (now.head != before.head || now.tnt != before.tnt);
    if (encoder->stopped || encoder->previous->kind == PT_BLOCK_NONE ||
        (reported && !has_branches(encoder)) || !may_go_on(encoder))
        return;
    struct group group = group_begin(encoder);
    put_branches_up_to_moment(encoder, &group);
    if (!reported) {
        group.end += pt_packet_stop_at_ip(group.end);
        put_ip(encoder, &group, PT_FUP, pc);
    }
    group_end(encoder, &group);
}

void pt_encoder_emit_stack_pointer(struct pt_encoder *encoder, uint64_t ip, uint64_t value)
{
    if (encoder->stopped || encoder->previous->kind == PT_BLOCK_NONE || !may_go_on(encoder))
        return;
    struct group group = group_begin(encoder);
    put_branches(encoder, &group);
    group.end += pt_packet_ptwrite_at_ip(group.end, value);
    put_ip(encoder, &group, PT_FUP, ip);
    group_end(encoder, &group);
}

void pt_encoder_emit_calls(struct pt_encoder *encoder, uint64_t ip)
{
    if (encoder->stopped || encoder->previous->kind == PT_BLOCK_NONE || !reports_calls(encoder) ||
        !may_go_on(encoder))
        return;
    encoder->placed += MNT_SIZE * put_calls(encoder, *encoder->stack_pointer, CALLCHAIN_PLACED);
    pt_encoder_emit_stack_pointer(encoder, ip, *encoder->stack_pointer);
    uint64_t earliest = encoder->last_psb + CALLS_SHARE * encoder->placed;
    if (encoder->next_psb < earliest)
        encoder->next_psb = earliest;
}

void pt_encoder_emit_values(struct pt_encoder *encoder, uint64_t ip, uint32_t head,
                            const uint64_t *words, size_t count)
{
    for (size_t i = 0; i <= count; i++) {
        if (encoder->stopped || encoder->previous->kind == PT_BLOCK_NONE || !may_go_on(encoder))
            return;
        struct group group = group_begin(encoder);
        put_branches(encoder, &group);
        group.end += i == 0 ? pt_packet_ptwrite_short_at_ip(group.end, head)
                            : pt_packet_ptwrite_at_ip(group.end, words[i - 1]);
        put_ip(encoder, &group, PT_FUP, ip);
        group_end(encoder, &group);
    }
}

void pt_encoder_forget_returns(struct pt_encoder *encoder)
{
    clear_returns(encoder);
}

static void push_return(struct pt_encoder *encoder, const struct pt_code_block *call)
{
    encoder->return_address[encoder->depth % PT_RETURN_STACK] = call->end;
    *pt_calls_at(&encoder->calls, encoder->depth) =
        (struct pt_call){call->end, *encoder->stack_pointer};
    encoder->depth++;
}

void pt_encoder_push_interrupted(struct pt_encoder *encoder, uint64_t ip, uint64_t stack_pointer)
{
    *pt_calls_at(&encoder->calls, encoder->depth) =
        (struct pt_call){ip | CALLCHAIN_INTERRUPTED, stack_pointer - 2 * POPPED};
    encoder->depth++;
    clear_returns(encoder);
}

void pt_encoder_forget_calls(struct pt_encoder *encoder)
{
    encoder->calls.base = encoder->depth;
    encoder->calls.all = false;
    clear_returns(encoder);
}

void pt_encoder_know_calls(struct pt_encoder *encoder, const struct pt_call *calls, size_t count,
                           bool all)
{
    encoder->calls.base = encoder->depth;
    encoder->calls.all = all;
    for (size_t i = 0; i < count; i++)
        *pt_calls_at(&encoder->calls, encoder->depth++) = calls[i];
    clear_returns(encoder);
}

void pt_encoder_stack_moved(struct pt_encoder *encoder, uint64_t from)
{
    if (pt_calls_same_stack(&encoder->calls, encoder->depth, from, *encoder->stack_pointer))
        drop_dead_calls(encoder, *encoder->stack_pointer);
    else
        pt_encoder_forget_calls(encoder);
}

struct pt_saved_calls pt_encoder_save_calls(const struct pt_encoder *encoder)
{
    return (struct pt_saved_calls){encoder->calls, encoder->depth};
}

void pt_encoder_restore_calls(struct pt_encoder *encoder, const struct pt_saved_calls *saved)
{
    encoder->calls = saved->calls;
    encoder->depth = saved->depth;
    clear_returns(encoder);
}

static void edge_enable(struct pt_encoder *encoder, uint64_t pc)
{
    encoder->sigreturned = 0;
    bool synchronises = psb_is_due(encoder);
    uint64_t stack_pointer = stack_pointer_after_system_call(encoder);
    drop_dead_calls(encoder, stack_pointer);
    struct group group = group_begin(encoder);
    if (synchronises)
        put_psb(encoder, &group, 0);
    else
        put_moment(encoder, &group);
    put_ip(encoder, &group, PT_TIP_PGE, pc);
    group_end(encoder, &group);
    if (synchronises)
        report_calls(encoder, stack_pointer);
}

static void edge_indirect(struct pt_encoder *encoder, uint64_t pc)
{
    struct group group = group_begin(encoder);
    put_branches(encoder, &group);
    put_ip(encoder, &group, PT_TIP, pc);
    group_end(encoder, &group);
}

static void edge_branch(struct pt_encoder *encoder, bool taken)
{
    encoder->tnt = encoder->tnt << 1 | taken;
    if (encoder->tnt >> PT_TNT_BITS == 0)
        return;
    struct group group = group_begin(encoder);
    put_branches(encoder, &group);
    group_end(encoder, &group);
}

void pt_encoder_miss_return(struct pt_encoder *encoder, uint64_t pc)
{
    clear_returns(encoder);
    drop_dead_calls(encoder, *encoder->stack_pointer);
    edge_indirect(encoder, pc);
}

static void edge_return(struct pt_encoder *encoder, uint64_t pc)
{
    if (encoder->depth - encoder->floor > PT_RETURN_STACK)
        encoder->floor = encoder->depth - PT_RETURN_STACK;
    bool empty = encoder->depth == encoder->floor;
    if (!empty && encoder->return_address[(encoder->depth - 1) % PT_RETURN_STACK] == pc) {
        encoder->depth--;
        edge_branch(encoder, true);
        return;
    }
    pt_encoder_miss_return(encoder, pc);
}

/* No known edge leads to `pc`: emits an overflow and continues there. */
static void edge_lost(struct pt_encoder *encoder, uint64_t pc)
{
    encoder->losses++;
    encoder->last_ip = 0;
    clear_returns(encoder);
    struct group group = group_begin(encoder);
    put_branches(encoder, &group);
    group.end += pt_packet_overflow(group.end);
    put_ip(encoder, &group, PT_FUP, pc);
    group_end(encoder, &group);
}

void pt_encoder_lose(struct pt_encoder *encoder)
{
    bool nothing_yet = encoder->last_time == 0;
    if (encoder->stopped || nothing_yet || !may_go_on(encoder))
        return;
    encoder->losses++;
    encoder->last_ip = 0;
    pt_encoder_forget_calls(encoder);
    struct group group = group_begin(encoder);
    put_branches(encoder, &group);
    group.end += pt_packet_overflow(group.end);
    group_end(encoder, &group);
    encoder->previous = &pt_code_block_none;
}

/* Emits the edge from the block that ran last to `pc`, of any kind. The emulator may also leave a
 * block in its middle and continue there (self-modifying code, an instruction that needs the whole
 * machine). The processor would not have branched, so nothing is emitted; the instructions from
 * `pc` on are subtracted from the count. */
static void put_edge(struct pt_encoder *encoder, uint64_t pc)
{
    const struct pt_code_block *previous = encoder->previous;
    switch ((enum pt_code_block_kind)previous->kind) {
    case PT_BLOCK_NONE:
        edge_enable(encoder, pc);
        return;
    case PT_BLOCK_FAR:
        /* The program left user mode without a system call, and came back. */
        pt_encoder_disable(encoder);
        edge_enable(encoder, pc);
        return;
    case PT_BLOCK_RETURN:
        edge_return(encoder, pc);
        return;
    case PT_BLOCK_REPORTED_RETURN:
        pt_encoder_miss_return(encoder, pc);
        return;
    case PT_BLOCK_INDIRECT_CALL:
        push_return(encoder, previous);
        edge_indirect(encoder, pc);
        return;
    case PT_BLOCK_INDIRECT_JUMP:
        edge_indirect(encoder, pc);
        return;
    case PT_BLOCK_REPEAT:
        if (pc == previous->target)
            return;
        if (pc == previous->end) {
            encoder->work++;
            return;
        }
        break;
    default:
        if (pc == previous->target || pc == previous->fall) {
            if (previous->push)
                push_return(encoder, previous);
            if (previous->bits)
                edge_branch(encoder, pc == previous->target);
            return;
        }
        break;
    }
    if (is_inside(previous, pc))
        uncount(encoder, previous, pc);
    else
        edge_lost(encoder, pc);
}

/* The emulator left `previous` in its middle and runs the next instruction as a block of its own.
 */
static bool is_restart(const struct pt_code_block *previous, const struct pt_code_block *block)
{
    return previous->restartable && is_inside(previous, block->pc) && block->instructions == 1 &&
           block->kind == PT_BLOCK_SEQUENTIAL && previous->instructions > 1;
}

/* Where a taken direct edge from `block` to `pc` is noted; NULL if the inline path must not follow
 * it. */
static _Atomic uint64_t *edge_note(struct pt_code_block *block, uint64_t pc)
{
    if (block->slow)
        return NULL;
    if (pc == block->target)
        return block->push ? &block->seen_call : &block->seen_target;
    return pc == block->fall ? &block->seen_fall : NULL;
}

bool pt_encoder_edge_is_new(const struct pt_encoder *encoder, uint64_t pc)
{
    _Atomic uint64_t *note = edge_note(encoder->previous, pc);
    return note && atomic_load_explicit(note, memory_order_relaxed) != pc;
}

/* Whether the branch after a load of the stack pointer is still to come: longjmp, a switch of stacks. Decoders may begin at each PSB,
 * and are to see both. */
static bool runs_on_after_load(const struct pt_code_block *block)
{
    return block->loads_stack && block->kind == PT_BLOCK_SEQUENTIAL;
}

/* Lets the inline path take this edge from now on. */
static void see_edge(struct pt_code_block *block, uint64_t pc)
{
    _Atomic uint64_t *note = edge_note(block, pc);
    if (note)
        atomic_store_explicit(note, pc, memory_order_relaxed);
}

/* The branch at the end of the last block leads to code that is not traced. libipt accepts a
 * TIP.PGD without an address only at the end of a far branch. */
static void leave(struct pt_encoder *encoder, uint64_t target)
{
    if (encoder->previous->kind == PT_BLOCK_NONE)
        return;
    clear_returns(encoder);
    struct group group = group_begin(encoder);
    put_branches(encoder, &group);
    put_ip(encoder, &group, PT_TIP_PGD, target);
    group_end(encoder, &group);
    encoder->previous = &pt_code_block_none;
}

static bool ends_with_branch(const struct pt_code_block *block)
{
    switch ((enum pt_code_block_kind)block->kind) {
    case PT_BLOCK_SEQUENTIAL:
    case PT_BLOCK_REPEAT:
    case PT_BLOCK_FAR:
        return false;
    default:
        return true;
    }
}

void pt_encoder_leave(struct pt_encoder *encoder, uint64_t target)
{
    if (encoder->stopped || encoder->previous->kind == PT_BLOCK_NONE)
        return;
    if (ends_with_branch(encoder->previous))
        leave(encoder, target);
    else
        pt_encoder_interrupt(encoder, target, false);
}

/* A stop while tracing is off takes effect without turning tracing on. */
static bool stops_while_off(struct pt_encoder *encoder)
{
    if (atomic_load_explicit(encoder->stop, memory_order_relaxed))
        encoder->stopped = 1;
    return encoder->stopped;
}

void pt_encoder_step_slow(struct pt_encoder *encoder, struct pt_code_block *block)
{
    struct pt_code_block *previous = encoder->previous;
    if (encoder->stopped)
        return;
    if (block->kind == PT_BLOCK_OUTSIDE) {
        leave(encoder, block->pc);
        return;
    }
    if (previous->kind == PT_BLOCK_NONE && stops_while_off(encoder))
        return;
    if (is_restart(previous, block))
        uncount(encoder, previous, block->pc);
    else
        put_edge(encoder, block->pc);
    see_edge(previous, block->pc);
    encoder->previous = block;
    settle(encoder, block->pc, !runs_on_after_load(previous));
}

void pt_encoder_disable(struct pt_encoder *encoder)
{
    encoder->sigreturned = 0;
    if (encoder->previous->kind == PT_BLOCK_NONE)
        return;
    struct group group = group_begin(encoder);
    put_branches(encoder, &group);
    group.end += pt_packet_ip_suppressed(group.end, PT_TIP_PGD);
    group_end(encoder, &group);
    encoder->previous = &pt_code_block_none;
}

void pt_encoder_note_sigreturn(struct pt_encoder *encoder)
{
    encoder->sigreturned = 1;
}

/* Before tracing has begun again. */
static void interrupt_arrival(struct pt_encoder *encoder, uint64_t ip)
{
    if (!encoder->sigreturned || ip == 0 || stops_while_off(encoder))
        return;
    edge_enable(encoder, ip);
    put_asynchronous_end(encoder, ip);
}

void pt_encoder_interrupt(struct pt_encoder *encoder, uint64_t ip, bool faulted)
{
    const struct pt_code_block *previous = encoder->previous;
    if (encoder->stopped)
        return;
    if (previous->kind == PT_BLOCK_NONE) {
        interrupt_arrival(encoder, ip);
        return;
    }
    if (previous->kind == PT_BLOCK_FAR && ip == previous->end) {
        pt_encoder_disable(encoder); /* int3, int n: the branch itself ends tracing */
        return;
    }
    if (ip == 0) {
        /* A call through a null pointer. perf takes address 0 for a missing one and looks for code
         * there. */
        leave(encoder, ip);
        return;
    }
    if (faulted && is_inside(previous, ip))
        uncount(encoder, previous, ip);
    else
        put_edge(encoder, ip);
    put_asynchronous_end(encoder, ip);
}

/* Whether a packet records the edge from the block that ran last to `block`, and decoders look at its time there. perf does so at
 * branches that are taken: it goes on through the others to the next one that is, in the code that it knows. */
static bool edge_has_moment(const struct pt_encoder *encoder, const struct pt_code_block *block)
{
    const struct pt_code_block *previous = encoder->previous;
    switch ((enum pt_code_block_kind)previous->kind) {
    case PT_BLOCK_SEQUENTIAL:
    case PT_BLOCK_JUMP:
    case PT_BLOCK_CALL:
    case PT_BLOCK_REPEAT:
        return false;
    case PT_BLOCK_CONDITIONAL:
        return block->pc == previous->target && block->pc != previous->fall &&
               !is_restart(previous, block);
    default:
        return true;
    }
}

void pt_encoder_leave_old_code(struct pt_encoder *encoder, const struct pt_code_block *block)
{
    pt_encoder_interrupt(encoder, block->pc, is_restart(encoder->previous, block));
}

void pt_encoder_arrive_at_new_code(struct pt_encoder *encoder, const struct pt_code_block *block)
{
    if (!edge_has_moment(encoder, block)) {
        pt_encoder_leave_old_code(encoder, block);
    } else if (encoder->coarse_time && encoder->previous->kind != PT_BLOCK_NONE &&
               !encoder->stopped && may_go_on(encoder)) {
        struct group group = group_begin(encoder);
        put_untimed_branches(encoder, &group);
        put_moment(encoder, &group);
        group_end(encoder, &group);
    }
}

size_t pt_encoder_drain(const struct pt_encoder *encoder, uint8_t out[PT_DRAIN_SIZE])
{
    uint64_t tnt = encoder->tnt;
    if (tnt <= NO_BRANCHES || tnt >> (PT_TNT_BITS + 1) != 0)
        return 0;
    return pt_packet_tnt(out, tnt);
}
