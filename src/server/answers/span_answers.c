/* /api/span, /api/stack and /api/next: single spans. */
#include "analysis/missing_names.h"
#include "analysis/valued_search.h"
#include "base/memory.h"
#include "index/function_table.h"
#include "index/marks.h"
#include "server/answers/query.h"
#include "server/api.h"
#include "stack/spans/span.h"

#include <stdlib.h>

enum { STACK_MAX = 20000 }; /* of deeper stacks the innermost spans are written */

static const char *const endings[] = {
    [SPAN_END_RETURN] = "return",         [SPAN_END_TAIL_CALL] = "tail call",
    [SPAN_END_UNWOUND] = "unwound",       [SPAN_END_GAP] = "gap",
    [SPAN_END_OF_TRACE] = "end of trace", [SPAN_END_EXEC] = "exec",
    [SPAN_END_FILTER] = "filter",         [SPAN_END_SWITCH] = "switch",
};

static bool read_moment(const struct query *query, uint32_t *track, uint64_t *time,
                        struct error *error)
{
    return query_track(query, track, error) &&
           parameter_time(query->parameters, "time", 0, query->facts->duration, time, error);
}

static void write_stack(struct json_text *json, const struct index_span *spans, size_t count)
{
    size_t first = count > STACK_MAX ? count - STACK_MAX : 0;
    json_text_open(json, '[');
    for (size_t i = first; i < count; i++)
        query_write_stack_entry(json, &spans[i]);
    json_text_close(json, ']');
}

bool answer_stack(const struct query *query, struct http_answer *answer, struct error *error)
{
    uint32_t track;
    uint64_t time;
    struct json_text json;
    if (!read_moment(query, &track, &time, error))
        return false;
    struct array stack = array_of(sizeof(struct index_span));
    bool ok = index_stack_at(query->index, track, time, &stack, error) &&
              query_json_open(answer, &json, error);
    if (ok) {
        json_text_open(&json, '{');
        json_text_key(&json, "stack");
        write_stack(&json, stack.elements, stack.count);
        json_text_close(&json, '}');
        ok = query_json_close(&json, error);
    }
    array_free(&stack);
    return ok;
}

/* ---- one span with all that is known of it ---- */

struct span_details {
    uint32_t track;
    struct index_span span;
    uint64_t self, children, off_cpu;
    struct index_hit hit; /* of a span on a track of hits */
    bool has_hit;
    struct arena memory;
    struct named_values values; /* count 0: none were recorded */
};

static bool find_hit(const struct query *query, struct span_details *details, struct error *error)
{
    enum { HITS_AT_ONCE = 1000 };
    if (!trace_index_track(query->index, details->track).is_hits)
        return true;
    struct index_range range = {details->span.start, details->span.start + 1};
    struct array hits = array_of(sizeof(struct index_hit));
    bool more;
    bool ok = index_hits(query->index, range, HITS_AT_ONCE, &hits, &more, error);
    for (size_t i = 0; ok && i < hits.count && !details->has_hit; i++) {
        details->hit = *(struct index_hit *)array_at(&hits, i);
        details->has_hit = details->hit.track == details->track &&
                           details->hit.start == details->span.start &&
                           details->hit.end == details->span.end;
    }
    array_free(&hits);
    return ok;
}

static void write_arguments(struct json_text *json, const struct span_details *details)
{
    json_text_key(json, "arguments");
    json_text_open(json, '{');
    if (details->has_hit) {
        const struct index_hit *hit = &details->hit;
        json_text_member_number(json, "pid", hit->pid);
        json_text_member_number(json, "tid", hit->tid);
        if (hit->address) {
            json_text_key(json, "address");
            json_text_address(json, hit->address);
        }
        if (hit->has_argument) {
            char *digits = memory_format("%lld", (long long)hit->argument);
            json_text_member_string(json, "argument", digits);
            free(digits);
        }
    }
    json_text_close(json, '}');
}

/* Of a call of which they were recorded. */
static bool find_values(const struct query *query, struct span_details *details,
                        struct error *error)
{
    const struct call_place place = {details->track, details->span};
    struct valued_call call;
    bool found;
    return index_values_at(query->index, &place, VALUES_OF_LAST, &call, &found, error) &&
           (!found ||
            index_values_of(query->index, &call, &details->memory, &details->values, error));
}

