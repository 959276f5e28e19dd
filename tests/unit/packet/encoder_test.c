#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "packet/block_run.h"
#include "packet/callchain_snapshot.h"

#include <intel-pt.h>
#include <stdlib.h>
#include <string.h>

/* --- An encoder over plain memory, with a clock that ticks whenever it is read --- */

enum { BUFFER = 1 << 20, STEP = 16 };

struct recording {
    struct pt_encoder_owner owner; /* first */
    struct pt_encoder encoder;
    _Atomic uint32_t stop;
    uint64_t ticks, stack_pointer;
    bool room;
    uint8_t *bytes;
};

static uint64_t tick(struct pt_encoder_owner *owner)
{
    return ++((struct recording *)owner)->ticks;
}

static bool more_room(struct pt_encoder_owner *owner)
{
    struct recording *recording = (struct recording *)owner;
    recording->encoder.limit = BUFFER - PT_ENCODER_SLACK;
    return recording->room;
}

static struct recording *begin(uint32_t psb_interval)
{
    struct recording *recording = calloc(1, sizeof *recording);
    recording->owner = (struct pt_encoder_owner){tick, more_room};
    recording->ticks = 1000;
    recording->bytes = calloc(1, BUFFER);
    struct pt_encoder *encoder = &recording->encoder;
    encoder->owner = &recording->owner;
    encoder->stop = &recording->stop;
    encoder->packets = recording->bytes;
    encoder->mask = UINT64_MAX;
    encoder->limit = BUFFER - PT_ENCODER_SLACK;
    pt_encoder_begin(encoder, 26, psb_interval);
    return recording;
}

static void end(struct recording *recording)
{
    free(recording->bytes);
    free(recording);
}

static void step(struct recording *recording, struct pt_code_block *block)
{
    if (!pt_encoder_step_fast(&recording->encoder, block))
        pt_encoder_step_slow(&recording->encoder, block);
}

/* `count` instructions of four bytes. */
static struct pt_code_block *block(uint64_t pc, unsigned count, enum pt_code_block_kind kind,
                                   uint64_t target)
{
    struct pt_code_block *made = calloc(1, sizeof *made + count);
    made->pc = pc;
    made->end = pc + 4 * count;
    made->kind = kind;
    made->target = target;
    made->instructions = (uint16_t)count;
    memset(made->length, 4, count);
    pt_code_block_describe(made);
    return made;
}

/* --- What was written, as libipt's packet decoder sees it --- */

struct written {
    size_t count;
    struct pt_packet packets[4096];
};

static struct written *read_back(const struct recording *recording, uint64_t from)
{
    struct written *written = calloc(1, sizeof *written);
    uint8_t tail[PT_DRAIN_SIZE];
    uint64_t head = atomic_load(&recording->encoder.head);
    size_t drained = pt_encoder_drain(&recording->encoder, tail);
    memcpy(recording->bytes + head, tail, drained);
    struct pt_config config;
    pt_config_init(&config);
    config.begin = recording->bytes;
    config.end = recording->bytes + head + drained;
    struct pt_packet_decoder *decoder = pt_pkt_alloc_decoder(&config);
    assert_int_equal(pt_pkt_sync_set(decoder, from), 0);
    int status = 0;
    while (written->count < 4096) {
        struct pt_packet *packet = &written->packets[written->count];
        status = pt_pkt_next(decoder, packet, sizeof *packet);
        if (status < 0)
            break;
        written->count++;
    }
    assert_int_equal(status, -pte_eos);
    pt_pkt_free_decoder(decoder);
    return written;
}

static void expect_types(const struct recording *recording, uint64_t from,
                         const enum pt_packet_type *types, size_t count)
{
    struct written *written = read_back(recording, from);
    assert_int_equal(written->count, count);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(written->packets[i].type, types[i]);
    free(written);
}

#define EXPECT_TYPES(recording, from, ...)                                                         \
    expect_types(recording, from, (const enum pt_packet_type[]){__VA_ARGS__},                      \
                 sizeof((const enum pt_packet_type[]){__VA_ARGS__}) / sizeof(enum pt_packet_type))

/* --- Tests --- */

static void tracing_begins_with_psb_and_pge(void **state)
{
    struct recording *recording = begin(4096);
    struct pt_code_block *first = block(0x401000, 3, PT_BLOCK_SEQUENTIAL, 0);
    step(recording, first);
    EXPECT_TYPES(recording, 0, ppt_psb, ppt_tsc, ppt_cbr, ppt_mode, ppt_psbend, ppt_tip_pge);
    assert_int_equal(pt_encoder_instructions(&recording->encoder), 3);
    free(first);
    end(recording);
}

static void system_calls_turn_tracing_off_and_on(void **state)
{
    struct recording *recording = begin(4096);
    struct pt_code_block *call = block(0x401000, 2, PT_BLOCK_FAR, 0);
    struct pt_code_block *after = block(0x401008, 1, PT_BLOCK_SEQUENTIAL, 0);
    step(recording, call);
    uint64_t from = atomic_load(&recording->encoder.head);
    pt_encoder_disable(&recording->encoder);
    step(recording, after);
    EXPECT_TYPES(recording, from, ppt_cyc, ppt_tip_pgd, ppt_cyc, ppt_tip_pge);
    free(call);
    free(after);
    end(recording);
}

static void coarse_time_is_reported_by_tsc_where_tracing_begins(void **state)
{
    struct recording *recording = begin(4096);
    struct pt_code_block *jump = block(0x401000, 2, PT_BLOCK_INDIRECT_JUMP, 0);
    struct pt_code_block *call = block(0x402000, 2, PT_BLOCK_FAR, 0);
    struct pt_code_block *after = block(0x402008, 1, PT_BLOCK_SEQUENTIAL, 0);
    recording->encoder.coarse_time = 1;
    step(recording, jump);
    uint64_t from = atomic_load(&recording->encoder.head);
    step(recording, call);
    pt_encoder_disable(&recording->encoder);
    step(recording, after);
    EXPECT_TYPES(recording, from, ppt_tip, ppt_tip_pgd, ppt_tsc, ppt_tip_pge);
    free(jump);
    free(call);
    free(after);
    end(recording);
}

static void coarse_time_is_reported_once_after_a_psb(void **state)
{
    struct recording *recording = begin(4096);
    struct pt_code_block *jump = block(0x401000, 2, PT_BLOCK_INDIRECT_JUMP, 0);
    recording->encoder.coarse_time = 1;
    step(recording, jump);
    uint64_t from = atomic_load(&recording->encoder.head);
    recording->encoder.next_psb = 0;
    step(recording, jump);
    struct written *written = read_back(recording, from);
    assert_int_equal(written->count, 7);
    assert_int_equal(written->packets[0].type, ppt_tip);
    assert_int_equal(written->packets[1].type, ppt_psb);
    assert_int_equal(written->packets[2].type, ppt_tsc);
    assert_true(written->packets[2].payload.tsc.tsc > 1001);
    free(written);
    free(jump);
    end(recording);
}

static void time_that_goes_back_stands_still(void **state)
{
    struct recording *recording = begin(4096);
    struct pt_code_block *jump = block(0x401000, 2, PT_BLOCK_INDIRECT_JUMP, 0);
    step(recording, jump);
    uint64_t from = atomic_load(&recording->encoder.head);
    recording->ticks -= 500;
    step(recording, jump);
    recording->ticks += 600;
    step(recording, jump);
    struct written *written = read_back(recording, 0);
    uint64_t first = written->packets[1].payload.tsc.tsc;
    free(written);
    EXPECT_TYPES(recording, from, ppt_cyc, ppt_tip, ppt_cyc, ppt_tip);
    written = read_back(recording, from);
    assert_int_equal(written->packets[0].payload.cyc.value, 0);
    assert_int_equal(written->packets[2].payload.cyc.value, recording->ticks - first);
    free(written);
    free(jump);
    end(recording);
}

