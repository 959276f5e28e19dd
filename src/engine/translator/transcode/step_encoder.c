#include "engine/translator/transcode/step_encoder.h"

#include "base/memory.h"
#include "engine/engine.h"
#include "packet/call_values_head.h"

#include <stdlib.h>
#include <string.h>

enum {
    CALLS = 1 << 16, /* calls in progress that are remembered: the innermost */
    PSB_INTERVAL = 4096,
};

static const _Atomic uint32_t never_stop;

static uint64_t time_now(struct pt_encoder_owner *owner)
{
    struct step_encoder *coder = (struct step_encoder *)owner;
    uint64_t counted = pt_encoder_instructions(coder->encoder);
    return timeline_at(&coder->timeline, counted - coder->begun);
}

bool step_encoder_flush(struct step_encoder *coder)
{
    bool ok = packet_file_flush(&coder->file);
    if (!ok)
        atomic_store(&coder->file.header->out_of_space, 1);
    return ok;
}

static bool make_room(struct pt_encoder_owner *owner)
{
    return step_encoder_flush((struct step_encoder *)owner);
}

static struct pt_code_block *make_cut_block(void)
{
    return memory_allocate_zeroed(sizeof(struct pt_code_block) + UINT8_MAX);
}

static void begin_encoder(struct step_encoder *coder)
{
    struct pt_encoder *encoder = &coder->file.encoder;
    coder->call_ring = memory_allocate(CALLS * sizeof *coder->call_ring);
    encoder->owner = &coder->owner;
    encoder->stop = &never_stop;
    encoder->calls = (struct pt_calls){.ring = coder->call_ring, .mask = CALLS - 1, .all = true};
    /* Decoders place events between two times as the timeline does: by instructions. Where those are counted all times
     * are exact, and where the log has stamps differs from run to run. */
    encoder->sparse_time = coder->arena->options.clock != RECORD_CLOCK_INSTRUCTIONS;
    encoder->time_is_due = 1;
    pt_encoder_begin(encoder, (uint8_t)coder->arena->options.bus_ratio, PSB_INTERVAL);
    coder->encoder = encoder;
    call_stack_begin(&coder->calls, encoder, !coder->arena->options.full_execution);
}

void step_encoder_begin(struct step_encoder *coder, const struct translator_arena *arena,
                        const struct tr_slot *slot, struct callers *callers, uint64_t start)
{
    struct packet_ring *header = coder->file.header;
    coder->owner = (struct pt_encoder_owner){time_now, make_room};
    coder->arena = arena;
    coder->callers = callers;
    coder->pid = slot->pid;
    header->pid = slot->pid;
    header->tid = slot->tid;
    begin_encoder(coder);
    coder->values = array_of(sizeof(uint64_t));
    coder->selected_begins = arena->options.selected_count > 0;
    timeline_begin(&coder->timeline, arena->options.clock == RECORD_CLOCK_INSTRUCTIONS, start);
    header->first_time = coder->timeline.from;
    for (unsigned i = 0; i < 2; i++)
        coder->cut[i] = make_cut_block();
}

void step_encoder_close(struct step_encoder *coder)
{
    call_stack_free(&coder->calls);
    array_free(&coder->values);
    free(coder->call_ring);
    for (unsigned i = 0; i < 2; i++)
        free(coder->cut[i]);
    packet_file_close(&coder->file);
}

/* ---- blocks ---- */

/* Its address. */
static uint64_t last_instruction(const struct pt_code_block *block)
{
    return block->end - block->length[block->instructions - 1];
}

/* ---- steps -> packets ---- */

static bool is_call(const struct pt_code_block *block)
{
    return block->push || block->kind == PT_BLOCK_INDIRECT_CALL;
}

/* Of a small recording, callers must not be the greater part. */
static bool may_report(const struct step_encoder *coder)
{
    enum { SHARE = 16 }; /* of a snapshot, between two PSBs */
    return coder->encoder->placed < coder->arena->options.snapshot_size / SHARE;
}

/* Whether something is reported at the second instruction of the block that has begun. libipt binds one PTWRITE to an
 * instruction. */
static bool has_reported(const struct step_encoder *coder)
{
    return coder->reported_at == pt_encoder_instructions(coder->encoder);
}

