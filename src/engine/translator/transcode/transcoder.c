#include "engine/translator/transcode/transcoder.h"

#include "engine/translator/transcode/code_border.h"

enum {
    WAITING_STEPS = 1 << 16, /* that may wait for a time in the log; and ways */
    MOST_WAYS = 1 << 12,     /* that are followed at once */
};

/* The packet file is there. */
static void begin(struct transcoder *transcoder, uint64_t start)
{
    const struct transcoder_shared *shared = transcoder->shared;
    const struct tr_slot *slot = transcoder->slot;
    step_encoder_begin(&transcoder->coder, shared->arena, slot, shared->callers, start);
    pauses_init(&transcoder->pauses);
    path_init(&transcoder->path);
    pace_init(&transcoder->pace);
    moments_init(&transcoder->moments, transcoder->coder.timeline.from);
    log_cursor_begin(&transcoder->cursor, shared->arena, slot, 0);
    transcoder->ways = ways_table(shared->ways, atomic_load(&slot->table));
}

bool transcoder_begin(struct transcoder *transcoder, const struct transcoder_shared *shared,
                      const struct tr_slot *slot, uint64_t start, struct error *error)
{
    *transcoder = (struct transcoder){.shared = shared, .slot = slot};
    if (!packet_file_create(&transcoder->coder.file, shared->folder, slot->serial, error))
        return false;
    begin(transcoder, start);
    return true;
}

/* What ran before is unknown. */
static void begin_unknown(struct transcoder *transcoder)
{
    if (!transcoder->coder.timeline.counts_instructions)
        transcoder->coder.timeline.from = 0;
    transcoder->begins = true;
    pt_encoder_forget_calls(transcoder->coder.encoder);
}

bool transcoder_resume(struct transcoder *transcoder, const struct transcoder_shared *shared,
                       const struct tr_slot *slot, struct error *error)
{
    *transcoder = (struct transcoder){.shared = shared, .slot = slot};
    if (!packet_file_open(&transcoder->coder.file, shared->folder, slot->serial, error))
        return false;
    begin(transcoder, transcoder->coder.file.header->first_time);
    log_cursor_begin(&transcoder->cursor, shared->arena, slot, atomic_load(&slot->read_to));
    transcoder->coder.timeline.latest = transcoder->coder.encoder->last_time;
    begin_unknown(transcoder);
    pt_encoder_lose(transcoder->coder.encoder);
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
    pauses_free(&transcoder->pauses);
    step_encoder_close(&transcoder->coder);
}

/* ---- pauses ---- */

/* What runs before the next pause has times before it. */
static void limit_time(struct transcoder *transcoder)
{
    const struct pause *pause = pauses_next(&transcoder->pauses);
    timeline_limit(&transcoder->coder.timeline, pause ? pause->begin : transcoder->reached);
}

/* Those between the time that was reached last and `time`. */
static void find_pauses(struct transcoder *transcoder, uint64_t time)
{
    const struct timeline *timeline = &transcoder->coder.timeline;
    const struct transcoder_shared *shared = transcoder->shared;
    pauses_clear(&transcoder->pauses);
    if (shared->off_cpu && timeline->from > 0 && !timeline->counts_instructions)
        pauses_find(&transcoder->pauses, shared->off_cpu, transcoder->slot,
                    shared->arena->options.tsc_hz, timeline->from, time);
}

/* The steps so far were done when the next pause began. */
static void take_pause(struct transcoder *transcoder)
{
    const struct pause *pause = pauses_next(&transcoder->pauses);
    step_encoder_pause(&transcoder->coder, pause->begin, pause->end);
    off_cpu_keep(transcoder->shared->off_cpu, &pause->period);
    transcoder->pauses.next++;
    limit_time(transcoder);
}

static void take_due_pauses(struct transcoder *transcoder)
{
    const struct pause *pause;
    while ((pause = pauses_next(&transcoder->pauses)) &&
           timeline_reaches(&transcoder->coder.timeline, pause->begin,
                            step_encoder_executed(&transcoder->coder)))
        take_pause(transcoder);
}

