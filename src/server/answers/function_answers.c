/* /api/table, /api/calls and /api/find: functions, added up. */
#include "analysis/valued_search.h"
#include "base/memory.h"
#include "index/function_table.h"
#include "server/answers/name_pattern.h"
#include "server/answers/query.h"
#include "server/api.h"

#include <stdlib.h>
#include <string.h>

enum {
    ROWS_MAX = 10000,
    ROWS_STANDARD = 1000,
    SLOWEST_MAX = 1000,
    SLOWEST_STANDARD = 20,
    COLUMNS_MAX = 400,
    MATCHES_MAX = 5000,
    MATCHES_STANDARD = 200,
};

/* ---- the table ---- */

enum table_order { BY_SELF, BY_TOTAL, BY_CALLS, BY_MAX, BY_ON_CPU };

static uint64_t sort_key(const struct function_row *row, enum table_order order)
{
    switch (order) {
    case BY_TOTAL:
        return row->total;
    case BY_CALLS:
        return row->calls;
    case BY_MAX:
        return row->max;
    case BY_ON_CPU:
        return row->total - row->off_cpu;
    default:
        return row->self;
    }
}

/* Greatest first; of equals the smaller id. */
static int compare_rows(const void *a, const void *b, void *context)
{
    const struct function_row *left = a, *right = b;
    const enum table_order order = *(enum table_order *)context;
    uint64_t one = sort_key(left, order), other = sort_key(right, order);
    if (one != other)
        return one < other ? 1 : -1;
    return left->group < right->group ? -1 : left->group > right->group;
}

static const char *function_name(const struct query *query, uint32_t function)
{
    return trace_index_function(query->index, function).name;
}

static void write_row(struct json_text *json, const struct query *query,
                      const struct function_row *row)
{
    json_text_open(json, '{');
    json_text_member_number(json, "group", row->group);
    json_text_member_string(json, "name", function_name(query, row->group));
    json_text_member_number(json, "calls", row->calls);
    json_text_member_number(json, "total", row->total);
    json_text_member_number(json, "self", row->self);
    json_text_member_number(json, "offCpu", row->off_cpu);
    json_text_member_number(json, "whole", row->whole);
    json_text_member_number(json, "min", row->whole ? row->min : 0);
    json_text_member_number(json, "max", row->max);
    json_text_key(json, "mean");
    json_text_real(json, row->whole ? (double)row->sum / (double)row->whole : 0);
    json_text_close(json, '}');
}

static bool write_table(const struct query *query, const struct array *rows, size_t top,
                        struct http_answer *answer, struct error *error)
{
    struct json_text json;
    if (!query_json_open(answer, &json, error))
        return false;
    size_t shown = rows->count < top ? rows->count : top;
    const struct off_cpu_groups off_cpu_groups = index_off_cpu_groups(query->index);
    uint64_t time = 0, omitted = 0, off_cpu = 0;
    json_text_open(&json, '{');
    json_text_key(&json, "rows");
    json_text_open(&json, '[');
    for (size_t i = 0; i < rows->count; i++) {
        const struct function_row *row = array_at(rows, i);
        time += row->self;
        if (off_cpu_groups_has(off_cpu_groups, row->group))
            off_cpu += row->self;
        if (i < shown)
            write_row(&json, query, row);
        else
            omitted += row->self;
    }
    json_text_close(&json, ']');
    json_text_member_number(&json, "omittedRows", rows->count - shown);
    json_text_member_number(&json, "omittedSelf", omitted);
    json_text_member_number(&json, "time", time);
    json_text_member_number(&json, "offCpu", off_cpu);
    json_text_close(&json, '}');
    return query_json_close(&json, error);
}

bool answer_table(const struct query *query, struct http_answer *answer, struct error *error)
{
    static const char *const orders[] = {
        [BY_SELF] = "self", [BY_TOTAL] = "total",  [BY_CALLS] = "calls",
        [BY_MAX] = "max",   [BY_ON_CPU] = "onCpu", NULL};
    struct index_range range;
    size_t choice;
    uint64_t top;
    if (!query_range(query, &range, error) ||
        !parameter_number(query->parameters, "top", ROWS_STANDARD, 1, ROWS_MAX, &top, error) ||
        !parameter_choice(query->parameters, "sort", orders, &choice, error))
        return false;
    struct array ids, rows = array_of(sizeof(struct function_row));
    struct index_tracks tracks;
    enum table_order order = (enum table_order)choice;
    bool ok = query_tracks(query, &ids, &tracks, error) &&
              index_function_table(query->index, tracks, range, &rows, error);
    if (ok && rows.count > 0)
        qsort_r(rows.elements, rows.count, sizeof(struct function_row), compare_rows, &order);
    ok = ok && write_table(query, &rows, (size_t)top, answer, error);
    array_free(&rows);
    array_free(&ids);
    return ok;
}