static void write_values(struct json_text *json, const struct named_values *values)
{
    size_t arguments = values->count - values->has_result;
    json_text_key(json, "values");
    json_text_open(json, '[');
    for (size_t i = 0; i < arguments; i++) {
        json_text_open(json, '[');
        json_text_string(json, values->values[i].name);
        json_text_string(json, values->values[i].text);
        json_text_close(json, ']');
    }
    json_text_close(json, ']');
    json_text_member_string(json, "result",
                            values->has_result ? values->values[arguments].text : NULL);
}

static void write_flag(struct json_text *json, const char *key, bool value)
{
    json_text_key(json, key);
    json_text_bool(json, value);
}

static void write_function(struct json_text *json, const struct query *query, uint32_t track,
                           uint32_t id)
{
    struct index_function function = trace_index_function(query->index, id);
    json_text_member_number(json, "function", id);
    json_text_member_string(json, "name", function.name);
    json_text_member_string(json, "symbol", function.symbol);
    json_text_member_string(json, "file", function.file);
    json_text_member_number(json, "line", function.line);
    json_text_key(json, "address");
    json_text_address(json, function.address);
    char *words = missing_name_words(function.name, trace_index_track(query->index, track).process);
    json_text_member_string(json, "unnamed", words);
    free(words);
}

static void write_details(struct json_text *json, const struct query *query,
                          const struct span_details *details)
{
    const struct index_span *span = &details->span;
    json_text_open(json, '{');
    json_text_member_number(json, "track", details->track);
    json_text_member_number(json, "depth", span->depth);
    json_text_member_number(json, "start", span->start);
    json_text_member_number(json, "end", span->end);
    json_text_member_number(json, "self", details->self);
    json_text_member_number(json, "offCpu", details->off_cpu);
    json_text_member_number(json, "children", details->children);
    write_function(json, query, details->track, span->function);
    write_flag(json, "beganInferred", span->flags & SPAN_START_INFERRED);
    write_flag(json, "endInferred", span->flags & SPAN_END_INFERRED);
    write_flag(json, "acrossGap", span->flags & SPAN_ACROSS_GAP);
    json_text_member_string(json, "ended",
                            span->ending <= SPAN_END_LAST ? endings[span->ending] : "unknown");
    write_arguments(json, details);
    write_values(json, &details->values);
    json_text_close(json, '}');
}

static bool write_span(const struct query *query, const struct array *stack,
                       const struct span_details *details, struct http_answer *answer,
                       struct error *error)
{
    struct json_text json;
    if (!query_json_open(answer, &json, error))
        return false;
    json_text_open(&json, '{');
    json_text_key(&json, "span");
    if (details)
        write_details(&json, query, details);
    else
        json_text_null(&json);
    json_text_key(&json, "parents");
    write_stack(&json, stack->elements, details ? stack->count - 1 : 0);
    json_text_close(&json, '}');
    return query_json_close(&json, error);
}

/* The span at the place that the query names, with its callers. A call of less than a nanosecond is
 * named by its end, too, because a longer one may begin at that moment; and by its group, because
 * others may lie there. */
static bool find_span(const struct query *query, uint32_t *track, struct array *stack,
                      struct error *error)
{
    uint64_t time, depth, end, group;
    if (!read_moment(query, track, &time, error) ||
        !parameter_number(query->parameters, "depth", 0, 0, UINT32_MAX, &depth, error) ||
        !parameter_number(query->parameters, "end", UINT64_MAX, 0, UINT64_MAX, &end, error) ||
        !parameter_number(query->parameters, "group", UINT32_MAX, 0, UINT32_MAX, &group, error))
        return false;
    if (end == time && !index_brief_span_at(query->index, *track, (uint32_t)depth, time,
                                            (uint32_t)group, stack, error))
        return false;
    return stack->count > 0 ||
           index_span_at(query->index, *track, (uint32_t)depth, time, stack, error);
}

