#include "engine/translator/transcode/transcoder.h"

#include "base/memory.h"
#include "engine/engine.h"
#include "packet/call_values_head.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    CALLS = 1 << 16, /* calls in progress that are remembered: the innermost */
    PSB_INTERVAL = 4096,
    WAITING_STEPS = 1 << 16, /* that may wait for a time in the log; and ways */
    MOST_WAYS = 1 << 12,     /* that are followed at once */
};

/* The thread's program did not run. Its last instruction before was some time earlier than the kernel's record: it had to
 * get there. */
struct pause {
    uint64_t begin, end; /* ticks */
    struct off_cpu_period period;
};

enum { PAUSES_EARLIER = 10 * 1000 * 1000 }; /* by this part of a second */

static const _Atomic uint32_t never_stop;

static uint64_t time_now(struct pt_encoder_owner *owner)
{
    struct transcoder *transcoder = (struct transcoder *)owner;
    uint64_t counted = pt_encoder_instructions(transcoder->encoder);
    return timeline_at(&transcoder->timeline, counted - transcoder->begun);
}

static bool flush(struct transcoder *transcoder)
{
    bool ok = packet_file_flush(&transcoder->file);
    if (!ok)
        atomic_store(&transcoder->file.header->out_of_space, 1);
    return ok;
}

static bool make_room(struct pt_encoder_owner *owner)
{
    return flush((struct transcoder *)owner);
}

static struct pt_code_block *make_cut_block(void)
{
    return memory_allocate_zeroed(sizeof(struct pt_code_block) + UINT8_MAX);
}

static void begin_encoder(struct transcoder *transcoder)
{
    struct pt_encoder *encoder = &transcoder->file.encoder;
    transcoder->call_ring = memory_allocate(CALLS * sizeof *transcoder->call_ring);
    encoder->owner = &transcoder->owner;
    encoder->stop = &never_stop;
    encoder->calls =
        (struct pt_calls){.ring = transcoder->call_ring, .mask = CALLS - 1, .all = true};
    /* Decoders place events between two times as the timeline does: by instructions. Where those are counted all times
     * are exact, and where the log has stamps differs from run to run. */
    encoder->sparse_time = transcoder->shared->arena->options.clock != RECORD_CLOCK_INSTRUCTIONS;
    encoder->time_is_due = 1;
    pt_encoder_begin(encoder, (uint8_t)transcoder->shared->arena->options.bus_ratio, PSB_INTERVAL);
    transcoder->encoder = encoder;
    call_stack_begin(&transcoder->calls, encoder,
                     !transcoder->shared->arena->options.full_execution);
}

/* The packet file is there. */
static void begin(struct transcoder *transcoder, uint64_t start)
{
    const struct translator_arena *arena = transcoder->shared->arena;
    const struct tr_slot *slot = transcoder->slot;
    struct packet_ring *header = transcoder->file.header;
    header->pid = slot->pid;
    header->tid = slot->tid;
    begin_encoder(transcoder);
    transcoder->pauses = array_of(sizeof(struct pause));
    path_init(&transcoder->path);
    transcoder->values = array_of(sizeof(uint64_t));
    pace_init(&transcoder->pace);
    timeline_begin(&transcoder->timeline, arena->options.clock == RECORD_CLOCK_INSTRUCTIONS, start);
    header->first_time = transcoder->timeline.from;
    moments_init(&transcoder->moments, transcoder->timeline.from);
    log_cursor_begin(&transcoder->cursor, arena, slot, 0);
    transcoder->ways = ways_table(transcoder->shared->ways, atomic_load(&slot->table));
    for (unsigned i = 0; i < 2; i++)
        transcoder->cut[i] = make_cut_block();
}

bool transcoder_begin(struct transcoder *transcoder, const struct transcoder_shared *shared,
                      const struct tr_slot *slot, uint64_t start, struct error *error)
{
    *transcoder =
        (struct transcoder){.owner = {time_now, make_room}, .shared = shared, .slot = slot};
    if (!packet_file_create(&transcoder->file, shared->folder, slot->serial, error))
        return false;
    begin(transcoder, start);
    return true;
}

/* What ran before is unknown. */
static void begin_unknown(struct transcoder *transcoder)
{
    if (!transcoder->timeline.counts_instructions)
        transcoder->timeline.from = 0;
    transcoder->begins = true;
    pt_encoder_forget_calls(transcoder->encoder);
}