static void take_all_pauses(struct transcoder *transcoder)
{
    while (pauses_next(&transcoder->pauses))
        take_pause(transcoder);
}

/* ---- ways ---- */

/* Of a damaged log times may be larger than any moment. */
static uint64_t moment_of(double time)
{
    return time < 0x1p63 ? (uint64_t)time : UINT64_C(1) << 63;
}

/* How far the steps have come. */
struct progress {
    double time;
    uint64_t instructions;
};

/* A part of the ways up to the next pause; all of it if none comes. */
static struct pace_part before_pause(const struct transcoder *transcoder,
                                     const struct pt_block_run *const *runs,
                                     const struct pace_part *part, double time, bool *pauses)
{
    const struct pause *pause = pauses_next(&transcoder->pauses);
    double scale = transcoder->pace_scale;
    *pauses = pause && time + scale * part->ticks >= (double)pause->begin;
    return *pauses ? pace_until(runs, part->count, ((double)pause->begin - time) / scale) : *part;
}

static void take_part(struct transcoder *transcoder, struct progress *progress,
                      const struct pt_block_run *const *runs, struct pace_part part)
{
    while (part.count > 0) {
        bool pauses;
        struct pace_part now = before_pause(transcoder, runs, &part, progress->time, &pauses);
        const struct pause *pause = pauses_next(&transcoder->pauses);
        progress->instructions += now.instructions;
        progress->time =
            pauses ? (double)pause->begin : progress->time + transcoder->pace_scale * now.ticks;
        timeline_pass_part(&transcoder->coder.timeline, moment_of(progress->time),
                           progress->instructions);
        step_encoder_take_ways(&transcoder->coder, runs, now.count);
        if (pauses) {
            progress->time = (double)pause->end;
            take_pause(transcoder);
        }
        runs += now.count;
        part.count -= now.count;
        part.instructions -= now.instructions;
        part.ticks -= now.ticks;
    }
}

/* Where the pace changes, there is a packet with the time. */
static void take_ways_by_pace(struct transcoder *transcoder, const struct path_ways *ways)
{
    struct timeline *timeline = &transcoder->coder.timeline;
    const struct pt_block_run *const *runs = array_at(&transcoder->path.ways, ways->first);
    const struct pace_part *parts = array_at(&transcoder->path.parts, ways->first_part);
    struct progress progress = {.instructions = step_encoder_executed(&transcoder->coder)};
    progress.time = (double)timeline_at(timeline, progress.instructions);
    for (size_t i = 0; i < ways->parts; i++) {
        if (i > 0)
            step_encoder_set_time(&transcoder->coder, moment_of(progress.time));
        take_part(transcoder, &progress, runs, parts[i]);
        runs += parts[i].count;
    }
    uint64_t instructions = progress.instructions;
    double time = progress.time;
    timeline_set(timeline, moment_of(time), instructions);
    timeline_pass_part(timeline, transcoder->reached - pauses_to_come(&transcoder->pauses),
                       transcoder->reaches);
    limit_time(transcoder);
}

static void run_ways(struct transcoder *transcoder, const struct path_ways *ways)
{
    if (transcoder->pace_scale > 0)
        take_ways_by_pace(transcoder, ways);
    else
        step_encoder_take_ways(&transcoder->coder, array_at(&transcoder->path.ways, ways->first),
                               ways->count);
}

static void run_event(struct transcoder *transcoder, const struct log_record *event)
{
    enum tr_event kind = TR_EVENT_KIND(event->word);
    if (kind == TR_LOST || kind == TR_FORKED)
        transcoder->begins = true;
    step_encoder_event(&transcoder->coder, event);
}

static void run_step(struct transcoder *transcoder, const struct path_step *next)
{
    if (next->kind == PATH_WAYS)
        run_ways(transcoder, &next->ways);
    else if (next->kind == PATH_EVENT)
        run_event(transcoder, &next->event);
    else
        step_encoder_run(&transcoder->coder, next);
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
    return pt_encoder_instructions(transcoder->coder.encoder) + transcoder->path.instructions -
           path_begun(&transcoder->path);
}