/* Decoders may begin at each PSB: one that saw the jump alone would not know that it leaves frames. */
static void a_psb_does_not_part_a_load_of_the_stack_pointer_from_its_jump(void **state)
{
    struct recording *recording = begin(4096);
    struct pt_code_block *load = block(0x401000, 2, PT_BLOCK_SEQUENTIAL, 0);
    struct pt_code_block *jump = block(load->end, 2, PT_BLOCK_INDIRECT_JUMP, 0);
    load->fall = load->end;
    load->loads_stack = 1;
    pt_code_block_describe(load);
    step(recording, load);
    uint64_t from = atomic_load(&recording->encoder.head);
    recording->encoder.next_psb = 0;
    step(recording, jump);
    assert_int_equal(atomic_load(&recording->encoder.head), from);
    step(recording, load);
    struct written *written = read_back(recording, from);
    assert_int_equal(written->packets[0].type, ppt_cyc);
    assert_int_equal(written->packets[1].type, ppt_tip);
    assert_int_equal(written->packets[3].type, ppt_psb);
    free(written);
    free(jump);
    free(load);
    end(recording);
}

static void a_moment_is_reported_in_coarse_time_too(void **state)
{
    struct recording *recording = begin(4096);
    struct pt_code_block *branch = block(0x401000, 2, PT_BLOCK_CONDITIONAL, 0x402000);
    struct pt_code_block *next = block(0x402000, 2, PT_BLOCK_INDIRECT_JUMP, 0);
    recording->encoder.coarse_time = 1;
    step(recording, branch);
    uint64_t from = atomic_load(&recording->encoder.head);
    step(recording, next);
    pt_encoder_emit(&recording->encoder);
    EXPECT_TYPES(recording, from, ppt_tsc, ppt_tnt_8);
    from = atomic_load(&recording->encoder.head);
    pt_encoder_arrive_at_new_code(&recording->encoder, branch);
    step(recording, branch);
    EXPECT_TYPES(recording, from, ppt_tsc, ppt_tip);
    free(branch);
    free(next);
    end(recording);
}

static void periods_are_reported_when_they_have_passed(void **state)
{
    enum { PERIOD = PT_CRYSTAL_TICKS << PT_MTC_FREQUENCY };
    struct recording *recording = begin(4096);
    struct pt_code_block *jump = block(0x401000, 2, PT_BLOCK_INDIRECT_JUMP, 0);
    recording->encoder.coarse_time = recording->encoder.periods = 1;
    recording->ticks = 5 * PERIOD + 130;
    step(recording, jump);
    EXPECT_TYPES(recording, 0, ppt_psb, ppt_tsc, ppt_tma, ppt_cbr, ppt_mode, ppt_psbend,
                 ppt_tip_pge);
    uint64_t from = atomic_load(&recording->encoder.head);
    step(recording, jump);
    recording->ticks = 8 * PERIOD;
    step(recording, jump);
    step(recording, jump);
    recording->ticks = 500 * PERIOD;
    step(recording, jump);
    struct written *written = read_back(recording, from);
    static const enum pt_packet_type types[] = {ppt_tip, ppt_mtc, ppt_tip, ppt_tip,
                                                ppt_tsc, ppt_tma, ppt_tip};
    assert_int_equal(written->count, 7);
    for (size_t i = 0; i < 7; i++)
        assert_int_equal(written->packets[i].type, types[i]);
    assert_int_equal(written->packets[1].payload.mtc.ctc, 8);
    assert_int_equal(written->packets[5].payload.tma.ctc,
                     500 * PERIOD / PT_CRYSTAL_TICKS % (1 << 16));
    assert_int_equal(written->packets[5].payload.tma.fc, 1);
    free(written);
    free(jump);
    end(recording);
}

static void an_uncompressed_return_is_a_tip(void **state)
{
    struct recording *recording = begin(4096);
    struct pt_code_block *caller = block(0x401000, 1, PT_BLOCK_CALL, 0x402000);
    struct pt_code_block *callee = block(0x402000, 1, PT_BLOCK_REPORTED_RETURN, 0);
    struct pt_code_block *rest = block(0x401004, 1, PT_BLOCK_JUMP, 0x401000);
    for (int i = 0; i < 3; i++) {
        step(recording, caller);
        step(recording, callee);
        uint64_t from = atomic_load(&recording->encoder.head);
        step(recording, rest);
        EXPECT_TYPES(recording, from, ppt_cyc, ppt_tip);
    }
    free(caller);
    free(callee);
    free(rest);
    end(recording);
}

static void a_return_to_the_caller_is_one_bit_and_another_is_a_tip(void **state)
{
    struct recording *recording = begin(4096);
    struct pt_code_block *call = block(0x401000, 1, PT_BLOCK_CALL, 0x402000);
    struct pt_code_block *callee = block(0x402000, 1, PT_BLOCK_RETURN, 0);
    struct pt_code_block *after = block(0x401004, 1, PT_BLOCK_JUMP, 0x401000);
    struct pt_code_block *elsewhere = block(0x403000, 1, PT_BLOCK_SEQUENTIAL, 0);
    step(recording, call);
    uint64_t from = atomic_load(&recording->encoder.head);
    step(recording, callee);
    step(recording, after);
    assert_int_equal(recording->encoder.tnt, 3);
    step(recording, call);
    step(recording, callee);
    step(recording, elsewhere);
    EXPECT_TYPES(recording, from, ppt_cyc, ppt_tnt_8, ppt_tip);
    assert_int_equal(recording->encoder.depth, recording->encoder.floor);
    free(call);
    free(callee);
    free(after);
    free(elsewhere);
    end(recording);
}

static void a_call_to_the_next_instruction_is_not_pushed(void **state)
{
    struct recording *recording = begin(4096);
    struct pt_code_block *call = block(0x401000, 1, PT_BLOCK_CALL, 0x401004);
    struct pt_code_block *next = block(0x401004, 1, PT_BLOCK_SEQUENTIAL, 0);
    step(recording, call);
    step(recording, next);
    assert_int_equal(recording->encoder.depth, 0);
    free(call);
    free(next);
    end(recording);
}

static void only_the_newest_64_calls_are_compressed(void **state)
{
    enum { DEPTH = 100 };
    struct recording *recording = begin(1 << 16);
    struct pt_code_block *calls[DEPTH], *returns[DEPTH];
    for (unsigned i = 0; i < DEPTH; i++) {
        calls[i] = block(0x401000 + 0x100 * i, 1, PT_BLOCK_CALL, 0x401000 + 0x100 * (i + 1));
        returns[i] = block(0x401004 + 0x100 * i, 1, PT_BLOCK_RETURN, 0);
        step(recording, calls[i]);
    }
    struct pt_code_block *leaf = block(0x401000 + 0x100 * DEPTH, 1, PT_BLOCK_RETURN, 0);
    step(recording, leaf);
    for (unsigned i = DEPTH; i > 0; i--)
        step(recording, returns[i - 1]);
    struct written *written = read_back(recording, 0);
    size_t bits = 0, tips = 0;
    for (size_t i = 0; i < written->count; i++) {
        if (written->packets[i].type == ppt_tnt_8 || written->packets[i].type == ppt_tnt_64)
            bits += written->packets[i].payload.tnt.bit_size;
        tips += written->packets[i].type == ppt_tip;
    }
    assert_int_equal(bits, PT_RETURN_STACK);
    assert_int_equal(tips, DEPTH - PT_RETURN_STACK);
    free(written);
    for (unsigned i = 0; i < DEPTH; i++) {
        free(calls[i]);
        free(returns[i]);
    }
    free(leaf);
    end(recording);
}