/* What is emitted next belongs to the instruction `index` of the block that has begun: those before it have run. Where
 * instructions are the time, the branches that led to the block have a time of their own, or decoders would place all events
 * since the last time by one that is too late. */
static void be_at_instruction(struct step_encoder *coder, const struct pt_code_block *block,
                              unsigned index)
{
    coder->begun = block->instructions;
    if (coder->timeline.counts_instructions)
        pt_encoder_emit(coder->encoder);
    coder->begun = block->instructions - index;
}

/* Who begins to decode at the newest PSB may not know the stack that runs. At a block's first instruction, or a last one,
 * nothing can be reported. */
static void report_callers(struct step_encoder *coder)
{
    const struct pt_code_block *block = coder->encoder->previous;
    if (block->instructions < 3 || has_reported(coder))
        return;
    coder->reported_at = pt_encoder_instructions(coder->encoder);
    bool reports = may_report(coder);
    if (reports) {
        be_at_instruction(coder, block, 1);
        pt_encoder_emit_calls(coder->encoder, block->pc + block->length[0]);
        coder->begun = 0;
    }
    call_stack_reported(&coder->calls, reports);
}

static bool ends_switch(const struct pt_code_block *block)
{
    return block->kind == PT_BLOCK_RETURN || block->kind == PT_BLOCK_INDIRECT_JUMP;
}

/* The block that ran last leads to `block`. */
static void follow_calls(struct step_encoder *coder, const struct pt_code_block *block)
{
    struct pt_encoder *encoder = coder->encoder;
    const struct pt_code_block *previous = encoder->previous;
    if (coder->calls.switches && ends_switch(previous))
        call_stack_arrive(&coder->calls, encoder, block->pc);
    else if (is_call(previous))
        call_stack_call(&coder->calls);
    else if (previous->kind == PT_BLOCK_RETURN)
        call_stack_return(&coder->calls, encoder, block->pc);
}

static void enter_block(struct step_encoder *coder, struct pt_code_block *block)
{
    struct pt_encoder *encoder = coder->encoder;
    follow_calls(coder, block);
    coder->begun = block->instructions;
    if (!pt_encoder_step_fast(encoder, block))
        pt_encoder_step_slow(encoder, block);
    coder->begun = 0;
    if (coder->calls.due)
        report_callers(coder);
}

/* Decoders follow direct calls until they come to where the next packet belongs: in a recursion, that would be its first
 * call. So packets name the call and its target: two places, because a decoder that is at a place already does not move. */
static void enter_recursive_call(struct step_encoder *coder, struct pt_code_block *block)
{
    struct pt_encoder *encoder = coder->encoder;
    pt_encoder_emit_arrival(encoder, last_instruction(encoder->previous),
                            pt_encoder_progress(encoder));
    enter_block(coder, block);
    coder->begun = block->instructions;
    pt_encoder_emit_arrival(encoder, block->pc, pt_encoder_progress(encoder));
    pt_encoder_flush(encoder, block->pc);
    coder->begun = 0;
}

static void step(struct step_encoder *coder, struct pt_code_block *block)
{
    if (block->in_recursion && coder->encoder->previous->push)
        enter_recursive_call(coder, block);
    else
        enter_block(coder, block);
}

/* ---- arguments and results ---- */

static void note_values(struct step_encoder *coder, const struct log_record *record)
{
    uint64_t count = TR_EVENT_PAYLOAD(record->word);
    *(uint64_t *)array_add(&coder->values) = count;
    for (unsigned i = 0; i < count; i++)
        *(uint64_t *)array_add(&coder->values) = log_value(record, 2 * i);
}

/* The arguments, or the results, that were recorded where a block begins: those are the callee's while it runs, at its first
 * instruction; its results belong to the return that leads here, which ends `block`. */
static void emit_values(struct step_encoder *coder, bool results, const struct pt_code_block *block)
{
    if (results && block->kind != PT_BLOCK_RETURN)
        return;
    be_at_instruction(coder, block, results ? block->instructions - 1 : 0);
    uint64_t ip = results ? last_instruction(block) : block->pc;
    const uint64_t *words = coder->values.elements, *end = words + coder->values.count;
    for (; words < end; words += 1 + words[0]) {
        bool is_result = words[1] & 1;
        struct call_values_head head = {.place = (uint32_t)(words[1] >> 1) & CALL_VALUES_PLACE,
                                        .is_result = is_result,
                                        .words = (uint32_t)words[0] - 1};
        if (is_result == results)
            pt_encoder_emit_values(coder->encoder, ip, call_values_head(head), words + 2,
                                   head.words);
    }
    coder->begun = 0;
}