bool transcoder_resume(struct transcoder *transcoder, const struct transcoder_shared *shared,
                       const struct tr_slot *slot, struct error *error)
{
    *transcoder =
        (struct transcoder){.owner = {time_now, make_room}, .shared = shared, .slot = slot};
    if (!packet_file_open(&transcoder->file, shared->folder, slot->serial, error))
        return false;
    begin(transcoder, transcoder->file.header->first_time);
    log_cursor_begin(&transcoder->cursor, shared->arena, slot, atomic_load(&slot->read_to));
    transcoder->timeline.latest = transcoder->encoder->last_time;
    begin_unknown(transcoder);
    pt_encoder_lose(transcoder->encoder);
    return true;
}

void transcoder_begin_ring(struct transcoder *transcoder)
{
    struct log_cursor *cursor = &transcoder->cursor;
    if (log_cursor_begin_ring(cursor, transcoder->shared->arena, transcoder->slot) &&
        cursor->position > 0)
        begin_unknown(transcoder);
}

void transcoder_close(struct transcoder *transcoder)
{
    moments_free(&transcoder->moments);
    path_free(&transcoder->path);
    call_stack_free(&transcoder->calls);
    array_free(&transcoder->values);
    array_free(&transcoder->pauses);
    free(transcoder->call_ring);
    for (unsigned i = 0; i < 2; i++)
        free(transcoder->cut[i]);
    packet_file_close(&transcoder->file);
}

/* ---- steps -> packets ---- */

static bool is_call(const struct pt_code_block *block)
{
    return block->push || block->kind == PT_BLOCK_INDIRECT_CALL;
}

/* Of a small recording, callers must not be the greater part. */
static bool may_report(const struct transcoder *transcoder)
{
    enum { SHARE = 16 }; /* of a snapshot, between two PSBs */
    return transcoder->encoder->placed < transcoder->shared->arena->options.snapshot_size / SHARE;
}

/* Whether something is reported at the second instruction of the block that has begun. libipt binds one PTWRITE to an
 * instruction. */
static bool has_reported(const struct transcoder *transcoder)
{
    return transcoder->reported_at == pt_encoder_instructions(transcoder->encoder);
}

/* Who begins to decode at the newest PSB may not know the stack that runs. At a block's first instruction, or a last one,
 * nothing can be reported. */
static void report_callers(struct transcoder *transcoder)
{
    const struct pt_code_block *block = transcoder->encoder->previous;
    if (block->instructions < 3 || has_reported(transcoder))
        return;
    transcoder->reported_at = pt_encoder_instructions(transcoder->encoder);
    if (may_report(transcoder))
        pt_encoder_emit_calls(transcoder->encoder, block->pc + block->length[0]);
    transcoder->calls.due = false;
}

static bool ends_switch(const struct pt_code_block *block)
{
    return block->kind == PT_BLOCK_RETURN || block->kind == PT_BLOCK_INDIRECT_JUMP;
}

static void step(struct transcoder *transcoder, struct pt_code_block *block)
{
    struct pt_encoder *encoder = transcoder->encoder;
    const struct pt_code_block *previous = encoder->previous;
    if (transcoder->calls.switches && ends_switch(previous))
        call_stack_arrive(&transcoder->calls, encoder, block->pc);
    else if (is_call(previous))
        call_stack_call(&transcoder->calls);
    else if (previous->kind == PT_BLOCK_RETURN)
        call_stack_return(&transcoder->calls, encoder, block->pc);
    transcoder->begun = block->instructions;
    if (!pt_encoder_step_fast(encoder, block))
        pt_encoder_step_slow(encoder, block);
    transcoder->begun = 0;
    if (transcoder->calls.due)
        report_callers(transcoder);
}

/* ---- arguments and results ---- */

static void note_values(struct transcoder *transcoder, const struct log_record *record)
{
    uint64_t count = TR_EVENT_PAYLOAD(record->word);
    *(uint64_t *)array_add(&transcoder->values) = count;
    for (unsigned i = 0; i < count; i++)
        *(uint64_t *)array_add(&transcoder->values) = log_value(record, 2 * i);
}

/* Where the return is that ends the block; 0: it ends otherwise. */
static uint64_t last_instruction(const struct pt_code_block *block)
{
    return block->kind == PT_BLOCK_RETURN ? block->end - block->length[block->instructions - 1] : 0;
}

