/* /api/marks, /api/counter and /api/switches: what a trace holds besides spans. */
#include "base/memory.h"
#include "index/marks.h"
#include "server/answers/query.h"

#include <stdlib.h>

enum {
    MARKS_MAX = 20000,
    MARKS_STANDARD = 2000,
    POINTS_MAX = 20000,
    POINTS_STANDARD = 2000,
};

static void write_mark(struct json_text *json, const struct index_mark *mark)
{
    static const char *const kinds[] = {
        [MARK_GAP] = "gap", [MARK_ERROR] = "error", [MARK_NOTE] = "note"};
    json_text_open(json, '{');
    json_text_member_number(json, "track", mark->track);
    json_text_member_number(json, "time", mark->time);
    json_text_member_string(json, "text", mark->text);
    json_text_member_string(json, "kind", kinds[mark->kind]);
    json_text_close(json, '}');
}

/* The argument is a string: it may exceed the integers that JavaScript represents exactly. */
static void write_hit(struct json_text *json, const struct index_hit *hit)
{
    char *argument = hit->has_argument ? memory_format("%lld", (long long)hit->argument) : NULL;
    json_text_open(json, '{');
    json_text_member_number(json, "track", hit->track);
    json_text_member_number(json, "start", hit->start);
    json_text_member_number(json, "end", hit->end);
    json_text_member_string(json, "name", hit->name);
    json_text_member_string(json, "argument", argument);
    json_text_key(json, "address");
    json_text_address(json, hit->address);
    json_text_close(json, '}');
    free(argument);
}

struct found_marks {
    struct array marks, hits;
    bool more;
};

static bool find_marks(const struct query *query, struct index_range range, size_t limit,
                       struct found_marks *found, struct error *error)
{
    bool more_marks = false, more_hits = false;
    if (!index_marks(query->index, range, limit, &found->marks, &more_marks, error) ||
        !index_hits(query->index, range, limit, &found->hits, &more_hits, error))
        return false;
    found->more = more_marks || more_hits;
    return true;
}

static bool write_marks(const struct found_marks *found, struct http_answer *answer,
                        struct error *error)
{
    struct json_text json;
    if (!query_json_open(answer, &json, error))
        return false;
    json_text_open(&json, '{');
    json_text_key(&json, "marks");
    json_text_open(&json, '[');
    for (size_t i = 0; i < found->marks.count; i++)
        write_mark(&json, array_at(&found->marks, i));
    json_text_close(&json, ']');
    json_text_key(&json, "hits");
    json_text_open(&json, '[');
    for (size_t i = 0; i < found->hits.count; i++)
        write_hit(&json, array_at(&found->hits, i));
    json_text_close(&json, ']');
    json_text_key(&json, "more");
    json_text_bool(&json, found->more);
    json_text_close(&json, '}');
    return query_json_close(&json, error);
}

bool answer_marks(const struct query *query, struct http_answer *answer, struct error *error)
{
    struct index_range range;
    uint64_t limit;
    if (!query_range(query, &range, error) ||
        !parameter_number(query->parameters, "limit", MARKS_STANDARD, 1, MARKS_MAX, &limit, error))
        return false;
    struct found_marks found = {.marks = array_of(sizeof(struct index_mark)),
                                .hits = array_of(sizeof(struct index_hit))};
    bool ok = find_marks(query, range, (size_t)limit, &found, error) &&
              write_marks(&found, answer, error);
    array_free(&found.marks);
    array_free(&found.hits);
    return ok;
}

static bool write_points(const struct array *points, struct http_answer *answer,
                         struct error *error)
{
    struct json_text json;
    if (!query_json_open(answer, &json, error))
        return false;
    json_text_open(&json, '{');
    json_text_key(&json, "samples");
    json_text_open(&json, '[');
    for (size_t i = 0; i < points->count; i++) {
        const struct counter_point *point = array_at(points, i);
        json_text_open(&json, '[');
        json_text_number(&json, point->time);
        json_text_real(&json, point->min);
        json_text_real(&json, point->max);
        json_text_real(&json, point->last);
        json_text_close(&json, ']');
    }
    json_text_close(&json, ']');
    json_text_close(&json, '}');
    return query_json_close(&json, error);
}

bool answer_counter(const struct query *query, struct http_answer *answer, struct error *error)
{
    struct index_range range;
    uint64_t id, points;
    if (!parameter_required(query->parameters, "id", UINT32_MAX, &id, error) ||
        !query_range(query, &range, error) ||
        !parameter_number(query->parameters, "points", POINTS_STANDARD, 1, POINTS_MAX, &points,
                          error))
        return false;
    if (id >= query->facts->counters)
        return error_set(error, ERROR_NOT_FOUND, "the trace has no counter %llu.",
                         (unsigned long long)id);
    struct array result = array_of(sizeof(struct counter_point));
    bool ok =
        index_counter_points(query->index, (uint32_t)id, range, (size_t)points, &result, error) &&
        write_points(&result, answer, error);
    array_free(&result);
    return ok;
}

static bool write_switches(const struct array *switches, bool more, struct http_answer *answer,
                           struct error *error)
{
    struct json_text json;
    if (!query_json_open(answer, &json, error))
        return false;
    json_text_open(&json, '{');
    json_text_key(&json, "switches");
    json_text_open(&json, '[');
    for (size_t i = 0; i < switches->count; i++) {
        const struct index_switch *at = array_at(switches, i);
        json_text_open(&json, '[');
        json_text_number(&json, at->from_track);
        json_text_number(&json, at->from_time);
        json_text_number(&json, at->to_track);
        json_text_number(&json, at->to_time);
        json_text_close(&json, ']');
    }
    json_text_close(&json, ']');
    json_text_key(&json, "more");
    json_text_bool(&json, more);
    json_text_close(&json, '}');
    return query_json_close(&json, error);
}

bool answer_switches(const struct query *query, struct http_answer *answer, struct error *error)
{
    struct index_range range;
    uint64_t limit;
    bool more;
    if (!query_range(query, &range, error) ||
        !parameter_number(query->parameters, "limit", MARKS_STANDARD, 1, MARKS_MAX, &limit, error))
        return false;
    struct array switches = array_of(sizeof(struct index_switch));
    index_switches(query->index, range, (size_t)limit, &switches, &more);
    bool ok = write_switches(&switches, more, answer, error);
    array_free(&switches);
    return ok;
}