bool answer_span(const struct query *query, struct http_answer *answer, struct error *error)
{
    struct span_details details = {0};
    struct array stack = array_of(sizeof(struct index_span));
    bool ok = find_span(query, &details.track, &stack, error);
    const struct index_span *span = stack.count ? array_at(&stack, stack.count - 1) : NULL;
    if (ok && span) {
        details.span = *span;
        ok = index_span_self(query->index, details.track, span, &details.self, &details.children,
                             error) &&
             find_hit(query, &details, error) && find_values(query, &details, error) &&
             off_cpu_times_read(query->api->off_cpu, error);
        details.off_cpu = off_cpu_times_within(query->api->off_cpu, details.track,
                                               (struct index_range){span->start, span->end});
    }
    ok = ok && write_span(query, &stack, span ? &details : NULL, answer, error);
    arena_free(&details.memory);
    array_free(&stack);
    return ok;
}

/* ---- from call to call ---- */

/* All calls of the group in the tracks. */
static bool count_calls(const struct query *query, struct index_tracks tracks, uint32_t group,
                        uint64_t *count, struct error *error)
{
    *count = trace_index_group_calls(query->index, group);
    if (!tracks.ids &&
        query->facts->hits == 0) /* hits are calls of their group, in no such track */
        return true;
    struct call_statistics statistics = {0};
    const struct calls_request request = {
        .tracks = tracks, .range = {0, query->facts->duration + 1}, .group = group};
    bool ok = index_calls(query->index, &request, &statistics, error);
    *count = statistics.calls;
    call_statistics_free(&statistics);
    return ok;
}

struct next_call {
    struct call_place place;
    uint64_t ordinal, of;
    bool found;
};

static bool write_next(const struct next_call *call, struct http_answer *answer,
                       struct error *error)
{
    struct json_text json;
    if (!query_json_open(answer, &json, error))
        return false;
    json_text_open(&json, '{');
    json_text_key(&json, "call");
    if (call->found)
        query_write_place(&json, &call->place);
    else
        json_text_null(&json);
    json_text_member_number(&json, "ordinal", call->found ? call->ordinal : 0);
    json_text_member_number(&json, "of", call->of);
    json_text_close(&json, '}');
    return query_json_close(&json, error);
}

/* Among the calls that fulfil the condition. */
static bool find_next_valued(const struct query *query, const struct valued_step *step,
                             struct next_call *call, struct error *error)
{
    struct valued_found found;
    if (!valued_search_step(query->index, step, &found, error))
        return false;
    *call = (struct next_call){found.place, found.ordinal, found.of, found.found};
    return true;
}

static bool find_next(const struct query *query, const struct valued_step *step,
                      struct next_call *call, struct error *error)
{
    struct error failure = {0};
    call->found = index_next_call(query->index, step->tracks, step->group, &step->from,
                                  step->forward, &call->place, &call->ordinal, &failure);
    if (!call->found && failure.code != ERROR_NONE) {
        *error = failure;
        return false;
    }
    return count_calls(query, step->tracks, step->group, &call->of, error);
}

/* `where` says which of the function's calls are meant; what is no condition means all. */
static bool answer_step(const struct query *query, struct valued_step *step,
                        struct http_answer *answer, struct error *error)
{
    const char *where = parameters_find(query->parameters, "where");
    struct value_condition condition;
    struct next_call call = {0};
    bool is_condition = where && value_condition_parse(&condition, where);
    step->condition = &condition;
    bool ok = is_condition ? find_next_valued(query, step, &call, error)
                           : find_next(query, step, &call, error);
    if (is_condition)
        value_condition_free(&condition);
    return ok && write_next(&call, answer, error);
}

bool answer_next(const struct query *query, struct http_answer *answer, struct error *error)
{
    static const char *const directions[] = {"next", "previous", NULL};
    struct valued_step step = {0};
    struct call_place *from = &step.from;
    uint64_t depth;
    size_t direction;
    if (!query_group(query, &step.group, error) ||
        !read_moment(query, &from->track, &from->span.start, error) ||
        !parameter_number(query->parameters, "depth", 0, 0, UINT32_MAX, &depth, error) ||
        !parameter_choice(query->parameters, "direction", directions, &direction, error))
        return false;
    from->span.depth = (uint32_t)depth;
    step.forward = direction == 0;
    struct array ids;
    bool ok =
        query_tracks(query, &ids, &step.tracks, error) && answer_step(query, &step, answer, error);
    array_free(&ids);
    return ok;
}
