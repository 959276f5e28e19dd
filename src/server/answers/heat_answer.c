/* /api/heat: how often the lines of a function's source file ran, which way branches went, and what was called where. Of a
 * range, or of one call (counts/source_heat.h). */
#include "counts/source_heat.h"
#include "index/call_ordinal.h"
#include "server/answers/query.h"
#include "server/api.h"

#include <string.h>

enum { LINES_MAX = 1500, CALLS_MAX = 10000, BRANCHES_MAX = 10000 };

/* ---- which part ---- */

/* The number of the function's calls in the track, up to the one at `place`, and in all. */
static bool number_call(const struct query *query, uint32_t group, const struct call_place *place,
                        struct heat_part *part, struct error *error)
{
    const struct index_tracks tracks = {.ids = &place->track, .count = 1};
    const struct call_place end = {.track = place->track,
                                   .span = {.depth = UINT32_MAX, .start = UINT64_MAX}};
    struct call_place last;
    return index_call_ordinal(query->index, tracks, group, place, &part->call, error) &&
           index_next_call(query->index, tracks, group, &end, false, &last, &part->calls, error);
}

/* The call that is at `depth` at `time`. What is inlined, or stands for a gap, is no call, but its time is known. */
static bool choose_call(const struct query *query, struct call_place *place, uint64_t time,
                        uint32_t depth, struct heat_part *part, struct error *error)
{
    struct array stack = array_of(sizeof(struct index_span));
    bool ok = index_span_at(query->index, place->track, depth, time, &stack, error);
    if (ok && stack.count == 0)
        ok = error_set(error, ERROR_NOT_FOUND, "there is no call at depth %u at that time.", depth);
    if (ok) {
        place->span = *(struct index_span *)array_at(&stack, stack.count - 1);
        struct index_function function = trace_index_function(query->index, place->span.function);
        struct index_track track = trace_index_track(query->index, place->track);
        *part = (struct heat_part){.from = place->span.start,
                                   .to = place->span.end + (place->span.end == place->span.start),
                                   .pid = track.pid,
                                   .tid = track.tid};
        if (function.colour != INDEX_INLINED && function.colour != INDEX_SPECIAL) {
            part->function = function.name;
            ok = number_call(query, function.group, place, part, error);
        }
    }
    array_free(&stack);
    return ok;
}

static bool choose_thread(const struct query *query, struct heat_part *part, struct error *error)
{
    uint32_t id;
    if (!query_track(query, &id, error))
        return false;
    struct index_track track = trace_index_track(query->index, id);
    part->pid = track.pid;
    part->tid = track.tid;
    return true;
}

/* A call, where the parameter `depth` is given; else a range, of one thread where `track` is given. */
static bool read_part(const struct query *query, struct heat_part *part, struct error *error)
{
    struct index_range range;
    if (parameters_find(query->parameters, "depth")) {
        struct call_place place = {0};
        uint64_t depth, time;
        return query_track(query, &place.track, error) &&
               parameter_required(query->parameters, "depth", UINT32_MAX, &depth, error) &&
               parameter_required(query->parameters, "time", UINT64_MAX, &time, error) &&
               choose_call(query, &place, time, (uint32_t)depth, part, error);
    }
    if (!query_range(query, &range, error))
        return false;
    bool is_whole = range.from == 0 && range.to >= query->facts->duration;
    *part = (struct heat_part){.from = range.from, .to = is_whole ? UINT64_MAX : range.to};
    return !parameters_find(query->parameters, "track") || choose_thread(query, part, error);
}

/* ---- the answer ---- */

static void write_lines(struct json_text *json, const struct array *lines)
{
    json_text_key(json, "lines");
    json_text_open(json, '[');
    for (size_t i = 0; i < lines->count; i++) {
        const struct heat_line *line = array_at(lines, i);
        json_text_open(json, '[');
        json_text_number(json, line->line);
        json_text_number(json, line->count);
        json_text_number(json, line->cost);
        json_text_close(json, ']');
    }
    json_text_close(json, ']');
}