/* How the time up to `time` is spread over the steps. */
static void plan_pace(struct transcoder *transcoder, uint64_t time)
{
    const struct timeline *timeline = &transcoder->coder.timeline;
    struct pace_part sum;
    const struct pt_block_run *const *ways = path_all_ways(&transcoder->path, &sum);
    transcoder->pace_scale = 0;
    if (timeline->counts_instructions || timeline->from == 0 || time <= timeline->from ||
        sum.count == 0)
        return;
    uint64_t instructions = transcoder->reaches - timeline->from_instructions;
    double passed = (double)(time - timeline->from);
    double expected = pace_expect(&transcoder->pace, sum.ticks, sum.instructions, instructions);
    if (!pace_learn(&transcoder->pace, ways, sum.count, instructions, passed, expected))
        return;
    transcoder->pace_scale = passed / expected;
    transcoder->ways->ticks_per_instruction = transcoder->pace.ticks_per_instruction;
}

/* The steps were done at `time`. */
static void reach_part(struct transcoder *transcoder, uint64_t time)
{
    transcoder->reached = time;
    transcoder->reaches = instructions_ahead(transcoder);
    uint64_t without_pauses = transcoder->reached - pauses_to_come(&transcoder->pauses);
    plan_pace(transcoder, without_pauses);
    timeline_pass(&transcoder->coder.timeline, without_pauses, transcoder->reaches);
    limit_time(transcoder);
    run_steps(transcoder);
    take_all_pauses(transcoder);
    transcoder->coder.timeline.logged = time;
    transcoder->pace_scale = 0;
    timeline_set(&transcoder->coder.timeline, time, instructions_ahead(transcoder));
    transcoder->coder.encoder->time_is_due = 1;
}

/* `ending` is the event after the steps, where they end with old code. */
static void cross_border(struct transcoder *transcoder, struct code_border *border,
                         const struct log_record *ending)
{
    struct pt_encoder *encoder = transcoder->coder.encoder;
    struct path_rest rest;
    if (!border->leaves_old &&
        border->pauses) { /* it need not be here that the thread did not run */
        border->before = border->after;
        border->pauses = false;
        border->pause++;
    }
    path_split(&transcoder->path, border->place, &rest);
    const struct pt_code_block *next = path_rest_first(&rest);
    transcoder->pauses.last = border->pause;
    reach_part(transcoder, border->before);
    if (!border->leaves_old) {
        pt_encoder_emit(encoder);
        transcoder->coder.new_code = true;
    } else if (next) {
        step_encoder_leave_old_code(&transcoder->coder, next);
    } else if (ending) {
        run_event(transcoder, ending);
    }
    transcoder->pauses.last = transcoder->pauses.all.count;
    if (border->pauses) {
        off_cpu_keep(transcoder->shared->off_cpu, &pauses_next(&transcoder->pauses)->period);
        transcoder->pauses.next++;
    }
    path_join(&transcoder->path, &rest);
    timeline_set(&transcoder->coder.timeline, border->after, pt_encoder_instructions(encoder));
    encoder->time_is_due = 1;
}

static struct border_scope border_scope(const struct transcoder *transcoder)
{
    const struct transcoder_shared *shared = transcoder->shared;
    return (struct border_scope){
        .path = &transcoder->path,
        .pauses = &transcoder->pauses,
        .changes = shared->changes,
        .cursor = transcoder->changes,
        .pid = transcoder->slot->pid,
        .tsc_hz = shared->arena->options.tsc_hz,
        .from = transcoder->coder.timeline.from,
    };
}

static bool knows_changes(const struct transcoder *transcoder)
{
    const struct timeline *timeline = &transcoder->coder.timeline;
    return transcoder->shared->changes && !timeline->counts_instructions && timeline->from > 0;
}

