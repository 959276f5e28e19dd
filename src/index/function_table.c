#include "index/function_table.h"

#include "base/memory.h"
#include "index/off_cpu_times.h"
#include "index/open_groups.h"
#include "index/scan_parts.h"
#include "index/span_scan.h"

#include <stdlib.h>

struct table {
    const struct trace_index *index;
    struct index_range range;
    struct function_row *rows; /* by group; owned */
    struct off_cpu_groups off_cpu;
};

/* What one thread has found. */
struct table_part {
    const struct table *table;
    struct function_row *rows; /* by group; owned */
    struct open_groups open;
    uint64_t
        *counted; /* by group: the number of the last time off a processor that it got; owned */
    uint64_t off_cpu_count;
};

static struct function_row *new_rows(const struct trace_index *index)
{
    return memory_allocate_zeroed((index->facts.functions + 1) * sizeof(struct function_row));
}

static void count_cut_call(struct function_row *row, const struct index_span *span,
                           struct index_range range)
{
    row->start_not_seen += (span->flags & SPAN_START_INFERRED) != 0;
    if (span->ending == SPAN_END_OF_TRACE)
        row->still_open++;
    else
        row->end_not_seen += span->flags & SPAN_END_INFERRED || span->ending == SPAN_END_GAP;
    row->beyond_range += span->start < range.from || span->end > range.to;
    uint64_t length = span->end - span->start;
    bool is_first = row->calls == row->whole + 1;
    if (is_first || length < row->cut_min)
        row->cut_min = length;
    if (length > row->cut_max)
        row->cut_max = length;
    row->cut_sum += length;
}

static void note_longest(struct function_row *row, const struct call_place *call)
{
    uint64_t length = call->span.end - call->span.start;
    if (row->whole == 0 || length > row->max ||
        (length == row->max && call_place_compare(call, &row->longest) < 0)) {
        row->longest = *call;
        row->max = length;
    }
}

static void count_call(struct function_row *row, const struct index_span *span, uint32_t track,
                       struct index_range range)
{
    row->calls++;
    if (!is_whole_call(span, range)) {
        count_cut_call(row, span, range);
        return;
    }
    uint64_t length = span->end - span->start;
    if (row->whole == 0 || length < row->min)
        row->min = length;
    if (row->whole == 0 || length >= row->max)
        note_longest(row, &(struct call_place){track, *span});
    row->sum += length;
    row->whole++;
}

/* All that is active was not running, recursive or not. */
static void add_off_cpu(struct table_part *part, uint64_t time)
{
    part->off_cpu_count++;
    for (uint32_t i = 0; i < part->open.depth; i++) {
        uint32_t group = part->open.path[i];
        if (group == NO_GROUP || part->counted[group] == part->off_cpu_count)
            continue;
        part->counted[group] = part->off_cpu_count;
        part->rows[group].off_cpu += time;
    }
}

static void add_span(struct table_part *part, const struct scan_part *scanned,
                     const struct index_span *span)
{
    uint32_t group = index_group_of(part->table->index, span->function);
    bool is_outermost = open_groups_enter(&part->open, span->depth, group);
    if (!range_overlaps(scanned->range, span))
        return;
    struct function_row *row = &part->rows[group];
    uint64_t time = range_clip(scanned->range, span);
    uint32_t caller = open_groups_caller(&part->open, span->depth);
    row->self += time;
    if (caller != NO_GROUP)
        part->rows[caller].self -= time;
    if (is_outermost)
        row->total += time;
    if (is_outermost && off_cpu_groups_has(part->table->off_cpu, group))
        add_off_cpu(part, time);
    if (part_counts(scanned, span))
        count_call(row, span, scanned->track, part->table->range);
}

static bool scan_part(void *state, const struct scan_part *scanned, struct error *error)
{
    struct table_part *part = state;
    const struct index_span *spans;
    struct span_scan scan = span_scan_begin(part->table->index, scanned->track, scanned->range);
    open_groups_clear(&part->open);
    for (size_t count; (count = span_scan_next(&scan, &spans, error)) > 0;)
        for (size_t i = count; i-- > 0;)
            add_span(part, scanned, &spans[i]);
    return span_scan_end(&scan);
}

static void *begin_part(void *context)
{
    const struct table *table = context;
    struct table_part *part = memory_allocate_zeroed(sizeof *part);
    part->table = table;
    part->rows = new_rows(table->index);
    part->open = open_groups_new(table->index->facts.functions);
    part->counted =
        memory_allocate_zeroed(((size_t)table->index->facts.functions + 1) * sizeof *part->counted);
    return part;
}

static void add_row(struct function_row *row, const struct function_row *other)
{
    bool any_cut = row->calls > row->whole, other_cut = other->calls > other->whole;
    if (other_cut && (!any_cut || other->cut_min < row->cut_min))
        row->cut_min = other->cut_min;
    if (other->cut_max > row->cut_max)
        row->cut_max = other->cut_max;
    row->cut_sum += other->cut_sum;
    row->calls += other->calls;
    row->total += other->total;
    row->self += other->self;
    row->off_cpu += other->off_cpu;
    if (other->whole > 0 && (row->whole == 0 || other->min < row->min))
        row->min = other->min;
    if (other->whole > 0)
        note_longest(row, &other->longest);
    row->start_not_seen += other->start_not_seen;
    row->end_not_seen += other->end_not_seen;
    row->still_open += other->still_open;
    row->beyond_range += other->beyond_range;
    row->whole += other->whole;
    row->sum += other->sum;
}

static void end_part(void *context, void *state)
{
    struct table *table = context;
    struct table_part *part = state;
    for (uint32_t i = 0; i < table->index->facts.functions; i++)
        add_row(&table->rows[i], &part->rows[i]);
    free(part->rows);
    free(part->counted);
    open_groups_free(&part->open);
    free(part);
}

bool index_function_table(const struct trace_index *index, struct index_tracks tracks,
                          struct index_range range, struct array *rows, struct error *error)
{
    struct table table = {.index = index,
                          .range = range,
                          .rows = new_rows(index),
                          .off_cpu = index_off_cpu_groups(index)};
    const struct part_scanner scanner = {&table, begin_part, scan_part, end_part};
    bool ok = scan_parts(index, tracks, range, &scanner, error);
    for (uint32_t i = 0; ok && i < index->facts.functions; i++) {
        table.rows[i].group = i;
        if (table.rows[i].calls > 0)
            array_add_all(rows, &table.rows[i], 1);
    }
    free(table.rows);
    return ok;
}