/* ---- the calls of one ---- */

static void write_histogram(struct json_text *json, const struct call_statistics *statistics)
{
    json_text_key(json, "histogram");
    json_text_open(json, '[');
    for (unsigned bin = 0; bin < CALL_BINS; bin++) {
        if (statistics->bins[bin] == 0)
            continue;
        json_text_open(json, '{');
        json_text_member_number(json, "from", call_bin_first(bin));
        json_text_member_number(json, "to",
                                bin + 1 < CALL_BINS ? call_bin_first(bin + 1) : UINT64_MAX);
        json_text_member_number(json, "count", statistics->bins[bin]);
        json_text_close(json, '}');
    }
    json_text_close(json, ']');
}

static void write_slow_call(struct json_text *json, const struct listed_call *listed)
{
    const struct call_place *call = &listed->place;
    json_text_open(json, '{');
    json_text_member_number(json, "track", call->track);
    json_text_member_number(json, "depth", call->span.depth);
    json_text_member_number(json, "start", call->span.start);
    json_text_member_number(json, "end", call->span.end);
    json_text_member_number(json, "offCpu", listed->off_cpu);
    json_text_key(json, "cut");
    json_text_bool(json, index_is_cut(&call->span));
    json_text_close(json, '}');
}

/* Cells are [column, shortest length of the bin, calls, track, depth, start, end], the last four of the
 * longest call. */
static void write_map(struct json_text *json, const struct call_statistics *statistics)
{
    json_text_member_number(json, "column", statistics->column);
    json_text_key(json, "map");
    json_text_open(json, '[');
    for (size_t i = 0; i < statistics->map.count; i++) {
        const struct call_cell *cell = array_at(&statistics->map, i);
        const struct call_place *longest = &cell->longest;
        const uint64_t numbers[] = {
            cell->column,        call_bin_first(cell->bin), cell->calls,      longest->track,
            longest->span.depth, longest->span.start,       longest->span.end};
        json_text_open(json, '[');
        for (size_t n = 0; n < sizeof numbers / sizeof *numbers; n++)
            json_text_number(json, numbers[n]);
        json_text_close(json, ']');
    }
    json_text_close(json, ']');
}

static bool write_calls(const struct call_statistics *statistics, struct http_answer *answer,
                        struct error *error)
{
    struct json_text json;
    if (!query_json_open(answer, &json, error))
        return false;
    bool any = statistics->whole > 0;
    json_text_open(&json, '{');
    json_text_member_number(&json, "calls", statistics->calls);
    json_text_member_number(&json, "recursive", statistics->recursive);
    json_text_member_number(&json, "total", statistics->total);
    json_text_member_number(&json, "offCpu", statistics->off_cpu);
    json_text_member_number(&json, "whole", statistics->whole);
    json_text_member_number(&json, "sum", statistics->sum);
    json_text_member_number(&json, "min", any ? statistics->min : 0);
    json_text_member_number(&json, "max", statistics->max);
    json_text_member_number(&json, "median", any ? statistics->median : 0);
    json_text_member_number(&json, "p99", any ? statistics->p99 : 0);
    write_histogram(&json, statistics);
    json_text_key(&json, "slowest");
    json_text_open(&json, '[');
    for (size_t i = 0; i < statistics->slowest.count; i++)
        write_slow_call(&json, array_at(&statistics->slowest, i));
    json_text_close(&json, ']');
    if (statistics->column)
        write_map(&json, statistics);
    json_text_close(&json, '}');
    return query_json_close(&json, error);
}

bool answer_calls(const struct query *query, struct http_answer *answer, struct error *error)
{
    static const char *const orders[] = {"length", "onCpu", NULL};
    struct calls_request request = {0};
    uint64_t slowest, columns;
    size_t order;
    if (!query_group(query, &request.group, error) || !query_range(query, &request.range, error) ||
        !parameter_number(query->parameters, "slowest", SLOWEST_STANDARD, 0, SLOWEST_MAX, &slowest,
                          error) ||
        !parameter_number(query->parameters, "shortest", 0, 0, UINT64_MAX, &request.lengths.from,
                          error) ||
        !parameter_number(query->parameters, "below", 0, 0, UINT64_MAX, &request.lengths.to,
                          error) ||
        !parameter_number(query->parameters, "columns", 0, 0, COLUMNS_MAX, &columns, error) ||
        !parameter_choice(query->parameters, "by", orders, &order, error))
        return false;
    request.slowest = (size_t)slowest;
    request.columns = (uint32_t)columns;
    request.off_cpu = off_cpu_times_known(query->api->off_cpu) ? query->api->off_cpu : NULL;
    request.by_on_cpu = order > 0 && request.off_cpu;
    struct array ids;
    struct call_statistics statistics = {0};
    bool ok = query_tracks(query, &ids, &request.tracks, error) &&
              index_calls(query->index, &request, &statistics, error) &&
              write_calls(&statistics, answer, error);
    call_statistics_free(&statistics);
    array_free(&ids);
    return ok;
}