/* The arguments, or the results, that were recorded where a block begins: those are the callee's while it runs; its
 * results belong to the return that leads here. */
static void emit_values(struct transcoder *transcoder, bool results, uint64_t ip)
{
    const uint64_t *words = transcoder->values.elements, *end = words + transcoder->values.count;
    for (; words < end; words += 1 + words[0]) {
        bool is_result = words[1] & 1;
        struct call_values_head head = {.place = (uint32_t)(words[1] >> 1) & CALL_VALUES_PLACE,
                                        .is_result = is_result,
                                        .words = (uint32_t)words[0] - 1};
        if (is_result == results && ip != 0)
            pt_encoder_emit_values(transcoder->encoder, ip, call_values_head(head), words + 2,
                                   head.words);
    }
}

/* The block at which a trigger was hit. */
static void arrive(struct transcoder *transcoder, struct pt_code_block *block)
{
    struct pt_encoder *encoder = transcoder->encoder;
    struct timeline after = transcoder->timeline;
    struct pt_encoder_progress before = pt_encoder_progress(encoder);
    transcoder->arrival_due = false;
    timeline_pass(&transcoder->timeline, transcoder->arrival, UINT64_MAX);
    step(transcoder, block);
    pt_encoder_emit_arrival(encoder, block->pc, before);
    after.latest = transcoder->timeline.latest;
    transcoder->timeline = after;
}

static void run_block(struct transcoder *transcoder, struct pt_code_block *block)
{
    if (transcoder->new_code)
        pt_encoder_arrive_at_new_code(transcoder->encoder, block);
    transcoder->new_code = false;
    if (transcoder->values.count > 0)
        emit_values(transcoder, true, last_instruction(transcoder->encoder->previous));
    if (transcoder->arrival_due)
        arrive(transcoder, block);
    else
        step(transcoder, block);
    if (transcoder->values.count > 0) {
        emit_values(transcoder, false, block->pc);
        transcoder->values.count = 0;
    }
}

static void run_blocks(struct transcoder *transcoder, const struct path_step *run)
{
    for (unsigned i = run->first; i <= run->last; i++)
        run_block(transcoder, run->fragment->blocks[i].code);
}

static void run_load(struct transcoder *transcoder, const struct path_step *loading)
{
    struct pt_encoder *encoder = transcoder->encoder;
    struct pt_code_block *block = loading->fragment->blocks[loading->first].code;
    uint64_t before = loading->load.before, after = loading->load.after;
    if (!loading->begun)
        run_block(transcoder, block);
    /* At its second instruction, which must not be its last, where the other one is reported. */
    if (block->instructions > 2 && !has_reported(transcoder))
        pt_encoder_emit_stack_pointer(encoder, block->pc + block->length[0], before);
    pt_encoder_forget_returns(encoder);
    pt_encoder_emit_stack_pointer(encoder, block->end - block->length[block->instructions - 1],
                                  after);
    if (block->copies_stack)
        call_stack_copy(&transcoder->calls, encoder, after);
    else
        call_stack_load(&transcoder->calls, encoder, before, after);
}

/* What ran of the block is a block of its own. */
static void run_cut(struct transcoder *transcoder, const struct path_step *step_cut)
{
    const struct pt_code_block *whole = step_cut->fragment->blocks[step_cut->first].code;
    struct pt_code_block *block = transcoder->cut[transcoder->cuts++ % 2];
    memset(block, 0, sizeof *block);
    block->pc = whole->pc;
    block->end = step_cut->pc;
    block->kind = PT_BLOCK_SEQUENTIAL;
    for (uint64_t at = block->pc; at < block->end; at += block->length[block->instructions++])
        block->length[block->instructions] = whole->length[block->instructions];
    pt_code_block_describe(block);
    if (step_cut->begun) {
        transcoder->encoder->previous = block;
        transcoder->encoder->instructions -= whole->instructions - block->instructions;
    } else {
        run_block(transcoder, block);
    }
}

static void enter_handler(struct transcoder *transcoder, const struct log_record *event)
{
    uint64_t ip = log_value(event, 2), from = log_value(event, 4), to = log_value(event, 6);
    pt_encoder_interrupt(transcoder->encoder, ip, false);
    call_stack_enter_handler(&transcoder->calls, transcoder->encoder, ip, from, to);
}

/* Where the handler's restorer, which the block that runs belongs to, does not go back to what was interrupted: reported at
 * its first instruction, to which an indirect branch has led, and at the system call. */
