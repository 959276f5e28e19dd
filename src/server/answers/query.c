#include "server/answers/query.h"

#include <errno.h>
#include <stdio.h>
#include <stdio_ext.h>

/* Spans without length at the very end lie before this moment. */
static uint64_t whole_trace(const struct query *query)
{
    return query->facts->duration + 1;
}

bool query_range(const struct query *query, struct index_range *range, struct error *error)
{
    uint64_t end = whole_trace(query);
    if (!parameter_time(query->parameters, "from", 0, end, &range->from, error) ||
        !parameter_time(query->parameters, "to", end, end, &range->to, error))
        return false;
    if (range->to < range->from)
        return error_set(error, ERROR_USAGE, "`to` lies before `from`.");
    return true;
}

/* The id of one of `count` things. */
static bool read_id(const struct query *query, const char *name, uint32_t count, uint32_t *id,
                    struct error *error)
{
    uint64_t number;
    if (!parameter_required(query->parameters, name, UINT32_MAX, &number, error))
        return false;
    if (number >= count)
        return error_set(error, ERROR_NOT_FOUND, "the trace has no %s %llu.", name,
                         (unsigned long long)number);
    *id = (uint32_t)number;
    return true;
}

bool query_track(const struct query *query, uint32_t *track, struct error *error)
{
    return read_id(query, "track", query->facts->tracks, track, error);
}

bool query_group(const struct query *query, uint32_t *group, struct error *error)
{
    uint32_t function = 0;
    if (!read_id(query, "group", query->facts->functions, &function, error))
        return false;
    *group = trace_index_function(query->index, function).group;
    return true;
}

bool query_tracks(const struct query *query, struct array *ids, struct index_tracks *tracks,
                  struct error *error)
{
    *ids = array_of(sizeof(uint32_t));
    bool ok = parameter_list(query->parameters, "tracks", query->facts->tracks, ids, error);
    *tracks = (struct index_tracks){.ids = ids->elements, .count = ids->count};
    return ok;
}

bool query_json_open(struct http_answer *answer, struct json_text *json, struct error *error)
{
    *json = (struct json_text){.stream = open_memstream(&answer->bytes, &answer->size)};
    if (!json->stream)
        return error_set_errno(error, ERROR_IO, errno, "there is no memory for the answer");
    /* A stream of one thread; locking each byte would take longer than writing it. */
    __fsetlocking(json->stream, FSETLOCKING_BYCALLER);
    answer->type = "application/json";
    return true;
}

bool query_json_close(struct json_text *json, struct error *error)
{
    bool ok = !ferror(json->stream);
    ok &= fclose(json->stream) == 0;
    return ok || error_set(error, ERROR_IO, "there is not enough memory for the answer.");
}

static void write_extent(struct json_text *json, const struct index_span *span)
{
    json_text_member_number(json, "depth", span->depth);
    json_text_member_number(json, "start", span->start);
    json_text_member_number(json, "end", span->end);
}

void query_write_stack_entry(struct json_text *json, const struct index_span *span)
{
    json_text_open(json, '{');
    write_extent(json, span);
    json_text_member_number(json, "function", span->function);
    json_text_close(json, '}');
}

void query_write_place(struct json_text *json, const struct call_place *place)
{
    json_text_open(json, '{');
    json_text_member_number(json, "track", place->track);
    write_extent(json, &place->span);
    json_text_close(json, '}');
}