/* ---- steps ---- */

/* The block at which a trigger was hit. */
static void arrive(struct step_encoder *coder, struct pt_code_block *block)
{
    struct pt_encoder *encoder = coder->encoder;
    struct timeline after = coder->timeline;
    struct pt_encoder_progress before = pt_encoder_progress(encoder);
    coder->arrival_due = false;
    timeline_pass(&coder->timeline, coder->arrival, UINT64_MAX);
    step(coder, block);
    coder->begun = block->instructions;
    pt_encoder_emit_arrival(encoder, block->pc, before);
    coder->begun = 0;
    after.latest = coder->timeline.latest;
    coder->timeline = after;
}

static void run_block(struct step_encoder *coder, struct pt_code_block *block)
{
    if (coder->new_code)
        pt_encoder_arrive_at_new_code(coder->encoder, block);
    coder->new_code = false;
    if (coder->values.count > 0)
        emit_values(coder, true, coder->encoder->previous);
    if (coder->arrival_due)
        arrive(coder, block);
    else
        step(coder, block);
    if (coder->values.count > 0) {
        emit_values(coder, false, block);
        coder->values.count = 0;
    }
}

static void run_blocks(struct step_encoder *coder, const struct path_step *run)
{
    for (unsigned i = run->first; i <= run->last; i++)
        run_block(coder, run->fragment->blocks[i].code);
}

/* At the instruction with that index. */
static void report_pointer(struct step_encoder *coder, const struct pt_code_block *block,
                           unsigned index, uint64_t value)
{
    uint64_t pc = block->pc;
    for (unsigned i = 0; i < index; i++)
        pc += block->length[i];
    be_at_instruction(coder, block, index);
    pt_encoder_emit_stack_pointer(coder->encoder, pc, value);
}

/* The stack that is left, and numbers, if it or the other one has any: from the block's second instruction on, and not at its
 * last, where the other one's pointer is reported. The pointer of one that is copied away says nothing more. */
static void report_left(struct step_encoder *coder, const struct pt_code_block *block,
                        const struct stack_load *load)
{
    bool numbered = load->numbers.left != 0 || load->numbers.continues != 0;
    unsigned index = 1;
    if (numbered)
        report_pointer(coder, block, index++, stack_numbers_word(load->numbers));
    if (!numbered || (!block->copies_stack && index + 1u < block->instructions))
        report_pointer(coder, block, index, load->before);
}

static void run_load(struct step_encoder *coder, const struct path_step *loading)
{
    struct pt_encoder *encoder = coder->encoder;
    struct pt_code_block *block = loading->fragment->blocks[loading->first].code;
    if (!loading->begun)
        run_block(coder, block);
    if (block->instructions > 2 && !has_reported(coder))
        report_left(coder, block, &loading->load);
    pt_encoder_forget_returns(encoder);
    be_at_instruction(coder, block, block->instructions - 1);
    pt_encoder_emit_stack_pointer(encoder, last_instruction(block), loading->load.after);
    coder->begun = 0;
    if (block->copies_stack)
        call_stack_copy(&coder->calls, encoder, &loading->load);
    else
        call_stack_load(&coder->calls, encoder, &loading->load);
}

/* What ran of the block is a block of its own. */
static void run_cut(struct step_encoder *coder, const struct path_step *step_cut)
{
    const struct pt_code_block *whole = step_cut->fragment->blocks[step_cut->first].code;
    struct pt_code_block *block = coder->cut[coder->cuts++ % 2];
    memset(block, 0, sizeof *block);
    block->pc = whole->pc;
    block->end = step_cut->pc;
    block->kind = PT_BLOCK_SEQUENTIAL;
    block->in_recursion = whole->in_recursion;
    for (uint64_t at = block->pc; at < block->end; at += block->length[block->instructions++])
        block->length[block->instructions] = whole->length[block->instructions];
    pt_code_block_describe(block);
    if (step_cut->begun) {
        coder->encoder->previous = block;
        coder->encoder->instructions -= whole->instructions - block->instructions;
    } else {
        run_block(coder, block);
    }
}