static void a_rep_instruction_counts_once(void **state)
{
    struct recording *recording = begin(4096);
    struct pt_code_block *into = block(0x401000, 3, PT_BLOCK_REPEAT, 0);
    struct pt_code_block *iteration = block(0x401008, 1, PT_BLOCK_REPEAT, 0);
    struct pt_code_block *after = block(0x40100c, 2, PT_BLOCK_SEQUENTIAL, 0);
    step(recording, into);
    uint64_t from = atomic_load(&recording->encoder.head);
    for (int i = 0; i < 10; i++)
        step(recording, iteration);
    step(recording, after);
    assert_int_equal(pt_encoder_instructions(&recording->encoder), 5);
    assert_int_equal(atomic_load(&recording->encoder.head), from);
    free(into);
    free(iteration);
    free(after);
    end(recording);
}

enum { COST_PERIOD = 1 << (64 - PT_WORK_COST_SHIFT) };

static void cost_adds_up_and_leaves_the_instructions_alone(void **state)
{
    struct recording *recording = begin(4096);
    struct pt_code_block *into = block(0x401000, 3, PT_BLOCK_REPEAT, 0);
    struct pt_code_block *iteration = block(0x401008, 1, PT_BLOCK_REPEAT, 0);
    struct pt_code_block *after = block(0x40100c, 2, PT_BLOCK_CONDITIONAL, 0x40100c);
    into->cost = 5;
    iteration->cost = 1 << 20;
    after->cost = 7;
    pt_code_block_describe(into);
    pt_code_block_describe(iteration);
    pt_code_block_describe(after);
    step(recording, into);
    assert_int_equal(pt_encoder_cost(&recording->encoder), 5);
    for (int i = 0; i < 10; i++)
        step(recording, iteration);
    assert_int_equal(pt_encoder_cost(&recording->encoder), 5 + (10 << 20));
    for (int i = 0; i < 90; i++)
        step(recording, iteration);
    assert_int_equal(pt_encoder_cost(&recording->encoder) % COST_PERIOD,
                     (5 + (100 << 20)) % COST_PERIOD);
    assert_int_equal(pt_encoder_instructions(&recording->encoder), 2);
    for (int i = 0; i < 2 * PT_TNT_BITS; i++)
        step(recording, after);
    assert_int_equal(pt_encoder_cost(&recording->encoder) % COST_PERIOD,
                     (5 + (100 << 20) + 2 * PT_TNT_BITS * 7) % COST_PERIOD);
    assert_int_equal(pt_encoder_instructions(&recording->encoder), 3 + 2 * 2 * PT_TNT_BITS);
    free(into);
    free(iteration);
    free(after);
    end(recording);
}

static void a_block_left_in_its_middle_counts_what_ran(void **state)
{
    struct recording *recording = begin(4096);
    struct pt_code_block *whole = block(0x401000, 5, PT_BLOCK_RETURN, 0);
    struct pt_code_block *alone = block(0x401008, 1, PT_BLOCK_SEQUENTIAL, 0);
    whole->restartable = 1;
    pt_code_block_describe(whole);
    step(recording, whole);
    uint64_t from = atomic_load(&recording->encoder.head);
    step(recording, alone);
    assert_int_equal(pt_encoder_instructions(&recording->encoder), 3);
    assert_int_equal(atomic_load(&recording->encoder.head), from);
    free(whole);
    free(alone);
    end(recording);
}

static void a_fault_reports_the_instruction_and_uncounts_the_rest(void **state)
{
    struct recording *recording = begin(4096);
    struct pt_code_block *faulting = block(0x401000, 5, PT_BLOCK_CONDITIONAL, 0x401000);
    step(recording, faulting);
    uint64_t from = atomic_load(&recording->encoder.head);
    pt_encoder_interrupt(&recording->encoder, 0x401008, true);
    EXPECT_TYPES(recording, from, ppt_cyc, ppt_fup, ppt_tip_pgd);
    assert_int_equal(pt_encoder_instructions(&recording->encoder), 2);
    free(faulting);
    end(recording);
}

static void an_asynchronous_signal_takes_the_branch_first(void **state)
{
    struct recording *recording = begin(4096);
    struct pt_code_block *loop = block(0x401000, 5, PT_BLOCK_CONDITIONAL, 0x401000);
    step(recording, loop);
    uint64_t from = atomic_load(&recording->encoder.head);
    pt_encoder_interrupt(&recording->encoder, 0x401000, false);
    EXPECT_TYPES(recording, from, ppt_cyc, ppt_tnt_8, ppt_fup, ppt_tip_pgd);
    assert_int_equal(pt_encoder_instructions(&recording->encoder), 5);
    free(loop);
    end(recording);
}

static void a_signal_interrupts_what_a_sigreturn_leads_to(void **state)
{
    struct recording *recording = begin(4096);
    struct pt_code_block *sigreturn = block(0x401000, 2, PT_BLOCK_FAR, 0);
    struct pt_code_block *handler = block(0x402000, 1, PT_BLOCK_INDIRECT_JUMP, 0);
    step(recording, sigreturn);
    pt_encoder_disable(&recording->encoder);
    pt_encoder_note_sigreturn(&recording->encoder);
    uint64_t from = atomic_load(&recording->encoder.head);
    pt_encoder_interrupt(&recording->encoder, 0x403000, false);
    step(recording, handler);
    EXPECT_TYPES(recording, from, ppt_cyc, ppt_tip_pge, ppt_cyc, ppt_fup, ppt_tip_pgd, ppt_cyc,
                 ppt_tip_pge);
    assert_int_equal(pt_encoder_instructions(&recording->encoder), 3);
    atomic_store(&recording->stop, 1);
    pt_encoder_disable(&recording->encoder);
    pt_encoder_note_sigreturn(&recording->encoder);
    from = atomic_load(&recording->encoder.head);
    pt_encoder_interrupt(&recording->encoder, 0x403000, false);
    assert_int_equal(atomic_load(&recording->encoder.head), from);
    free(sigreturn);
    free(handler);
    end(recording);
}

static void new_code_is_entered_at_a_packet_of_its_own(void **state)
{
    struct recording *recording = begin(4096);
    struct pt_code_block *jump = block(0x401000, 2, PT_BLOCK_JUMP, 0x402000);
    struct pt_code_block *branch = block(0x402000, 3, PT_BLOCK_CONDITIONAL, 0x403000);
    struct pt_code_block *taken = block(0x403000, 1, PT_BLOCK_CONDITIONAL, 0x404000);
    struct pt_code_block *next = block(taken->fall, 1, PT_BLOCK_SEQUENTIAL, 0);
    step(recording, jump);
    uint64_t from = atomic_load(&recording->encoder.head);
    pt_encoder_arrive_at_new_code(&recording->encoder, branch);
    EXPECT_TYPES(recording, from, ppt_cyc, ppt_fup, ppt_tip_pgd);
    step(recording, branch);
    from = atomic_load(&recording->encoder.head);
    pt_encoder_arrive_at_new_code(&recording->encoder, taken); /* the branch has a bit of its own */
    assert_int_equal(atomic_load(&recording->encoder.head), from);
    step(recording, taken);
    pt_encoder_emit(&recording->encoder);
    EXPECT_TYPES(recording, from, ppt_cyc, ppt_tnt_8);
    from = atomic_load(&recording->encoder.head);
    pt_encoder_arrive_at_new_code(&recording->encoder, next); /* perf does not stop at its bit */
    EXPECT_TYPES(recording, from, ppt_cyc, ppt_tnt_8, ppt_fup, ppt_tip_pgd);
    step(recording, next);
    assert_int_equal(pt_encoder_instructions(&recording->encoder), 7);
    free(jump);
    free(branch);
    free(taken);
    free(next);
    end(recording);
}