/* Takes the steps up to the last border that code replaced up to `until` has; that is crossed at `*crossed`. Returns whether `ending`
 * was taken. */
static bool cross_borders(struct transcoder *transcoder, uint64_t until,
                          const struct log_record *ending, uint64_t *crossed)
{
    bool ended = false;
    uint64_t after = transcoder->coder.timeline.from;
    struct border_scope all = border_scope(transcoder);
    bool is_near = code_border_is_near(&all, until);
    transcoder->changes = all.cursor;
    if (!is_near)
        return false;
    path_expand_chains(&transcoder->path);
    for (;;) {
        struct border_scope scope = border_scope(transcoder);
        struct code_border border;
        if (!code_border_find(&scope, until, &after, &border))
            return ended;
        ended |= border.leaves_old && !transcoder->path.fragment &&
                 border.place.step == transcoder->path.steps.count && ending;
        cross_border(transcoder, &border, ending);
        *crossed = border.after;
    }
}

/* The steps so far were done at `time`, when all code replaced up to `until` was. An event that comes next, `ending`, has to be early
 * where it ends code that was replaced: returns whether it was taken. */
static bool reach_before(struct transcoder *transcoder, uint64_t time, uint64_t until,
                         const struct log_record *ending)
{
    bool ended = false;
    uint64_t least = 0;
    find_pauses(transcoder, time);
    if (knows_changes(transcoder))
        ended = cross_borders(transcoder, until, ending, &least);
    reach_part(transcoder, time > least ? time : least);
    transcoder->skipped_stamp = false;
    return ended;
}

static void reach(struct transcoder *transcoder, uint64_t time)
{
    reach_before(transcoder, time, time, NULL);
}

/* Whether the fragment that was entered last had run before `time`: its code has been replaced until then. */
static bool is_in_old_code(const struct transcoder *transcoder, uint64_t time)
{
    struct border_scope scope = border_scope(transcoder);
    return knows_changes(transcoder) && code_border_is_old(&scope, time);
}

/* Sideband records may be of that time. */
static void note_moment(struct transcoder *transcoder, uint64_t time)
{
    uint64_t instructions = pt_encoder_instructions(transcoder->coder.encoder);
    if (transcoder->coder.timeline.counts_instructions)
        moments_add(&transcoder->moments, time,
                    timeline_at(&transcoder->coder.timeline, instructions));
}

static void reach_unknown_time(struct transcoder *transcoder)
{
    pauses_clear(&transcoder->pauses);
    timeline_pass_unknown(&transcoder->coder.timeline);
    run_steps(transcoder);
}

/* The same, before the newest fragment begins at that time. Decoders take to new code when a packet has
 * its time: they need to know of all branches before. */
static void reach_entry(struct transcoder *transcoder)
{
    uint64_t new_code = transcoder->new_code_at;
    if (new_code > 0) {
        reach_before(transcoder, new_code - TR_MOMENT / 2, new_code, NULL);
        pt_encoder_emit(transcoder->coder.encoder);
        timeline_new_code(&transcoder->coder.timeline,
                          pt_encoder_instructions(transcoder->coder.encoder));
        note_moment(transcoder, new_code);
        transcoder->coder.new_code = true;
    }
    reach(transcoder, transcoder->next_entry);
    transcoder->next_entry = transcoder->new_code_at = 0;
}

