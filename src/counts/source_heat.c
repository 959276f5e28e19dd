#include "counts/source_heat.h"

#include "base/memory.h"
#include "counts/line_counts.h"
#include "stack/timeline.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { KEPT = 4 }; /* parts whose counts are kept */

/* A part that was counted. */
struct counted {
    bool is_there;
    struct heat_part part; /* owns its function */
    bool is_by_time;
    uint64_t used; /* heat_counter.questions when it was last asked of */
    struct code_counts counts;
    struct line_counts lines;
};

struct heat_counter {
    pthread_mutex_t lock;
    char *path;                /* of the recording */
    struct timeline *timeline; /* NULL: it is not open yet */
    struct error refused;      /* why it cannot be opened, if it cannot */
    uint64_t questions;
    struct counted kept[KEPT];
};

struct heat_counter *heat_counter_new(const char *path)
{
    struct heat_counter *counter = memory_allocate_zeroed(sizeof *counter);
    pthread_mutex_init(&counter->lock, NULL);
    counter->path = memory_copy_string(path);
    return counter;
}

static void free_counted(struct counted *counted)
{
    if (!counted->is_there)
        return;
    free((char *)counted->part.function);
    line_counts_free(&counted->lines);
    code_counts_free(&counted->counts);
    *counted = (struct counted){0};
}

void heat_counter_free(struct heat_counter *counter)
{
    if (!counter)
        return;
    for (size_t i = 0; i < KEPT; i++)
        free_counted(&counter->kept[i]);
    if (counter->timeline)
        timeline_free(counter->timeline);
    pthread_mutex_destroy(&counter->lock);
    free(counter->path);
    free(counter);
}

/* ---- the recording ---- */

static bool open_recording(struct heat_counter *counter, struct error *error)
{
    const struct flow_options options = {.no_inlined = true};
    counter->timeline = timeline_decode(counter->path, &options, error);
    if (!counter->timeline)
        return false;
    const struct flow *flow = timeline_flow(counter->timeline);
    if (!flow_is_sampled(flow) && flow_perf_data(flow)->has_setup)
        return true;
    timeline_free(counter->timeline);
    counter->timeline = NULL;
    return error_set(error, ERROR_NOT_FOUND,
                     "samples and text do not say how often lines ran: that is known of recordings "
                     "of every branch alone.");
}

/* Once: what failed fails again. */
static bool is_open(struct heat_counter *counter, struct error *error)
{
    if (!counter->timeline && counter->refused.code == ERROR_NONE)
        open_recording(counter, &counter->refused);
    if (!counter->timeline)
        *error = counter->refused;
    return counter->timeline;
}

/* ---- counting ---- */

static void count_part(struct heat_counter *counter, const struct counted_part *part,
                       struct code_counts *counts)
{
    code_counts_collect(counts, timeline_flow(counter->timeline), part);
}

static const struct clock_conversion *clock_of(const struct heat_counter *counter)
{
    const struct pt_setup *setup = &flow_perf_data(timeline_flow(counter->timeline))->setup;
    return setup->has_clock ? &setup->clock : NULL;
}

static struct counted_part time_of(const struct heat_counter *counter, const struct heat_part *part)
{
    uint64_t origin = timeline_origin(counter->timeline).value;
    struct counted_part counted = {.clock = clock_of(counter), .pid = part->pid, .tid = part->tid};
    if (part->from == 0 && part->to == UINT64_MAX)
        return counted;
    counted.from.value = origin + part->from;
    counted.to.value = part->to > UINT64_MAX - origin ? UINT64_MAX : origin + part->to;
    return counted;
}

/* The call, by its number, where as many calls are met as the trace has: what the trace takes for a call may be a jump, or have
 * begun before the recording. */
static void count_call(struct heat_counter *counter, struct counted *counted)
{
    struct counted_part part = {.clock = clock_of(counter),
                                .pid = counted->part.pid,
                                .tid = counted->part.tid,
                                .call_of = counted->part.function,
                                .call = counted->part.call};
    count_part(counter, &part, &counted->counts);
    if (counted->counts.calls_met == counted->part.calls)
        return;
    code_counts_free(&counted->counts);
    part = time_of(counter, &counted->part);
    count_part(counter, &part, &counted->counts);
    counted->is_by_time = true;
}

static void count(struct heat_counter *counter, const struct heat_part *part,
                  struct counted *counted)
{
    *counted = (struct counted){.is_there = true, .part = *part};
    counted->part.function = part->function ? memory_copy_string(part->function) : NULL;
    if (part->function) {
        count_call(counter, counted);
    } else {
        const struct counted_part time = time_of(counter, part);
        count_part(counter, &time, &counted->counts);
        counted->is_by_time = time.from.value != 0 || time.to.value != 0;
    }
    line_counts_find(&counted->lines, &counted->counts);
}

static bool is_same_part(const struct heat_part *a, const struct heat_part *b)
{
    bool same_function = a->function && b->function ? strcmp(a->function, b->function) == 0
                                                    : a->function == b->function;
    return same_function && a->from == b->from && a->to == b->to && a->pid == b->pid &&
           a->tid == b->tid && a->call == b->call && a->calls == b->calls;
}

/* What was counted of the part, now or before. */
static const struct counted *counted_of(struct heat_counter *counter, const struct heat_part *part)
{
    struct counted *oldest = &counter->kept[0];
    uint64_t now = ++counter->questions;
    for (size_t i = 0; i < KEPT; i++) {
        struct counted *kept = &counter->kept[i];
        if (kept->is_there && is_same_part(&kept->part, part)) {
            kept->used = now;
            return kept;
        }
        if (kept->used < oldest->used)
            oldest = kept;
    }
    free_counted(oldest);
    count(counter, part, oldest);
    oldest->used = now;
    return oldest;
}