/* A step into `block`, which writes the time of its arrival. */
static void arrive(struct recording *recording, struct pt_code_block *block)
{
    struct pt_encoder_progress before = pt_encoder_progress(&recording->encoder);
    step(recording, block);
    pt_encoder_emit_arrival(&recording->encoder, block->pc, before);
}

static void an_arrival_is_reported_at_its_branch_or_else_at_its_address(void **state)
{
    struct recording *recording = begin(4096);
    struct pt_code_block *branch = block(0x401000, 2, PT_BLOCK_CONDITIONAL, 0x402000);
    struct pt_code_block *call = block(0x402000, 1, PT_BLOCK_CALL, 0x403000);
    struct pt_code_block *callee = block(0x403000, 1, PT_BLOCK_INDIRECT_JUMP, 0);
    step(recording, branch);
    uint64_t from = atomic_load(&recording->encoder.head);
    arrive(recording, call);
    EXPECT_TYPES(recording, from, ppt_cyc, ppt_tnt_8);
    from = atomic_load(&recording->encoder.head);
    arrive(recording, callee);
    EXPECT_TYPES(recording, from, ppt_cyc, ppt_exstop, ppt_fup);
    struct written *written = read_back(recording, from);
    assert_int_equal(written->packets[2].payload.ip.ipc, pt_ipc_update_16);
    assert_int_equal(written->packets[2].payload.ip.ip, 0x3000);
    free(written);
    from = atomic_load(&recording->encoder.head);
    arrive(recording, branch);
    EXPECT_TYPES(recording, from, ppt_cyc, ppt_tip);
    free(branch);
    free(call);
    free(callee);
    end(recording);
}

static void an_arrival_reports_what_was_gathered_before_it(void **state)
{
    struct recording *recording = begin(4096);
    struct pt_code_block *branch = block(0x401000, 2, PT_BLOCK_CONDITIONAL, 0x402000);
    struct pt_code_block *jump = block(0x402000, 1, PT_BLOCK_JUMP, 0x401000);
    step(recording, branch);
    uint64_t from = atomic_load(&recording->encoder.head);
    step(recording, jump);
    arrive(recording, branch);
    EXPECT_TYPES(recording, from, ppt_cyc, ppt_tnt_8, ppt_exstop, ppt_fup);
    free(branch);
    free(jump);
    end(recording);
}

static void an_arrival_at_a_psb_has_a_moment_of_its_own(void **state)
{
    struct recording *recording = begin(16);
    struct pt_code_block *jump = block(0x402000, 1, PT_BLOCK_JUMP, 0x402000);
    struct pt_code_block *far = block(0x403000, 1, PT_BLOCK_INDIRECT_JUMP, 0);
    step(recording, far);
    uint64_t from = atomic_load(&recording->encoder.head);
    arrive(recording, jump);
    EXPECT_TYPES(recording, from, ppt_cyc, ppt_tip, ppt_cyc, ppt_psb, ppt_tsc, ppt_cbr, ppt_mode,
                 ppt_fup, ppt_psbend, ppt_cyc, ppt_exstop, ppt_fup);
    free(jump);
    free(far);
    end(recording);
}

static void no_arrival_where_tracing_is_off_or_over(void **state)
{
    struct recording *recording = begin(4096);
    struct pt_code_block *outside = block(0xffffffffff600000, 1, PT_BLOCK_OUTSIDE, 0);
    struct pt_code_block *jump = block(0x402000, 1, PT_BLOCK_JUMP, 0x402000);
    step(recording, jump);
    step(recording, outside);
    uint64_t from = atomic_load(&recording->encoder.head);
    arrive(recording, outside);
    assert_int_equal(atomic_load(&recording->encoder.head), from);
    step(recording, jump);
    atomic_store(&recording->stop, 1);
    from = atomic_load(&recording->encoder.head);
    pt_encoder_emit_arrival(&recording->encoder, jump->pc,
                            pt_encoder_progress(&recording->encoder));
    assert_int_equal(atomic_load(&recording->encoder.head), from);
    free(outside);
    free(jump);
    end(recording);
}

static void the_stack_pointer_is_reported_at_an_instruction(void **state)
{
    struct recording *recording = begin(4096);
    struct pt_code_block *branch = block(0x401000, 4, PT_BLOCK_CONDITIONAL, 0x401000);
    step(recording, branch);
    step(recording, branch);
    uint64_t from = atomic_load(&recording->encoder.head);
    pt_encoder_emit_stack_pointer(&recording->encoder, 0x401004, 0x7ffff000);
    EXPECT_TYPES(recording, from, ppt_cyc, ppt_tnt_8, ppt_ptw, ppt_fup);
    struct written *written = read_back(recording, from);
    assert_int_equal(written->packets[2].payload.ptw.payload, 0x7ffff000);
    assert_int_equal(written->packets[3].payload.ip.ip & 0xffff, 0x1004);
    free(written);
    free(branch);
    end(recording);
}

/* --- Calls in progress --- */

enum { CALLS = 64 };

struct caller {
    struct pt_call calls[CALLS];
    uint64_t stack_pointer;
};

static struct recording *begin_with_calls(struct caller *caller, uint32_t psb_interval)
{
    struct recording *recording = begin(psb_interval);
    *caller = (struct caller){.stack_pointer = 0x8000};
    recording->encoder.calls = (struct pt_calls){caller->calls, CALLS - 1, .all = true};
    pt_encoder_know_stack(&recording->encoder, &caller->stack_pointer);
    return recording;
}

static void expect_reported(const struct recording *recording, uint64_t from,
                            const uint64_t *reported, size_t count)
{
    struct written *written = read_back(recording, from);
    size_t found = 0;
    for (size_t i = 0; i < written->count; i++) {
        if (written->packets[i].type != ppt_mnt)
            continue;
        assert_true(found < count);
        assert_int_equal(written->packets[i].payload.mnt.payload, reported[found++]);
    }
    assert_int_equal(found, count);
    free(written);
}

/* A call of `callee`, whose first block then runs. */
static void call_into(struct recording *recording, struct caller *caller,
                      struct pt_code_block *callee)
{
    caller->stack_pointer -= 0x10;
    step(recording, callee);
}

static void callers_are_reported_after_each_psb(void **state)
{
    struct caller caller;
    struct recording *recording = begin_with_calls(&caller, 1 << 20);
    struct pt_code_block *outer = block(0x401000, 1, PT_BLOCK_CALL, 0x402000);
    struct pt_code_block *inner = block(0x402000, 1, PT_BLOCK_INDIRECT_CALL, 0);
    struct pt_code_block *leaf = block(0x403000, 1, PT_BLOCK_RETURN, 0);
    struct pt_code_block *rest = block(0x402004, 1, PT_BLOCK_INDIRECT_JUMP, 0);
    step(recording, outer);
    expect_reported(recording, 0, (uint64_t[]){callchain_header(0, true)}, 1);
    uint64_t from = atomic_load(&recording->encoder.head);
    call_into(recording, &caller, inner);
    recording->encoder.next_psb = 0;
    call_into(recording, &caller, leaf);
    expect_reported(recording, from, (uint64_t[]){callchain_header(2, true), 0x402004, 0x401004},
                    3);
    from = atomic_load(&recording->encoder.head);
    caller.stack_pointer += 0x10;
    recording->encoder.next_psb = 0;
    step(recording, rest);
    expect_reported(recording, from, (uint64_t[]){callchain_header(1, true), 0x401004}, 2);
    free(outer);
    free(inner);
    free(leaf);
    free(rest);
    end(recording);
}