static void restore_context(struct transcoder *transcoder, const struct log_record *event)
{
    struct pt_encoder *encoder = transcoder->encoder;
    const struct pt_code_block *block = encoder->previous;
    struct stack_load restored =
        call_stack_restore(&transcoder->calls, encoder, log_value(event, 0), log_value(event, 2));
    if (restored.before == 0 || block->instructions < 2)
        return;
    pt_encoder_emit_stack_pointer(encoder, block->pc, restored.before);
    pt_encoder_emit_stack_pointer(encoder, block->end - block->length[block->instructions - 1],
                                  restored.after);
}

static void find_callers(struct transcoder *transcoder, const struct log_record *copy)
{
    struct pt_encoder *encoder = transcoder->encoder;
    struct array calls = array_of(sizeof(struct pt_call));
    bool all = callers_find(transcoder->shared->callers, transcoder->slot->pid,
                            transcoder->timeline.logged, copy, &calls);
    call_stack_learn(&transcoder->calls, encoder, log_value(copy, 0), &calls, all);
    array_free(&calls);
}

/* A copy of the stack shows the callers where they are not known. */
static void learn_callers(struct transcoder *transcoder, const struct log_record *copy)
{
    if (transcoder->shared->callers && !transcoder->encoder->calls.all)
        find_callers(transcoder, copy);
}

/* Code has changed to another stack: what was known of it, if anything, is replaced by the truth. */
static void learn_other_stack(struct transcoder *transcoder, const struct log_record *copy)
{
    if (!transcoder->shared->callers)
        return;
    find_callers(transcoder, copy);
    transcoder->calls.due = true;
    report_callers(transcoder);
}

static void lose(struct transcoder *transcoder)
{
    transcoder->begins = true;
    pt_encoder_lose(transcoder->encoder);
    call_stack_forget(&transcoder->calls, transcoder->encoder);
}