static void write_branches(struct json_text *json, const struct array *branches)
{
    json_text_key(json, "branches");
    json_text_open(json, '[');
    for (size_t i = 0; i < branches->count && i < BRANCHES_MAX; i++) {
        const struct heat_branch *branch = array_at(branches, i);
        json_text_open(json, '[');
        json_text_number(json, branch->line);
        json_text_number(json, branch->taken);
        json_text_number(json, branch->not_taken);
        json_text_close(json, ']');
    }
    json_text_close(json, ']');
}

/* UINT32_MAX: the trace shows no such function. */
static uint32_t group_named(const struct query *query, const char *name)
{
    for (uint32_t id = 0; id < query->facts->functions; id++) {
        struct index_function function = trace_index_function(query->index, id);
        if (function.colour != INDEX_INLINED && strcmp(function.name, name) == 0)
            return function.group;
    }
    return UINT32_MAX;
}

static void write_calls(struct json_text *json, const struct query *query,
                        const struct array *calls)
{
    json_text_key(json, "calls");
    json_text_open(json, '[');
    for (size_t i = 0; i < calls->count && i < CALLS_MAX; i++) {
        const struct heat_call *call = array_at(calls, i);
        uint32_t group = group_named(query, call->function);
        json_text_open(json, '[');
        json_text_number(json, call->line);
        json_text_string(json, call->function);
        json_text_number(json, call->count);
        if (group == UINT32_MAX)
            json_text_null(json);
        else
            json_text_number(json, group);
        json_text_close(json, ']');
    }
    json_text_close(json, ']');
}

static void write_heat(struct json_text *json, const struct query *query,
                       const struct source_heat *heat, const char *refused)
{
    json_text_open(json, '{');
    json_text_key(json, "refused");
    if (refused)
        json_text_string(json, refused);
    else
        json_text_null(json);
    json_text_member_number(json, "executed", heat->executed);
    json_text_key(json, "byTime");
    json_text_bool(json, heat->is_by_time);
    write_lines(json, &heat->lines);
    write_branches(json, &heat->branches);
    write_calls(json, query, &heat->calls);
    json_text_close(json, '}');
}

/* ERROR_NOT_FOUND: it is not known. */
static bool count(const struct query *query, uint32_t id, const struct heat_part *part,
                  uint64_t first, uint64_t last, struct source_heat *heat, struct error *error)
{
    struct index_function function = trace_index_function(query->index, id);
    const struct line_counter *counter = &query->api->line_counter;
    if (!counter->counter)
        return error_set(error, ERROR_NOT_FOUND,
                         "A trace does not say how often lines ran. Show the recording that it was "
                         "made of: magic-trace view DIR (-working-directory keeps it).");
    if (!function.file)
        return error_set(error, ERROR_NOT_FOUND, "The trace does not say from which file %s comes.",
                         function.name);
    return counter->count(counter->counter, part, function.file, (uint32_t)first, (uint32_t)last,
                          heat, error);
}

bool answer_heat(const struct query *query, struct http_answer *answer, struct error *error)
{
    uint64_t id, first, last;
    struct heat_part part;
    if (!parameter_required(query->parameters, "function", UINT32_MAX, &id, error) ||
        !parameter_number(query->parameters, "first", 1, 0, UINT32_MAX, &first, error) ||
        !parameter_number(query->parameters, "last", UINT32_MAX, 0, UINT32_MAX, &last, error) ||
        !read_part(query, &part, error))
        return false;
    last = last < first + LINES_MAX ? last : first + LINES_MAX - 1;
    if (id >= query->facts->functions)
        return error_set(error, ERROR_NOT_FOUND, "the trace has no function %llu.",
                         (unsigned long long)id);
    struct source_heat heat = {0};
    struct error refused = {0};
    struct json_text json;
    if (!count(query, (uint32_t)id, &part, first, last, &heat, &refused) &&
        refused.code != ERROR_NOT_FOUND) {
        *error = refused;
        source_heat_free(&heat);
        return false;
    }
    bool ok = query_json_open(answer, &json, error);
    if (ok) {
        write_heat(&json, query, &heat, refused.code == ERROR_NONE ? NULL : refused.text);
        ok = query_json_close(&json, error);
    }
    source_heat_free(&heat);
    return ok;
}