static void another_stack_has_no_known_callers(void **state)
{
    struct caller caller;
    struct recording *recording = begin_with_calls(&caller, 1 << 20);
    struct pt_code_block *outer = block(0x401000, 1, PT_BLOCK_CALL, 0x402000);
    struct pt_code_block *inner = block(0x402000, 1, PT_BLOCK_INDIRECT_JUMP, 0);
    step(recording, outer);
    call_into(recording, &caller, inner);
    caller.stack_pointer = 0x1000;
    pt_encoder_stack_moved(&recording->encoder, 0x7ff0);
    uint64_t from = atomic_load(&recording->encoder.head);
    recording->encoder.next_psb = 0;
    step(recording, inner);
    expect_reported(recording, from, (uint64_t[]){callchain_header(0, false)}, 1);
    free(outer);
    free(inner);
    end(recording);
}

static void a_handler_has_interrupted_its_caller(void **state)
{
    struct caller caller;
    struct recording *recording = begin_with_calls(&caller, 1 << 20);
    struct pt_code_block *running = block(0x401000, 2, PT_BLOCK_JUMP, 0x401000);
    struct pt_code_block *handler = block(0x402000, 1, PT_BLOCK_INDIRECT_JUMP, 0);
    step(recording, running);
    pt_encoder_interrupt(&recording->encoder, 0x401000, false);
    pt_encoder_push_interrupted(&recording->encoder, 0x401000, caller.stack_pointer);
    caller.stack_pointer -= 0x400;
    recording->encoder.next_psb = 0;
    uint64_t from = atomic_load(&recording->encoder.head);
    step(recording, handler);
    expect_reported(recording, from,
                    (uint64_t[]){callchain_header(1, true), 0x401000 | CALLCHAIN_INTERRUPTED}, 2);
    from = atomic_load(&recording->encoder.head);
    pt_encoder_disable(&recording->encoder); /* sigreturn */
    caller.stack_pointer += 0x400;
    recording->encoder.next_psb = 0;
    step(recording, running);
    expect_reported(recording, from, (uint64_t[]){callchain_header(0, true)}, 1);
    free(running);
    free(handler);
    end(recording);
}

static void long_lists_of_callers_make_psbs_rarer(void **state)
{
    struct caller caller;
    struct recording *recording = begin_with_calls(&caller, 16);
    struct pt_code_block *calls[CALLS];
    for (uint64_t i = 0; i < CALLS; i++)
        calls[i] = block(0x401000 + 0x1000 * i, 1, PT_BLOCK_CALL, 0x402000 + 0x1000 * i);
    step(recording, calls[0]);
    recording->encoder.next_psb = UINT64_MAX;
    for (size_t i = 1; i + 1 < CALLS; i++)
        call_into(recording, &caller, calls[i]);
    recording->encoder.next_psb = 0;
    uint64_t from = atomic_load(&recording->encoder.head);
    call_into(recording, &caller, calls[CALLS - 1]);
    pt_encoder_flush(&recording->encoder, calls[CALLS - 1]->pc);
    uint64_t reported = atomic_load(&recording->encoder.head) - from;
    uint64_t list[CALLS] = {callchain_header(CALLS - 1, true)};
    for (size_t i = 1; i < CALLS; i++)
        list[i] = calls[CALLS - 1 - i]->end;
    expect_reported(recording, from, list, CALLS);
    assert_true(recording->encoder.next_psb - recording->encoder.last_psb >= 7 * reported);
    for (size_t i = 0; i < CALLS; i++)
        free(calls[i]);
    end(recording);
}

/* longjmp, say: the innermost call is over, the other is not. */
static void a_move_on_the_same_stack_ends_the_calls_it_unwinds(void **state)
{
    struct caller caller;
    struct recording *recording = begin_with_calls(&caller, 1 << 20);
    struct pt_code_block *outer = block(0x401000, 1, PT_BLOCK_CALL, 0x402000);
    struct pt_code_block *inner = block(0x402000, 1, PT_BLOCK_CALL, 0x403000);
    struct pt_code_block *leaf = block(0x403000, 1, PT_BLOCK_INDIRECT_JUMP, 0);
    step(recording, outer);
    call_into(recording, &caller, inner);
    call_into(recording, &caller, leaf);
    uint64_t from = caller.stack_pointer;
    caller.stack_pointer += 0x10;
    pt_encoder_stack_moved(&recording->encoder, from);
    uint64_t head = atomic_load(&recording->encoder.head);
    recording->encoder.next_psb = 0;
    step(recording, leaf);
    expect_reported(recording, head, (uint64_t[]){callchain_header(1, true), 0x401004}, 2);
    free(outer);
    free(inner);
    free(leaf);
    end(recording);
}

static void a_call_that_ended_unseen_is_not_reported(void **state)
{
    struct caller caller;
    struct recording *recording = begin_with_calls(&caller, 1 << 20);
    struct pt_code_block *outer = block(0x401000, 1, PT_BLOCK_CALL, 0x402000);
    struct pt_code_block *inner = block(0x402000, 1, PT_BLOCK_CALL, 0x403000);
    struct pt_code_block *next = block(0x403000, 1, PT_BLOCK_CALL, 0x404000);
    struct pt_code_block *leaf = block(0x404000, 1, PT_BLOCK_INDIRECT_JUMP, 0);
    step(recording, outer);
    call_into(recording, &caller, inner);
    call_into(recording, &caller, next);
    caller.stack_pointer += 0x18;
    recording->encoder.next_psb = 0;
    uint64_t from = atomic_load(&recording->encoder.head);
    call_into(recording, &caller, leaf);
    expect_reported(recording, from, (uint64_t[]){callchain_header(2, true), 0x403004, 0x401004},
                    3);
    free(outer);
    free(inner);
    free(next);
    free(leaf);
    end(recording);
}

static void calls_are_reported_only_where_their_places_in_the_stack_are_known(void **state)
{
    struct caller caller = {.stack_pointer = 0x8000};
    struct pt_code_block *first = block(0x401000, 1, PT_BLOCK_SEQUENTIAL, 0);
    struct recording *recording = begin(4096);
    recording->encoder.calls = (struct pt_calls){caller.calls, CALLS - 1, .all = true};
    step(recording, first);
    expect_reported(recording, 0, NULL, 0);
    end(recording);
    recording = begin(4096);
    pt_encoder_know_stack(&recording->encoder, &caller.stack_pointer);
    step(recording, first);
    expect_reported(recording, 0, NULL, 0);
    end(recording);
    free(first);
}

static void without_room_the_list_of_callers_ends_within_the_slack(void **state)
{
    struct caller caller;
    struct recording *recording = begin_with_calls(&caller, 1 << 20);
    struct pt_code_block *calls[CALLS];
    for (uint64_t i = 0; i < CALLS; i++) {
        calls[i] = block(0x401000 + 0x1000 * i, 1, PT_BLOCK_CALL, 0x402000 + 0x1000 * i);
        if (i > 0 && i + 1 < CALLS)
            call_into(recording, &caller, calls[i]);
        else if (i == 0)
            step(recording, calls[i]);
    }
    uint64_t from = atomic_load(&recording->encoder.head);
    recording->encoder.next_psb = 0;
    recording->encoder.limit = from + 8;
    call_into(recording, &caller, calls[CALLS - 1]);
    assert_in_range(atomic_load(&recording->encoder.head), from, from + 8 + PT_ENCODER_SLACK);
    for (size_t i = 0; i < CALLS; i++)
        free(calls[i]);
    end(recording);
}