/* ---- finding by name ---- */

struct match {
    uint32_t group;
    uint64_t calls;
};

static int compare_matches(const void *a, const void *b)
{
    const struct match *left = a, *right = b;
    if (left->calls != right->calls)
        return left->calls < right->calls ? 1 : -1;
    return left->group < right->group ? -1 : left->group > right->group;
}

/* Functions are looked at by group: the others have the same name. */
static void sort_matches(struct array *matches)
{
    if (matches->count > 0)
        qsort(matches->elements, matches->count, sizeof(struct match), compare_matches);
}

static void find_matches(const struct query *query, const struct name_pattern *pattern,
                         struct array *matches)
{
    for (uint32_t id = 0; id < query->facts->functions; id++) {
        struct index_function function = trace_index_function(query->index, id);
        if (function.group != id || !name_pattern_matches(pattern, function.name))
            continue;
        *(struct match *)array_add(matches) =
            (struct match){id, trace_index_group_calls(query->index, id)};
    }
    sort_matches(matches);
}

static bool write_matches(const struct query *query, const struct array *matches, uint64_t limit,
                          struct http_answer *answer, struct error *error)
{
    struct json_text json;
    if (!query_json_open(answer, &json, error))
        return false;
    json_text_open(&json, '{');
    json_text_key(&json, "matches");
    json_text_open(&json, '[');
    for (size_t i = 0; i < matches->count && i < limit; i++) {
        const struct match *match = array_at(matches, i);
        json_text_open(&json, '{');
        json_text_member_number(&json, "group", match->group);
        json_text_member_string(&json, "name", function_name(query, match->group));
        json_text_member_number(&json, "calls", match->calls);
        json_text_close(&json, '}');
    }
    json_text_close(&json, ']');
    json_text_member_number(&json, "total", matches->count);
    json_text_close(&json, '}');
    return query_json_close(&json, error);
}

/* Functions by name, with the number of their calls that fulfil the condition, if there are any. */
static bool find_valued(const struct query *query, const struct value_condition *condition,
                        struct array *matches, struct error *error)
{
    struct name_pattern pattern;
    if (!name_pattern_open(&pattern, condition->function, false, error))
        return false;
    uint32_t count = query->facts->functions;
    bool *is_wanted = memory_allocate_zeroed((count + 1) * sizeof *is_wanted);
    uint64_t *calls = memory_allocate_zeroed((count + 1) * sizeof *calls);
    for (uint32_t id = 0; id < count; id++)
        is_wanted[id] = name_pattern_matches(&pattern, function_name(query, id));
    name_pattern_close(&pattern);
    bool ok = valued_search_count(query->index, condition, is_wanted, calls, error);
    for (uint32_t id = 0; ok && id < count; id++)
        if (calls[id])
            *(struct match *)array_add(matches) = (struct match){id, calls[id]};
    sort_matches(matches);
    free(is_wanted);
    free(calls);
    return ok;
}

static bool find_named(const struct query *query, const char *text, bool is_expression,
                       struct array *matches, struct error *error)
{
    struct name_pattern pattern;
    if (!name_pattern_open(&pattern, text, is_expression, error))
        return false;
    find_matches(query, &pattern, matches);
    name_pattern_close(&pattern);
    return true;
}

bool answer_find(const struct query *query, struct http_answer *answer, struct error *error)
{
    static const char *const modes[] = {"text", "regex", NULL};
    const char *text = parameters_find(query->parameters, "q");
    size_t mode;
    uint64_t limit;
    if (!text || !*text)
        return error_set(error, ERROR_USAGE, "there is nothing to be searched for.");
    if (!parameter_choice(query->parameters, "mode", modes, &mode, error) ||
        !parameter_number(query->parameters, "limit", MATCHES_STANDARD, 1, MATCHES_MAX, &limit,
                          error))
        return false;
    struct array matches = array_of(sizeof(struct match));
    struct value_condition condition;
    bool is_condition = mode == 0 && value_condition_parse(&condition, text);
    bool ok = is_condition ? find_valued(query, &condition, &matches, error)
                           : find_named(query, text, mode == 1, &matches, error);
    if (is_condition)
        value_condition_free(&condition);
    ok = ok && write_matches(query, &matches, limit, answer, error);
    array_free(&matches);
    return ok;
}