/* ---- the file's lines ---- */

/* The lines that are asked for. */
struct wanted_lines {
    uint32_t file, first, last;
};

static bool find_file(const struct line_counts *lines, const char *file, uint32_t *index)
{
    for (*index = 0; *index < lines->files.count; (*index)++)
        if (strcmp(*(const char **)array_at(&lines->files, *index), file) == 0)
            return true;
    return false;
}

/* 0: none of them. */
static uint32_t line_of(const struct counted *counted, size_t instruction,
                        const struct wanted_lines *wanted)
{
    uint32_t index = *(uint32_t *)array_at(&counted->lines.of_code, instruction);
    const struct line_count *line = index > 0 ? array_at(&counted->lines.lines, index - 1) : NULL;
    bool is_wanted = line && line->file == wanted->file && line->line >= wanted->first &&
                     line->line <= wanted->last;
    return is_wanted ? line->line : 0;
}

static void add_lines(const struct counted *counted, const struct wanted_lines *wanted,
                      struct source_heat *heat)
{
    for (size_t i = 0; i < counted->lines.lines.count; i++) {
        const struct line_count *line = array_at(&counted->lines.lines, i);
        if (line->file == wanted->file && line->line >= wanted->first && line->line <= wanted->last)
            *(struct heat_line *)array_add(&heat->lines) =
                (struct heat_line){line->line, line->count, line->cost};
    }
}

/* A call, or a jump to the beginning of another function, in place of one. NULL: neither. */
static const char *called_by(const struct code_counts *counts, const struct branch_count *branch)
{
    if (branch->kind != STEP_CALL && branch->kind != STEP_JUMP)
        return NULL;
    struct function_bounds to = code_counts_function(counts, &branch->to);
    if (branch->kind == STEP_JUMP &&
        (to.start != branch->to.offset ||
         (branch->from.file == branch->to.file && branch->from.offset >= to.start &&
          branch->from.offset < to.end)))
        return NULL;
    return symbols_function(counts->symbols, to.function)->name;
}

static void add_branches_at(const struct counted *counted, const struct instruction_count *at,
                            uint32_t line, struct source_heat *heat)
{
    const struct array *branches = &counted->counts.branches;
    struct heat_branch ways = {.line = line};
    bool is_conditional = false;
    for (size_t i = code_counts_first(branches, &at->at); i < branches->count; i++) {
        const struct branch_count *branch = array_at(branches, i);
        if (code_place_compare(&branch->from, &at->at) != 0)
            break;
        const char *called = called_by(&counted->counts, branch);
        if (called)
            *(struct heat_call *)array_add(&heat->calls) =
                (struct heat_call){line, called, branch->count};
        is_conditional |= branch->kind == STEP_TAKEN || branch->kind == STEP_NOT_TAKEN;
        ways.taken += branch->kind == STEP_TAKEN ? branch->count : 0;
        ways.not_taken += branch->kind == STEP_NOT_TAKEN ? branch->count : 0;
    }
    if (is_conditional)
        *(struct heat_branch *)array_add(&heat->branches) = ways;
}

static int compare_branches(const void *left, const void *right)
{
    const struct heat_branch *a = left, *b = right;
    if (a->line != b->line)
        return a->line < b->line ? -1 : 1;
    if (a->taken != b->taken)
        return a->taken > b->taken ? -1 : 1;
    return (a->not_taken < b->not_taken) - (a->not_taken > b->not_taken);
}

static int compare_calls(const void *left, const void *right)
{
    const struct heat_call *a = left, *b = right;
    if (a->line != b->line)
        return a->line < b->line ? -1 : 1;
    return strcmp(a->function, b->function);
}

static void sort(struct array *items, int (*compare)(const void *, const void *))
{
    if (items->count > 1)
        qsort(items->elements, items->count, items->element_size, compare);
}

/* Calls of one function by one line are one. */
static void merge_calls(struct array *calls)
{
    size_t kept = 0;
    sort(calls, compare_calls);
    for (size_t i = 0; i < calls->count; i++) {
        const struct heat_call *next = array_at(calls, i);
        struct heat_call *last = kept > 0 ? array_at(calls, kept - 1) : NULL;
        if (last && compare_calls(last, next) == 0)
            last->count += next->count;
        else
            *(struct heat_call *)array_at(calls, kept++) = *next;
    }
    calls->count = kept;
}

static void add_branches(const struct counted *counted, const struct wanted_lines *wanted,
                         struct source_heat *heat)
{
    for (size_t i = 0; i < counted->counts.instructions.count; i++) {
        uint32_t line = line_of(counted, i, wanted);
        if (line > 0)
            add_branches_at(counted, array_at(&counted->counts.instructions, i), line, heat);
    }
    sort(&heat->branches, compare_branches);
    merge_calls(&heat->calls);
}

bool heat_counter_count(struct heat_counter *counter, const struct heat_part *part,
                        const char *file, uint32_t first, uint32_t last, struct source_heat *heat,
                        struct error *error)
{
    *heat = (struct source_heat){
        .lines = array_of(sizeof(struct heat_line)),
        .branches = array_of(sizeof(struct heat_branch)),
        .calls = array_of(sizeof(struct heat_call)),
    };
    pthread_mutex_lock(&counter->lock);
    bool ok = is_open(counter, error);
    if (ok) {
        const struct counted *counted = counted_of(counter, part);
        struct wanted_lines wanted = {.first = first, .last = last};
        heat->executed = counted->counts.executed;
        heat->is_by_time = counted->is_by_time;
        if (find_file(&counted->lines, file, &wanted.file)) {
            add_lines(counted, &wanted, heat);
            add_branches(counted, &wanted, heat);
        }
    }
    pthread_mutex_unlock(&counter->lock);
    return ok;
}