static void a_fault_at_address_zero_ends_tracing_at_the_branch(void **state)
{
    struct recording *recording = begin(4096);
    struct pt_code_block *call = block(0x401000, 2, PT_BLOCK_INDIRECT_CALL, 0);
    step(recording, call);
    uint64_t from = atomic_load(&recording->encoder.head);
    pt_encoder_interrupt(&recording->encoder, 0, true);
    EXPECT_TYPES(recording, from, ppt_cyc, ppt_tip_pgd);
    assert_int_equal(pt_encoder_instructions(&recording->encoder), 2);
    free(call);
    end(recording);
}

static void a_block_from_nowhere_is_an_overflow(void **state)
{
    struct recording *recording = begin(4096);
    struct pt_code_block *first = block(0x401000, 1, PT_BLOCK_JUMP, 0x402000);
    struct pt_code_block *other = block(0x403000, 1, PT_BLOCK_SEQUENTIAL, 0);
    step(recording, first);
    uint64_t from = atomic_load(&recording->encoder.head);
    step(recording, other);
    EXPECT_TYPES(recording, from, ppt_cyc, ppt_ovf, ppt_fup);
    assert_int_equal(recording->encoder.losses, 1);
    free(first);
    free(other);
    end(recording);
}

static void stopping_ends_the_stream_before_the_next_block(void **state)
{
    struct recording *recording = begin(4096);
    struct pt_code_block *jump = block(0x401000, 2, PT_BLOCK_INDIRECT_JUMP, 0);
    step(recording, jump);
    uint64_t from = atomic_load(&recording->encoder.head);
    atomic_store(&recording->stop, 1);
    step(recording, jump);
    EXPECT_TYPES(recording, from, ppt_cyc, ppt_tip, ppt_cyc, ppt_fup, ppt_tip_pgd);
    assert_int_equal(pt_encoder_instructions(&recording->encoder), 2);
    uint64_t head = atomic_load(&recording->encoder.head);
    step(recording, jump);
    assert_int_equal(atomic_load(&recording->encoder.head), head);
    free(jump);
    end(recording);
}

static void without_room_the_stream_ends_within_the_slack(void **state)
{
    struct recording *recording = begin(4096);
    struct pt_code_block *jump = block(0x401000, 2, PT_BLOCK_INDIRECT_JUMP, 0);
    recording->encoder.limit = 1000;
    for (int i = 0; i < 1000; i++)
        step(recording, jump);
    assert_true(recording->encoder.stopped);
    assert_in_range(atomic_load(&recording->encoder.head), 1000, 1000 + PT_ENCODER_SLACK);
    free(read_back(recording, 0));
    free(jump);
    end(recording);
}

static void draining_a_damaged_state_gives_nothing(void **state)
{
    uint8_t out[PT_DRAIN_SIZE];
    struct pt_encoder encoder = {.tnt = 0};
    assert_int_equal(pt_encoder_drain(&encoder, out), 0);
    encoder.tnt = 1;
    assert_int_equal(pt_encoder_drain(&encoder, out), 0);
    encoder.tnt = UINT64_MAX;
    assert_int_equal(pt_encoder_drain(&encoder, out), 0);
    encoder.tnt = 2;
    assert_int_equal(pt_encoder_drain(&encoder, out), 1);
}

static void an_edge_is_new_once(void **state)
{
    struct recording *recording = begin(4096);
    struct pt_code_block *loop = block(0x401000, 2, PT_BLOCK_CONDITIONAL, 0x401000);
    step(recording, loop);
    assert_true(pt_encoder_edge_is_new(&recording->encoder, 0x401000));
    step(recording, loop);
    assert_false(pt_encoder_edge_is_new(&recording->encoder, 0x401000));
    assert_true(pt_encoder_edge_is_new(&recording->encoder, 0x401008));
    step(recording, loop);
    assert_int_equal(recording->encoder.tnt, 7);
    free(loop);
    end(recording);
}

/* --- Round trip: a random program, walked at random, is decoded from its packets alone --- */

enum { BLOCKS = 64, WALK = 20000 };

struct program {
    struct pt_code_block *blocks[BLOCKS]; /* back to back in memory */
};

static struct pt_code_block *block_at(const struct program *program, uint64_t pc)
{
    for (unsigned i = 0; i < BLOCKS; i++)
        if (program->blocks[i]->pc == pc)
            return program->blocks[i];
    return NULL;
}

static void make_program(struct program *program)
{
    static const enum pt_code_block_kind kinds[] = {
        PT_BLOCK_SEQUENTIAL,    PT_BLOCK_CONDITIONAL,   PT_BLOCK_CONDITIONAL,
        PT_BLOCK_CONDITIONAL,   PT_BLOCK_JUMP,          PT_BLOCK_CALL,
        PT_BLOCK_INDIRECT_JUMP, PT_BLOCK_INDIRECT_CALL, PT_BLOCK_RETURN,
    };
    uint64_t pc[BLOCKS + 1] = {0x401000};
    for (unsigned i = 0; i < BLOCKS; i++)
        pc[i + 1] = pc[i] + 4 * (1 + i % 7);
    for (unsigned i = 0; i < BLOCKS; i++) {
        /* The last one must not fall through. */
        enum pt_code_block_kind kind =
            i + 1 == BLOCKS ? PT_BLOCK_JUMP : kinds[(unsigned)rand() % 9];
        program->blocks[i] = block(pc[i], 1 + i % 7, kind, pc[(unsigned)rand() % BLOCKS]);
    }
}

static struct pt_code_block *choose_next(const struct program *program,
                                         const struct pt_code_block *now, uint64_t *stack,
                                         unsigned *depth)
{
    uint64_t pc = program->blocks[(unsigned)rand() % BLOCKS]->pc;
    bool calls = now->kind == PT_BLOCK_CALL || now->kind == PT_BLOCK_INDIRECT_CALL;
    if (calls && *depth < 1000)
        stack[(*depth)++] = now->end;
    if (now->kind == PT_BLOCK_RETURN && *depth > 0)
        pc = stack[--*depth];
    else if (now->kind == PT_BLOCK_JUMP || now->kind == PT_BLOCK_CALL)
        pc = now->target;
    else if (now->kind == PT_BLOCK_CONDITIONAL && rand() % 2)
        pc = now->target;
    else if (now->kind == PT_BLOCK_CONDITIONAL || now->kind == PT_BLOCK_SEQUENTIAL)
        pc = now->end;
    struct pt_code_block *next = block_at(program, pc);
    return next ? next : program->blocks[0]; /* after the last block: as if control came from
                                              * elsewhere */
}

/* libipt's query decoder gives TNT bits and TIP addresses; the program's blocks say where they are
 * needed. */