/* An event, at the time that it has, after the steps so far. */
static void happen(struct transcoder *transcoder, const struct log_record *record)
{
    uint64_t time = log_value(record, 0);
    if (!reach_before(transcoder, time, time, record))
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

/* The copy was made in that block of the fragment that was entered last. Who begins to read there begins at that place. */
static void use_stack_copy(struct transcoder *transcoder, unsigned block)
{
    struct path *path = &transcoder->path;
    transcoder->has_stack_copy = transcoder->stack_copy_due = false;
    if (transcoder->begins) {
        path_event(path, &transcoder->stack_copy);
        path_begin(path, block);
    } else {
        path_reach(path, block);
        path_event(path, &transcoder->stack_copy);
    }
    transcoder->begins = false;
}

/* The fragment that the copy was made in has been entered. What else is recorded of its beginning follows, and comes first. */
static void take_stack_copy(struct transcoder *transcoder)
{
    const struct fragment *fragment = transcoder->path.fragment;
    unsigned block = block_of(fragment, log_value(&transcoder->stack_copy, 2));
    if (block == 0)
        transcoder->stack_copy_due = true;
    else if (block < fragment->block_count)
        use_stack_copy(transcoder, block);
    else
        transcoder->has_stack_copy = false;
}

static bool is_of_beginning(const struct log_record *record)
{
    switch ((enum tr_event)TR_EVENT_KIND(record->word)) {
    case TR_VALUES:
    case TR_MARK:
        return true;
    case TR_STAMP:
        return TR_EVENT_PAYLOAD(record->word) == TR_STAMP_ENTRY;
    default:
        return false;
    }
}

/* Nothing more of the fragment's beginning follows. */
static void use_due_stack_copy(struct transcoder *transcoder)
{
    if (transcoder->stack_copy_due)
        use_stack_copy(transcoder, 0);
}

/* A handler is the first that runs: the copy shows the callers of what it has interrupted. */
static void use_copy_of_interrupted(struct transcoder *transcoder, const struct log_record *handler)
{
    const struct log_record *copy = &transcoder->stack_copy;
    if (!transcoder->has_stack_copy || TR_EVENT_KIND(copy->word) != TR_CALLS ||
        log_value(copy, 2) != log_value(handler, 2))
        return;
    transcoder->has_stack_copy = false;
    path_event(&transcoder->path, copy);
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
        take_stack_copy(transcoder);
    if (!transcoder->stack_copy_due)
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
        /* A thread that was off its processor since the entry may have gone on in old code; the next stamp is of other code. */
        if (!transcoder->skipped_stamp && is_in_old_code(transcoder, time))
            transcoder->skipped_stamp = true;
        else
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
        path_load(path, &(struct stack_load){.before = log_value(record, 0),
                                             .after = log_value(record, 2)});
        return true;
    case TR_COPIED:
        path_number(path, (struct stack_numbers){(uint32_t)log_value(record, 0),
                                                 (uint32_t)log_value(record, 2)});
        return true;
    case TR_CALLS:
    case TR_SWITCHED:
        transcoder->stack_copy = *record;
        transcoder->has_stack_copy = true;
        return true;
    case TR_PARTIAL:
        return path_cut(path, log_value(record, 0), TR_EVENT_PAYLOAD(record->word), error);
    case TR_STOP:
    case TR_OUTSIDE:
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
        use_copy_of_interrupted(transcoder, record);
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
    bool is_entry = record->word < TR_EVENT;
    if (is_entry || !is_of_beginning(record))
        use_due_stack_copy(transcoder);
    bool ok = is_entry ? enter(transcoder, record, &why) : take_event(transcoder, record, &why);
    return ok || refuse_record(transcoder, record, &why, error);
}

/* A record makes no sense: what it stood for is missing. */
static void refuse(struct transcoder *transcoder, const struct error *error)
{
    if (transcoder->damage.code == ERROR_NONE)
        transcoder->damage = *error;
    use_due_stack_copy(transcoder);
    path_abandon(&transcoder->path);
    reach_unknown_time(transcoder);
    transcoder->begins = true;
    step_encoder_lose(&transcoder->coder);
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

void transcoder_hurry(struct transcoder *transcoder, bool hurry)
{
    transcoder->path.hurries = hurry;
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
    use_due_stack_copy(transcoder);
    path_abandon(&transcoder->path);
    reach_unknown_time(transcoder);
    step_encoder_flush(&transcoder->coder);
    uint32_t end = atomic_load(&transcoder->slot->ended);
    atomic_store(&transcoder->coder.file.header->ended, end != TR_SLOT_RUNS);
    if (end == TR_SLOT_NO_SPACE)
        atomic_store(&transcoder->coder.file.header->out_of_space, 1);
}