void step_encoder_run(struct step_encoder *coder, const struct path_step *step)
{
    if (step->kind == PATH_RUN)
        run_blocks(coder, step);
    else if (step->kind == PATH_LOAD)
        run_load(coder, step);
    else if (step->kind == PATH_CUT)
        run_cut(coder, step);
}

/* ---- events ---- */

static void enter_handler(struct step_encoder *coder, const struct log_record *event)
{
    uint64_t ip = log_value(event, 2), from = log_value(event, 4), to = log_value(event, 6);
    pt_encoder_interrupt(coder->encoder, ip, false);
    call_stack_enter_handler(&coder->calls, coder->encoder, ip, from, to);
}

/* Where the handler's restorer, which the block that runs belongs to, does not go back to what was interrupted: reported at
 * its first instruction, to which an indirect branch has led, and at the system call. */
static void restore_context(struct step_encoder *coder, const struct log_record *event)
{
    struct pt_encoder *encoder = coder->encoder;
    const struct pt_code_block *block = encoder->previous;
    struct stack_load restored =
        call_stack_restore(&coder->calls, encoder, log_value(event, 0), log_value(event, 2));
    if (restored.before == 0 || block->instructions < 2)
        return;
    be_at_instruction(coder, block, 0);
    pt_encoder_emit_stack_pointer(encoder, block->pc, restored.before);
    be_at_instruction(coder, block, block->instructions - 1);
    pt_encoder_emit_stack_pointer(encoder, last_instruction(block), restored.after);
    coder->begun = 0;
}

static void find_callers(struct step_encoder *coder, const struct log_record *copy)
{
    struct pt_encoder *encoder = coder->encoder;
    struct array calls = array_of(sizeof(struct pt_call));
    bool all = callers_find(coder->callers, coder->pid, coder->timeline.logged, copy, &calls);
    call_stack_learn(&coder->calls, encoder, log_value(copy, 0), &calls, all);
    array_free(&calls);
}

/* Code has changed to another stack, or begun on it: what was known of it, if anything, is replaced by the truth. */
static void report_stack(struct step_encoder *coder, const struct log_record *copy)
{
    if (!coder->callers)
        return;
    find_callers(coder, copy);
    coder->calls.due = true;
    report_callers(coder);
}

/* Who decodes what came before does not know them. */
static void report_learned(struct step_encoder *coder)
{
    if (!coder->calls.reports || coder->encoder->previous->kind == PT_BLOCK_NONE)
        return;
    coder->calls.due = true;
    report_callers(coder);
}

static void complete_callers(struct step_encoder *coder, const struct log_record *copy)
{
    find_callers(coder, copy);
    if (coder->encoder->calls.all)
        report_learned(coder);
}

/* A copy of the stack shows the callers where they are not known. What led to a selected call is not recorded, so its callers are reported. */
static void learn_callers(struct step_encoder *coder, const struct log_record *copy)
{
    if (!coder->callers)
        return;
    if (coder->selected_begins)
        report_stack(coder, copy);
    else if (!coder->encoder->calls.all)
        complete_callers(coder, copy);
    else if (coder->calls.unreported)
        report_learned(coder);
    coder->selected_begins = false;
}

void step_encoder_lose(struct step_encoder *coder)
{
    pt_encoder_lose(coder->encoder);
    call_stack_forget(&coder->calls, coder->encoder);
}

/* A selected call has ended, and what has led to the next one is unknown. Where the log has a system call before, it was left by other means
 * than a return, and nothing shows where. */
static void leave_selected(struct step_encoder *coder, uint64_t pc)
{
    struct pt_encoder *encoder = coder->encoder;
    if (encoder->previous->kind == PT_BLOCK_NONE)
        pt_encoder_lose(encoder);
    else
        pt_encoder_leave(encoder, pc);
    pt_encoder_forget_calls(encoder);
    call_stack_forget(&coder->calls, encoder);
    timeline_system_call(&coder->timeline);
    coder->selected_begins = true;
}