static void follow(const struct program *program, const struct recording *recording,
                   const uint64_t *walk, size_t length)
{
    struct pt_config config;
    pt_config_init(&config);
    config.begin = recording->bytes;
    config.end = recording->bytes + atomic_load(&recording->encoder.head);
    struct pt_query_decoder *decoder = pt_qry_alloc_decoder(&config);
    uint64_t ip = 0, returns[64 * 1024];
    unsigned depth = 0;
    int status = pt_qry_sync_forward(decoder, &ip);
    assert_true(status >= 0);
    struct pt_event event;
    do /* clock, bus ratio and mode are events, too */
        status = pt_qry_event(decoder, &event, sizeof event);
    while (status >= 0 && event.type != ptev_enabled);
    assert_int_equal(event.type, ptev_enabled);
    ip = event.variant.enabled.ip;
    for (size_t i = 0; i + 1 < length; i++) {
        assert_int_equal(ip, walk[i]);
        const struct pt_code_block *now = block_at(program, ip);
        int taken;
        while (status >= 0 && (status & pts_event_pending))
            status = pt_qry_event(decoder, &event, sizeof event);
        if (now->push || (now->kind == PT_BLOCK_INDIRECT_CALL))
            returns[depth++] = now->end;
        switch ((enum pt_code_block_kind)now->kind) {
        case PT_BLOCK_CONDITIONAL:
            status = pt_qry_cond_branch(decoder, &taken);
            ip = taken ? now->target : now->end;
            break;
        case PT_BLOCK_RETURN:
            status = pt_qry_cond_branch(decoder, &taken);
            if (status == -pte_bad_query)
                status = pt_qry_indirect_branch(decoder, &ip);
            else
                ip = returns[--depth];
            break;
        case PT_BLOCK_INDIRECT_JUMP:
        case PT_BLOCK_INDIRECT_CALL:
            status = pt_qry_indirect_branch(decoder, &ip);
            break;
        case PT_BLOCK_SEQUENTIAL:
            ip = now->end;
            break;
        default:
            ip = now->target;
            break;
        }
        assert_true(status >= 0);
    }
    pt_qry_free_decoder(decoder);
}

static void a_random_walk_is_followed_from_its_packets(void **state)
{
    static uint64_t walk[WALK], stack[1000];
    for (unsigned seed = 1; seed <= 20; seed++) {
        srand(seed);
        struct program program;
        make_program(&program);
        struct recording *recording = begin(seed % 2 ? 4096 : 512);
        struct pt_code_block *now = program.blocks[0];
        unsigned depth = 0;
        uint64_t instructions = 0;
        for (size_t i = 0; i < WALK; i++) {
            walk[i] = now->pc;
            instructions += now->instructions;
            step(recording, now);
            now = choose_next(&program, now, stack, &depth);
        }
        assert_int_equal(pt_encoder_instructions(&recording->encoder), instructions);
        assert_int_equal(recording->encoder.losses, 0);
        pt_encoder_flush(&recording->encoder, now->pc);
        follow(&program, recording, walk, WALK);
        for (unsigned i = 0; i < BLOCKS; i++)
            free(program.blocks[i]);
        end(recording);
    }
}

/* A loop: a conditional jump, a call to a function of two blocks, the return, and a jump back. */
enum { LOOP_BLOCKS = 5 };

static void make_loop(struct pt_code_block *loop[LOOP_BLOCKS])
{
    loop[0] = block(0x401000, 2, PT_BLOCK_CONDITIONAL, 0x402000);
    loop[1] = block(0x401008, 1, PT_BLOCK_CALL, 0x403000);
    loop[2] = block(0x403000, 3, PT_BLOCK_SEQUENTIAL, 0);
    loop[3] = block(0x40300c, 1, PT_BLOCK_RETURN, 0);
    loop[4] = block(0x40100c, 1, PT_BLOCK_JUMP, 0x401000);
}

static void ignore_return(void *context, uint64_t pc)
{
}

/* A run and what it needs. */
struct made_run {
    struct pt_block_run run;
    struct pt_run_parts parts;
    uint64_t bytes[PT_RUN_SIZE / sizeof(uint64_t)];
};

static struct pt_block_run *make_run(struct made_run *made, struct pt_code_block *const *blocks,
                                     size_t count)
{
    made->parts.part = (void *)made->bytes;
    pt_block_run_make(&made->run, &made->parts, blocks, count);
    return &made->run;
}

static bool take_run(struct recording *recording, const struct pt_block_run *run)
{
    const struct pt_run_stack stack = {&recording->stack_pointer, ignore_return, NULL};
    return pt_block_runs_take(&recording->encoder, &run, 1, &stack) == 1;
}

static void run_after_step(struct recording *recording, struct pt_code_block *const *blocks,
                           const struct pt_block_run *run, size_t count)
{
    step(recording, blocks[0]);
    if (count > 1 && take_run(recording, run))
        return;
    for (size_t i = 1; i < count; i++)
        step(recording, blocks[i]);
}

static void expect_the_same(const struct recording *a, const struct recording *b)
{
    uint64_t head = atomic_load(&a->encoder.head);
    assert_int_equal(atomic_load(&b->encoder.head), head);
    assert_memory_equal(a->bytes, b->bytes, head);
    assert_int_equal(a->encoder.tnt, b->encoder.tnt);
    assert_int_equal(a->encoder.depth, b->encoder.depth);
    assert_int_equal(pt_encoder_instructions(&a->encoder), pt_encoder_instructions(&b->encoder));
}

static void a_run_writes_what_its_steps_write(void **state)
{
    enum { ROUNDS = 300 };
    struct pt_code_block *loop[LOOP_BLOCKS];
    make_loop(loop);
    for (size_t count = 2; count <= LOOP_BLOCKS; count++) {
        struct recording *stepped = begin(1 << 16), *ran = begin(1 << 16);
        struct made_run made;
        make_run(&made, loop, count);
        for (unsigned round = 0; round < ROUNDS; round++) {
            for (size_t i = 0; i < LOOP_BLOCKS; i++)
                step(stepped, loop[i]);
            run_after_step(ran, loop, &made.run, count);
            for (size_t i = count; i < LOOP_BLOCKS; i++)
                step(ran, loop[i]);
        }
        expect_the_same(stepped, ran);
        end(stepped);
        end(ran);
    }
    for (size_t i = 0; i < LOOP_BLOCKS; i++)
        free(loop[i]);
}

/* Calls within a run that returned have taken the places of older ones all the same. */
static void a_run_drops_the_oldest_calls_as_its_steps_do(void **state)
{
    enum { DEEP = PT_RETURN_STACK + 10 };
    struct pt_code_block *loop[LOOP_BLOCKS];
    struct pt_code_block *outer = block(0x500000, 1, PT_BLOCK_CALL, 0x500000);
    struct pt_code_block *enter = block(0x500000, 1, PT_BLOCK_JUMP, 0x401000);
    struct pt_code_block *leave = block(0x402000, 1, PT_BLOCK_RETURN, 0);
    struct pt_code_block *again = block(0x500004, 1, PT_BLOCK_RETURN, 0);
    make_loop(loop);
    for (unsigned calls = PT_RETURN_STACK - 1; calls < DEEP; calls++) {
        struct recording *both[] = {begin(1 << 16), begin(1 << 16)};
        struct made_run made;
        make_run(&made, loop, LOOP_BLOCKS);
        for (unsigned way = 0; way < 2; way++) {
            struct recording *recording = both[way];
            for (unsigned i = 0; i < calls; i++)
                step(recording, outer);
            step(recording, enter);
            if (way == 0)
                for (size_t i = 0; i < LOOP_BLOCKS; i++)
                    step(recording, loop[i]);
            else
                run_after_step(recording, loop, &made.run, LOOP_BLOCKS);
            step(recording, loop[0]);
            step(recording, leave);
            for (unsigned i = 0; i < calls; i++)
                step(recording, again);
        }
        expect_the_same(both[0], both[1]);
        end(both[0]);
        end(both[1]);
    }
    for (size_t i = 0; i < LOOP_BLOCKS; i++)
        free(loop[i]);
    free(outer);
    free(enter);
    free(leave);
    free(again);
}

