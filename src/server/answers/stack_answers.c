/* /api/stacks and /api/parts: the stacks (of goroutines, fibers) of a trace, and when each ran where. */

#include "index/stacks.h"
#include "server/answers/query.h"

enum {
    STACKS_STANDARD = 100,
    STACKS_MAX = 10000,
    PARTS_STANDARD = 20000,
    PARTS_MAX = 200000,
};

static void write_stack(struct json_text *json, const struct query *query, uint32_t number)
{
    const struct index_stack stack = index_stack(query->index, number);
    json_text_open(json, '{');
    json_text_member_string(json, "name", stack.name);
    json_text_member_number(json, "pid", trace_index_track(query->index, stack.track).pid);
    json_text_member_number(json, "parts", stack.parts);
    json_text_member_number(json, "running", stack.running);
    json_text_member_number(json, "first", stack.first);
    json_text_member_number(json, "last", stack.last);
    json_text_member_number(json, "depth", stack.depth);
    json_text_close(json, '}');
}

bool answer_stacks(const struct query *query, struct http_answer *answer, struct error *error)
{
    uint64_t limit;
    struct json_text json;
    if (!parameter_number(query->parameters, "limit", STACKS_STANDARD, 1, STACKS_MAX, &limit,
                          error) ||
        !query_json_open(answer, &json, error))
        return false;
    json_text_open(&json, '{');
    json_text_key(&json, "stacks");
    json_text_open(&json, '[');
    for (uint32_t i = 0; i < query->facts->stacks && i < limit; i++)
        write_stack(&json, query, i);
    json_text_close(&json, ']');
    json_text_member_number(&json, "total", query->facts->stacks);
    json_text_close(&json, '}');
    return query_json_close(&json, error);
}

static void write_part(struct json_text *json, const struct index_stack_part *part)
{
    json_text_open(json, '[');
    json_text_number(json, part->stack);
    if (part->track == INDEX_SEVERAL_TRACKS)
        json_text_null(json);
    else
        json_text_number(json, part->track);
    json_text_number(json, part->from);
    json_text_number(json, part->to);
    json_text_close(json, ']');
}

static bool write_parts(const struct array *parts, struct http_answer *answer, struct error *error)
{
    struct json_text json;
    if (!query_json_open(answer, &json, error))
        return false;
    json_text_open(&json, '{');
    json_text_key(&json, "parts");
    json_text_open(&json, '[');
    for (size_t i = 0; i < parts->count; i++)
        write_part(&json, array_at(parts, i));
    json_text_close(&json, ']');
    json_text_close(&json, '}');
    return query_json_close(&json, error);
}

bool answer_parts(const struct query *query, struct http_answer *answer, struct error *error)
{
    const struct parameters *parameters = query->parameters;
    struct index_range range;
    uint64_t stacks, resolution, limit;
    if (!query_range(query, &range, error) ||
        !parameter_number(parameters, "stacks", STACKS_STANDARD, 1, STACKS_MAX, &stacks, error) ||
        !parameter_number(parameters, "resolution", 0, 0, UINT64_C(1) << 62, &resolution, error) ||
        !parameter_number(parameters, "limit", PARTS_STANDARD, 1, PARTS_MAX, &limit, error))
        return false;
    struct array parts = array_of(sizeof(struct index_stack_part));
    index_stack_parts(query->index, range, (uint32_t)stacks, resolution, (size_t)limit, &parts);
    bool ok = write_parts(&parts, answer, error);
    array_free(&parts);
    return ok;
}