void step_encoder_event(struct step_encoder *coder, const struct log_record *event)
{
    switch ((enum tr_event)TR_EVENT_KIND(event->word)) {
    case TR_SYSCALL:
        pt_encoder_disable(coder->encoder);
        timeline_system_call(&coder->timeline);
        break;
    case TR_HANDLER:
        enter_handler(coder, event);
        break;
    case TR_RESTORED:
        restore_context(coder, event);
        break;
    case TR_SIGRETURN:
        pt_encoder_note_sigreturn(coder->encoder);
        call_stack_leave_handler(&coder->calls, coder->encoder);
        break;
    case TR_MARK:
        coder->arrival_due = true;
        coder->arrival = log_value(event, 0);
        break;
    case TR_STOP:
        pt_encoder_interrupt(coder->encoder, log_value(event, 2), false);
        coder->encoder->stopped = 1;
        break;
    case TR_LOST:
        step_encoder_lose(coder);
        break;
    case TR_OUTSIDE:
        leave_selected(coder, log_value(event, 2));
        break;
    case TR_FORKED:
        call_stack_forget(&coder->calls, coder->encoder);
        break;
    case TR_CALLS:
        learn_callers(coder, event);
        break;
    case TR_SWITCHED:
        report_stack(coder, event);
        break;
    case TR_VALUES:
        note_values(coder, event);
        break;
    default:
        break;
    }
}

/* ---- ways ---- */

static void return_to(void *context, uint64_t pc)
{
    struct step_encoder *coder = context;
    call_stack_return(&coder->calls, coder->encoder, pc);
}

/* Whether the encoder is where the next of `runs` begins. */
static bool begins(const struct pt_encoder *encoder, const struct pt_block_run *const *runs,
                   size_t count)
{
    size_t i = 0;
    while (i < count && !runs[i]->parts)
        i++;
    return i < count && encoder->previous == runs[i]->parts->first;
}

/* The first block of the way has begun already. */
static void step_way(struct step_encoder *coder, const struct pt_block_run *run)
{
    if (!run->parts)
        return;
    const struct way *way = way_of(run);
    for (unsigned i = 1; i <= way->exit + 1u; i++)
        step(coder, way_block(way, i));
}

static void step_run(struct step_encoder *coder, const struct pt_block_run *run)
{
    size_t count;
    const struct pt_block_run *const *ways = way_chain_ways(&run, &count);
    for (size_t i = 0; i < count; i++)
        step_way(coder, ways[i]);
}

void step_encoder_take_ways(struct step_encoder *coder, const struct pt_block_run *const *runs,
                            size_t count)
{
    const struct pt_run_stack stack = {&coder->calls.pointer, return_to, coder};
    /* Where a PSB comes must not depend on how the program was translated, which differs from run to run. */
    bool by_blocks = coder->timeline.counts_instructions;
    for (size_t taken = 0; taken < count; taken++) {
        bool changes_stacks = coder->calls.switches || coder->calls.due;
        if (!by_blocks && !changes_stacks && begins(coder->encoder, runs + taken, count - taken))
            taken += pt_block_runs_take(coder->encoder, runs + taken, count - taken, &stack);
        if (taken < count)
            step_run(coder, runs[taken]);
    }
}

/* ---- times ---- */

uint64_t step_encoder_executed(const struct step_encoder *coder)
{
    return pt_encoder_instructions(coder->encoder) - coder->encoder->previous->instructions;
}

void step_encoder_set_time(struct step_encoder *coder, uint64_t time)
{
    struct pt_encoder *encoder = coder->encoder;
    coder->begun = encoder->previous->instructions;
    pt_encoder_emit(encoder);
    coder->begun = 0;
    timeline_set(&coder->timeline, time, step_encoder_executed(coder));
    encoder->time_is_due = 1;
}

void step_encoder_pause(struct step_encoder *coder, uint64_t begin, uint64_t end)
{
    struct pt_encoder *encoder = coder->encoder;
    uint64_t instructions = step_encoder_executed(coder);
    timeline_set(&coder->timeline, begin, instructions);
    coder->begun = encoder->previous->instructions;
    pt_encoder_emit_pause(encoder, end);
    coder->begun = 0;
    timeline_pause(&coder->timeline, end, instructions);
    encoder->time_is_due = 1;
}

void step_encoder_leave_old_code(struct step_encoder *coder, const struct pt_code_block *next)
{
    follow_calls(coder, next);
    pt_encoder_leave_old_code(coder->encoder, next);
}