static void runs_are_not_made_of_what_is_not_known_beforehand(void **state)
{
    struct pt_code_block *far = block(0x401000, 1, PT_BLOCK_FAR, 0);
    struct pt_code_block *next = block(0x401004, 1, PT_BLOCK_SEQUENTIAL, 0);
    struct pt_code_block *other = block(0x409000, 1, PT_BLOCK_SEQUENTIAL, 0);
    struct pt_code_block *const unreachable[] = {next, other}, *const after_far[] = {far, next};
    struct recording *recording = begin(4096);
    struct made_run made;
    step(recording, next);
    assert_false(take_run(recording, make_run(&made, unreachable, 2)));
    assert_ptr_equal(recording->encoder.previous, next);
    step(recording, far);
    assert_false(take_run(recording, make_run(&made, after_far, 2)));
    end(recording);
    free(far);
    free(next);
    free(other);
}

static void random_runs_are_followed_from_their_packets(void **state)
{
    enum { LONGEST = 100 };
    static uint64_t walk[WALK + LONGEST], stack[1000];
    for (unsigned seed = 1; seed <= 40; seed++) {
        srand(seed);
        struct program program;
        make_program(&program);
        struct recording *recording = begin(seed % 2 ? 4096 : 512);
        recording->encoder.sparse_time = seed % 4 / 2;
        struct pt_code_block *blocks[LONGEST] = {program.blocks[0]};
        unsigned depth = 0;
        size_t walked = 0;
        uint64_t instructions = blocks[0]->instructions;
        step(recording, blocks[0]);
        walk[walked++] = blocks[0]->pc;
        while (walked < WALK) {
            size_t count = 2 + (size_t)rand() % (seed % 3 ? 8 : LONGEST - 2);
            struct made_run made;
            for (size_t i = 1; i < count; i++) {
                blocks[i] = choose_next(&program, blocks[i - 1], stack, &depth);
                walk[walked++] = blocks[i]->pc;
                instructions += blocks[i]->instructions;
            }
            if (!take_run(recording, make_run(&made, blocks, count)))
                for (size_t i = 1; i < count; i++)
                    step(recording, blocks[i]);
            recording->encoder.time_is_due = rand() % 8 == 0;
            blocks[0] = blocks[count - 1];
        }
        assert_int_equal(pt_encoder_instructions(&recording->encoder), instructions);
        assert_int_equal(recording->encoder.losses, 0);
        pt_encoder_flush(&recording->encoder, blocks[0]->pc);
        follow(&program, recording, walk, walked);
        for (unsigned i = 0; i < BLOCKS; i++)
            free(program.blocks[i]);
        end(recording);
    }
}

/* Where no PSB comes in between. */
static void random_runs_write_what_their_steps_write(void **state)
{
    enum { LONGEST = 100, NO_PSB = 1 << 30 };
    static uint64_t stack[1000];
    for (unsigned seed = 1; seed <= 40; seed++) {
        srand(seed);
        struct program program;
        make_program(&program);
        struct recording *stepped = begin(NO_PSB), *ran = begin(NO_PSB);
        stepped->encoder.sparse_time = ran->encoder.sparse_time = 1;
        struct pt_code_block *blocks[LONGEST] = {program.blocks[0]};
        unsigned depth = 0, runs = 0;
        step(stepped, blocks[0]);
        step(ran, blocks[0]);
        for (size_t walked = 0; walked < WALK;) {
            size_t count = 2 + (size_t)rand() % (seed % 3 ? 8 : LONGEST - 2);
            struct made_run made;
            for (size_t i = 1; i < count; i++) {
                blocks[i] = choose_next(&program, blocks[i - 1], stack, &depth);
                step(stepped, blocks[i]);
            }
            bool taken = take_run(ran, make_run(&made, blocks, count));
            for (size_t i = 1; i < count && !taken; i++)
                step(ran, blocks[i]);
            runs += taken;
            walked += count - 1;
            stepped->encoder.time_is_due = ran->encoder.time_is_due = rand() % 8 == 0;
            blocks[0] = blocks[count - 1];
        }
        assert_true(runs > 0);
        expect_the_same(stepped, ran);
        for (unsigned i = 0; i < BLOCKS; i++)
            free(program.blocks[i]);
        end(stepped);
        end(ran);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_run_writes_what_its_steps_write),
        cmocka_unit_test(a_run_drops_the_oldest_calls_as_its_steps_do),
        cmocka_unit_test(runs_are_not_made_of_what_is_not_known_beforehand),
        cmocka_unit_test(random_runs_are_followed_from_their_packets),
        cmocka_unit_test(random_runs_write_what_their_steps_write),
        cmocka_unit_test(tracing_begins_with_psb_and_pge),
        cmocka_unit_test(system_calls_turn_tracing_off_and_on),
        cmocka_unit_test(coarse_time_is_reported_by_tsc_where_tracing_begins),
        cmocka_unit_test(coarse_time_is_reported_once_after_a_psb),
        cmocka_unit_test(time_that_goes_back_stands_still),
        cmocka_unit_test(a_psb_does_not_part_a_load_of_the_stack_pointer_from_its_jump),
        cmocka_unit_test(a_moment_is_reported_in_coarse_time_too),
        cmocka_unit_test(periods_are_reported_when_they_have_passed),
        cmocka_unit_test(an_uncompressed_return_is_a_tip),
        cmocka_unit_test(a_return_to_the_caller_is_one_bit_and_another_is_a_tip),
        cmocka_unit_test(a_call_to_the_next_instruction_is_not_pushed),
        cmocka_unit_test(only_the_newest_64_calls_are_compressed),
        cmocka_unit_test(a_rep_instruction_counts_once),
        cmocka_unit_test(a_block_left_in_its_middle_counts_what_ran),
        cmocka_unit_test(a_fault_reports_the_instruction_and_uncounts_the_rest),
        cmocka_unit_test(an_asynchronous_signal_takes_the_branch_first),
        cmocka_unit_test(a_signal_interrupts_what_a_sigreturn_leads_to),
        cmocka_unit_test(new_code_is_entered_at_a_packet_of_its_own),
        cmocka_unit_test(an_arrival_is_reported_at_its_branch_or_else_at_its_address),
        cmocka_unit_test(an_arrival_reports_what_was_gathered_before_it),
        cmocka_unit_test(an_arrival_at_a_psb_has_a_moment_of_its_own),
        cmocka_unit_test(no_arrival_where_tracing_is_off_or_over),
        cmocka_unit_test(the_stack_pointer_is_reported_at_an_instruction),
        cmocka_unit_test(callers_are_reported_after_each_psb),
        cmocka_unit_test(another_stack_has_no_known_callers),
        cmocka_unit_test(a_handler_has_interrupted_its_caller),
        cmocka_unit_test(long_lists_of_callers_make_psbs_rarer),
        cmocka_unit_test(a_move_on_the_same_stack_ends_the_calls_it_unwinds),
        cmocka_unit_test(a_call_that_ended_unseen_is_not_reported),
        cmocka_unit_test(calls_are_reported_only_where_their_places_in_the_stack_are_known),
        cmocka_unit_test(without_room_the_list_of_callers_ends_within_the_slack),
        cmocka_unit_test(a_fault_at_address_zero_ends_tracing_at_the_branch),
        cmocka_unit_test(a_block_from_nowhere_is_an_overflow),
        cmocka_unit_test(stopping_ends_the_stream_before_the_next_block),
        cmocka_unit_test(without_room_the_stream_ends_within_the_slack),
        cmocka_unit_test(draining_a_damaged_state_gives_nothing),
        cmocka_unit_test(an_edge_is_new_once),
        cmocka_unit_test(cost_adds_up_and_leaves_the_instructions_alone),
        cmocka_unit_test(a_random_walk_is_followed_from_its_packets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