static void return_to(void *context, uint64_t pc)
{
    struct transcoder *transcoder = context;
    call_stack_return(&transcoder->calls, transcoder->encoder, pc);
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
static void step_way(struct transcoder *transcoder, const struct way *way)
{
    for (unsigned i = 1; i <= way->exit + 1u; i++)
        step(transcoder, way_block(way, i));
}

static void take_ways(struct transcoder *transcoder, const struct pt_block_run *const *runs,
                      size_t count)
{
    const struct pt_run_stack stack = {&transcoder->calls.pointer, return_to, transcoder};
    /* Where a PSB comes must not depend on how the program was translated, which differs from run to run. */
    bool by_blocks = transcoder->timeline.counts_instructions;
    for (size_t taken = 0; taken < count; taken++) {
        bool changes_stacks = transcoder->calls.switches || transcoder->calls.due;
        if (!by_blocks && !changes_stacks &&
            begins(transcoder->encoder, runs + taken, count - taken))
            taken += pt_block_runs_take(transcoder->encoder, runs + taken, count - taken, &stack);
        if (taken < count && runs[taken]->parts)
            step_way(transcoder, way_of(runs[taken]));
    }
}

/* Instructions that have run, without those of the block that has just begun. */
static uint64_t executed(const struct pt_encoder *encoder)
{
    return pt_encoder_instructions(encoder) - encoder->previous->instructions;
}

/* What was encoded so far was at `time`. */
static void set_time(struct transcoder *transcoder, uint64_t time)
{
    struct pt_encoder *encoder = transcoder->encoder;
    transcoder->begun = encoder->previous->instructions;
    pt_encoder_emit(encoder);
    transcoder->begun = 0;
    timeline_set(&transcoder->timeline, time, executed(encoder));
    encoder->time_is_due = 1;
}

/* ---- pauses ---- */

/* The next one; NULL: none. */
static const struct pause *next_pause(const struct transcoder *transcoder)
{
    const struct array *pauses = &transcoder->pauses;
    return transcoder->next_pause < pauses->count ? array_at(pauses, transcoder->next_pause) : NULL;
}

/* The time that is reached without the pauses that are still to come. */
static uint64_t reached_without_pauses(const struct transcoder *transcoder)
{
    uint64_t time = transcoder->reached;
    for (size_t i = transcoder->next_pause; i < transcoder->pauses.count; i++) {
        const struct pause *pause = array_at(&transcoder->pauses, i);
        time -= pause->end - pause->begin;
    }
    return time;
}

/* What runs before the next pause has times before it. */
static void limit_time(struct transcoder *transcoder)
{
    const struct pause *pause = next_pause(transcoder);
    timeline_limit(&transcoder->timeline, pause ? pause->begin : transcoder->reached);
}

/* Those between the time that was reached last and `time`. */
static void find_pauses(struct transcoder *transcoder, uint64_t time)
{
    struct off_cpu *off_cpu = transcoder->shared->off_cpu;
    uint64_t earlier = transcoder->shared->arena->options.tsc_hz / PAUSES_EARLIER;
    uint64_t from = transcoder->timeline.from;
    struct off_cpu_period period;
    transcoder->pauses.count = transcoder->next_pause = 0;
    transcoder->reached = time;
    if (!off_cpu || from == 0 || transcoder->timeline.counts_instructions)
        return;
    while (off_cpu_next(off_cpu, transcoder->slot->tid, from, time, &period)) {
        struct pause *pause = array_add(&transcoder->pauses);
        period.pid = transcoder->slot->pid;
        *pause = (struct pause){.begin = period.out - from > earlier ? period.out - earlier : from,
                                .end = period.in,
                                .period = period};
        from = period.in;
    }
}

/* The steps so far were done when the next pause began. */
static void take_pause(struct transcoder *transcoder)
{
    struct pt_encoder *encoder = transcoder->encoder;
    const struct pause *pause = next_pause(transcoder);
    uint64_t instructions = executed(encoder);
    timeline_set(&transcoder->timeline, pause->begin, instructions);
    transcoder->begun = encoder->previous->instructions;
    pt_encoder_emit_pause(encoder, pause->end);
    transcoder->begun = 0;
    timeline_set(&transcoder->timeline, pause->end, instructions);
    encoder->time_is_due = 1;
    off_cpu_keep(transcoder->shared->off_cpu, &pause->period);
    transcoder->next_pause++;
    limit_time(transcoder);
}

static void take_due_pauses(struct transcoder *transcoder)
{
    const struct pause *pause;
    while ((pause = next_pause(transcoder)) &&
           timeline_reaches(&transcoder->timeline, pause->begin, executed(transcoder->encoder)))
        take_pause(transcoder);
}

static void take_all_pauses(struct transcoder *transcoder)
{
    while (next_pause(transcoder))
        take_pause(transcoder);
}

/* ---- ways ---- */

/* Of a damaged log times may be larger than any moment. */
static uint64_t moment_of(double time)
{
    return time < 0x1p63 ? (uint64_t)time : UINT64_C(1) << 63;
}

/* Decoders spread the time between two packets evenly over the instructions between them: where the pace changes, there
 * is a packet with the time. */
static void take_ways_by_pace(struct transcoder *transcoder, const struct pt_block_run *const *runs,
                              size_t count)
{
    struct timeline *timeline = &transcoder->timeline;
    uint64_t instructions = executed(transcoder->encoder);
    double time = (double)timeline_at(timeline, instructions);
    for (size_t taken = 0; taken < count;) {
        const struct pause *pause = next_pause(transcoder);
        double most = pause ? (double)pause->begin - time : INFINITY;
        struct pace_part part =
            pace_next_part(runs + taken, count - taken, transcoder->pace_scale, most);
        bool pauses = part.ticks >= most;
        instructions += part.instructions;
        time = pauses ? (double)pause->begin : time + part.ticks;
        timeline_pass_part(timeline, moment_of(time), instructions);
        take_ways(transcoder, runs + taken, part.count);
        taken += part.count;
        if (pauses) {
            time = (double)pause->end;
            take_pause(transcoder);
        } else if (taken < count) {
            set_time(transcoder, moment_of(time));
        }
    }
    timeline_set(timeline, moment_of(time), instructions);
    timeline_pass_part(timeline, reached_without_pauses(transcoder), transcoder->reaches);
    limit_time(transcoder);
}

static void run_ways(struct transcoder *transcoder, const struct path_ways *ways)
{
    const struct pt_block_run *const *runs = array_at(&transcoder->path.ways, ways->first);
    if (transcoder->pace_scale > 0)
        take_ways_by_pace(transcoder, runs, ways->count);
    else
        take_ways(transcoder, runs, ways->count);
}

static void run_event(struct transcoder *transcoder, const struct log_record *event)
{
    switch ((enum tr_event)TR_EVENT_KIND(event->word)) {
    case TR_SYSCALL:
        pt_encoder_disable(transcoder->encoder);
        timeline_system_call(&transcoder->timeline);
        break;
    case TR_HANDLER:
        enter_handler(transcoder, event);
        break;
    case TR_RESTORED:
        restore_context(transcoder, event);
        break;
    case TR_SIGRETURN:
        call_stack_leave_handler(&transcoder->calls, transcoder->encoder);
        break;
    case TR_MARK:
        transcoder->arrival_due = true;
        transcoder->arrival = log_value(event, 0);
        break;
    case TR_STOP:
        pt_encoder_interrupt(transcoder->encoder, log_value(event, 2), false);
        transcoder->encoder->stopped = 1;
        break;
    case TR_LOST:
        lose(transcoder);
        break;
    case TR_FORKED:
        transcoder->begins = true;
        call_stack_forget(&transcoder->calls, transcoder->encoder);
        break;
    case TR_CALLS:
        learn_callers(transcoder, event);
        break;
    case TR_SWITCHED:
        learn_other_stack(transcoder, event);
        break;
    case TR_VALUES:
        note_values(transcoder, event);
        break;
    default:
        break;
    }
}

static void run_step(struct transcoder *transcoder, const struct path_step *next)
{
    switch (next->kind) {
    case PATH_RUN:
        run_blocks(transcoder, next);
        break;
    case PATH_LOAD:
        run_load(transcoder, next);
        break;
    case PATH_CUT:
        run_cut(transcoder, next);
        break;
    case PATH_WAYS:
        run_ways(transcoder, &next->ways);
        break;
    case PATH_EVENT:
        run_event(transcoder, &next->event);
        break;
    }
}

static void run_steps(struct transcoder *transcoder)
{
    struct path *path = &transcoder->path;
    for (size_t i = 0; i < path->steps.count; i++) {
        run_step(transcoder, array_at(&path->steps, i));
        take_due_pauses(transcoder);
    }
    path_clear(path);
}

/* ---- records -> steps ---- */

/* Instructions that have run when all steps were taken, but for the block that begins then. */
static uint64_t instructions_ahead(const struct transcoder *transcoder)
{
    return pt_encoder_instructions(transcoder->encoder) + transcoder->path.instructions -
           path_begun(&transcoder->path);
}

/* How the time up to `time` is spread over the steps. */
static void plan_pace(struct transcoder *transcoder, uint64_t time)
{
    const struct timeline *timeline = &transcoder->timeline;
    const struct array *ways = &transcoder->path.ways;
    transcoder->pace_scale = 0;
    if (timeline->counts_instructions || timeline->from == 0 || time <= timeline->from ||
        ways->count == 0)
        return;
    uint64_t instructions = transcoder->reaches - timeline->from_instructions;
    double passed = (double)(time - timeline->from);
    double expected = pace_expect(&transcoder->pace, ways->elements, ways->count, instructions);
    transcoder->pace_scale =
        pace_learn(&transcoder->pace, ways->elements, ways->count, instructions, passed, expected);
}

/* The steps so far were done at `time`. */
static void reach(struct transcoder *transcoder, uint64_t time)
{
    transcoder->reaches = instructions_ahead(transcoder);
    find_pauses(transcoder, time);
    uint64_t without_pauses = reached_without_pauses(transcoder);
    plan_pace(transcoder, without_pauses);
    timeline_pass(&transcoder->timeline, without_pauses, transcoder->reaches);
    limit_time(transcoder);
    run_steps(transcoder);
    take_all_pauses(transcoder);
    transcoder->timeline.logged = time;
    transcoder->pace_scale = 0;
    timeline_set(&transcoder->timeline, time, instructions_ahead(transcoder));
    transcoder->encoder->time_is_due = 1;
}

/* Sideband records may be of that time. */
static void note_moment(struct transcoder *transcoder, uint64_t time)
{
    uint64_t instructions = pt_encoder_instructions(transcoder->encoder);
    if (transcoder->timeline.counts_instructions)
        moments_add(&transcoder->moments, time, timeline_at(&transcoder->timeline, instructions));
}

static void reach_unknown_time(struct transcoder *transcoder)
{
    transcoder->pauses.count = transcoder->next_pause = 0;
    timeline_pass_unknown(&transcoder->timeline);
    run_steps(transcoder);
}

/* The same, before the newest fragment begins at that time. Decoders take to new code when a packet has
 * its time: they need to know of all branches before. */
static void reach_entry(struct transcoder *transcoder)
{
    uint64_t new_code = transcoder->new_code_at;
    if (new_code > 0) {
        reach(transcoder, new_code - TR_MOMENT / 2);
        pt_encoder_emit(transcoder->encoder);
        timeline_new_code(&transcoder->timeline);
        note_moment(transcoder, new_code);
        transcoder->new_code = true;
    }
    reach(transcoder, transcoder->next_entry);
    transcoder->next_entry = transcoder->new_code_at = 0;
}

/* An event, at the time that it has, after the steps so far. */
static void happen(struct transcoder *transcoder, const struct log_record *record)
{
    reach(transcoder, log_value(record, 0));
    run_event(transcoder, record);
    /* After what a system call is counted as: what it has created begins then. */
    note_moment(transcoder, log_value(record, 0));
}

/* What a record that makes no sense says, with its place. */
static bool refuse_record(const struct transcoder *transcoder, const struct log_record *record,
                          const struct error *why, struct error *error)
{
    const uint8_t *place = (const uint8_t *)(record->payload - 1);
    return error_set(error, ERROR_FORMAT,
                     "%s is damaged: at byte %llu, in the log of thread %u: %s",
                     transcoder->shared->arena->path,
                     (unsigned long long)(place - transcoder->shared->arena->bytes),
                     transcoder->slot->tid, why->text);
}

/* The block of the fragment entered last that the instruction at `pc` is in; its block_count: none. */
static unsigned block_of(const struct fragment *fragment, uint64_t pc)
{
    unsigned block = 0;
    while (block < fragment->block_count &&
           (pc < fragment->blocks[block].code->pc || pc >= fragment->blocks[block].code->end))
        block++;
    return block;
}

/* The copy was made in the fragment that is entered now. Who begins to read there begins at that place. */
static void use_stack_copy(struct transcoder *transcoder)
{
    struct path *path = &transcoder->path;
    unsigned block = block_of(path->fragment, log_value(&transcoder->stack_copy, 2));
    transcoder->has_stack_copy = false;
    if (block == path->fragment->block_count)
        return;
    if (transcoder->begins) {
        path_event(path, &transcoder->stack_copy);
        path_begin(path, block);
    } else {
        path_reach(path, block);
        path_event(path, &transcoder->stack_copy);
    }
}

static bool enter(struct transcoder *transcoder, const struct log_record *record,
                  struct error *error)
{
    uint32_t table = atomic_load_explicit(&transcoder->slot->table, memory_order_relaxed);
    const struct fragment *fragment =
        fragments_get(transcoder->shared->fragments, table, record->word >> 1, error);
    if (!fragment || !path_enter(&transcoder->path, fragment, record->word, error))
        return false;
    if (transcoder->has_stack_copy)
        use_stack_copy(transcoder);
    transcoder->begins = false;
    if (transcoder->next_entry)
        reach_entry(transcoder);
    return true;
}

/* How the fragment before was left is only known when the next one is entered. */
static void take_stamp(struct transcoder *transcoder, const struct log_record *record)
{
    uint64_t time = log_value(record, 0);
    switch (TR_EVENT_PAYLOAD(record->word)) {
    case TR_STAMP_ENTRY:
        reach(transcoder, time);
        break;
    case TR_STAMP_NEW_CODE:
        transcoder->new_code_at = time;
        /* fall through */
    default:
        transcoder->next_entry = time;
        break;
    }
}

static bool take_event(struct transcoder *transcoder, const struct log_record *record,
                       struct error *error)
{
    struct path *path = &transcoder->path;
    switch ((enum tr_event)TR_EVENT_KIND(record->word)) {
    case TR_VALUES:
        if (path->fragment && TR_EVENT_PAYLOAD(record->word) > 0)
            path_event(path, record);
        return true;
    case TR_EXIT:
        return path_exit(path, TR_EVENT_PAYLOAD(record->word), error);
    case TR_STACK:
        path_load(path, &(struct stack_load){log_value(record, 0), log_value(record, 2)});
        return true;
    case TR_CALLS:
    case TR_SWITCHED:
        transcoder->stack_copy = *record;
        transcoder->has_stack_copy = true;
        return true;
    case TR_PARTIAL:
        return path_cut(path, log_value(record, 0), TR_EVENT_PAYLOAD(record->word), error);
    case TR_STOP:
        if (!path_cut(path, log_value(record, 2), 0, error))
            return false;
        happen(transcoder, record);
        return true;
    case TR_RESTORED:
        path_finish(path);
        path_event(path, record);
        return true;
    case TR_SYSCALL:
        path_finish(path);
        happen(transcoder, record);
        return true;
    case TR_LOST:
        path_abandon(path);
        happen(transcoder, record);
        return true;
    case TR_STAMP:
        take_stamp(transcoder, record);
        return true;
    case TR_HANDLER:
        /* After a branch to where nothing can run there is no entry. */
        if (!path_cut(path, log_value(record, 2), 0, error))
            return false;
        happen(transcoder, record);
        return true;
    case TR_MARK:
    case TR_SIGRETURN:
    case TR_RESUME:
    case TR_FORKED:
        happen(transcoder, record);
        return true;
    default:
        return true;
    }
}

static bool take(struct transcoder *transcoder, const struct log_record *record,
                 struct error *error)
{
    struct error why;
    bool ok = record->word < TR_EVENT ? enter(transcoder, record, &why)
                                      : take_event(transcoder, record, &why);
    return ok || refuse_record(transcoder, record, &why, error);
}

/* A record makes no sense: what it stood for is missing. */
static void refuse(struct transcoder *transcoder, const struct error *error)
{
    if (transcoder->damage.code == ERROR_NONE)
        transcoder->damage = *error;
    path_abandon(&transcoder->path);
    reach_unknown_time(transcoder);
    lose(transcoder);
}

static void refuse_damage(struct transcoder *transcoder)
{
    static const struct error no_record = {ERROR_FORMAT, "this is no record"};
    const struct log_cursor *cursor = &transcoder->cursor;
    uint64_t place = cursor->position & (cursor->size - 1);
    struct log_record record = {.payload = cursor->ring + place / sizeof *cursor->ring + 1};
    struct error error;
    refuse_record(transcoder, &record, &no_record, &error);
    refuse(transcoder, &error);
}

/* Entries that nothing stands between, which is nearly all of a log. */
static void follow_entries(struct transcoder *transcoder)
{
    const uint32_t *words;
    struct log_cursor *cursor = &transcoder->cursor;
    if (transcoder->next_entry || transcoder->has_stack_copy)
        return;
    uint32_t table = atomic_load_explicit(&transcoder->slot->table, memory_order_relaxed);
    size_t count = log_cursor_words(cursor, &words);
    size_t used = path_follow(&transcoder->path, transcoder->shared->fragments, transcoder->ways,
                              table, words, count < MOST_WAYS ? count : MOST_WAYS);
    cursor->position += used * sizeof *words;
}

/* A writer that has to do with a part of its ring, because the disk is full, may wait at the ring's beginning until all
 * before it was read: no time stamp comes before that. */
static bool writer_may_wait(const struct transcoder *transcoder)
{
    const struct log_cursor *cursor = &transcoder->cursor;
    return cursor->room < cursor->size && cursor->position % cursor->size == 0;
}

static void settle(struct transcoder *transcoder)
{
    if (transcoder->path.steps.count == 0 && !transcoder->has_stack_copy)
        transcoder->settled = transcoder->cursor.position;
}

void transcoder_read(struct transcoder *transcoder)
{
    struct log_record record;
    for (;;) {
        follow_entries(transcoder);
        enum log_reading reading = log_cursor_next(&transcoder->cursor, &record);
        if (reading == LOG_END)
            break;
        struct error error;
        if (reading == LOG_DAMAGED) {
            refuse_damage(transcoder);
            log_cursor_skip(&transcoder->cursor);
        } else if (!take(transcoder, &record, &error)) {
            refuse(transcoder, &error);
        }
        if (transcoder->path.steps.count + transcoder->path.ways.count >= WAITING_STEPS)
            reach_unknown_time(transcoder);
        settle(transcoder);
    }
    if (writer_may_wait(transcoder))
        reach_unknown_time(transcoder);
    settle(transcoder);
}

/* Without a record that says how the log ends, its thread was killed while it ran. */
void transcoder_finish(struct transcoder *transcoder)
{
    path_abandon(&transcoder->path);
    reach_unknown_time(transcoder);
    flush(transcoder);
    uint32_t end = atomic_load(&transcoder->slot->ended);
    atomic_store(&transcoder->file.header->ended, end != TR_SLOT_RUNS);
    if (end == TR_SLOT_NO_SPACE)
        atomic_store(&transcoder->file.header->out_of_space, 1);
}
