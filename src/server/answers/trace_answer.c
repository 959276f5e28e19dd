/* /api/trace, /api/functions and /api/raw: what the trace is, and itself. */
#include "base/memory.h"
#include "index/build/index_builder.h"
#include "index/marks.h"
#include "server/answers/query.h"
#include "server/api.h"
#include "server/http/folder_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The index is whole, so its answers go on; the trace itself can no longer be had. */
#define TRACE_CHANGED                                                                              \
    "The file of the trace has been replaced, cut or removed since this page was opened; what "    \
    "you "                                                                                         \
    "see is the trace as it was. Start `magic-trace view` again to see the new one."

static bool trace_is_there(const struct query *query)
{
    return index_is_current(query->api->trace, query->facts->id);
}

static void write_track(struct json_text *json, const struct trace_index *index, uint32_t id)
{
    struct index_track track = trace_index_track(index, id);
    json_text_open(json, '{');
    json_text_member_number(json, "id", id);
    json_text_member_number(json, "pid", track.pid);
    json_text_member_number(json, "tid", track.tid);
    json_text_member_string(json, "process", track.process);
    json_text_member_string(json, "thread", track.thread);
    json_text_member_number(json, "spans", track.spans);
    json_text_member_number(json, "depth", track.depth);
    json_text_member_number(json, "first", track.first);
    json_text_member_number(json, "last", track.last);
    json_text_member_string(json, "kind", track.is_hits ? "hits" : "thread");
    json_text_close(json, '}');
}

/* A counter's unit follows its name, as in `frequency (MHz)`. */
static void write_counter(struct json_text *json, const struct trace_index *index, uint32_t id)
{
    struct index_counter counter = trace_index_counter(index, id);
    size_t length = strlen(counter.name), name = length, unit = length;
    const char *bracket = strrchr(counter.name, '(');
    if (bracket && length > 0 && counter.name[length - 1] == ')') {
        unit = (size_t)(bracket - counter.name) + 1;
        name = unit - 1;
        while (name > 0 && counter.name[name - 1] == ' ')
            name--;
        length--;
    }
    json_text_open(json, '{');
    json_text_member_number(json, "id", id);
    json_text_key(json, "name");
    json_text_string_part(json, counter.name, name);
    json_text_member_number(json, "pid", counter.pid);
    json_text_key(json, "unit");
    json_text_string_part(json, counter.name + unit, length - unit);
    json_text_close(json, '}');
}

static void write_wall_clock(struct json_text *json, uint64_t wall_clock)
{
    json_text_key(json, "wallClock");
    if (wall_clock == 0) {
        json_text_null(json);
        return;
    }
    char *digits = memory_format("%llu", (unsigned long long)wall_clock);
    json_text_string(json, digits);
    free(digits);
}

/* Which of two traces it is, and the other one; null: there is one alone. */
static void write_pair(struct json_text *json, const struct api *api)
{
    json_text_key(json, "compared");
    if (!api->other) {
        json_text_null(json);
        return;
    }
    const char letter[] = {api->letter, 0};
    json_text_open(json, '{');
    json_text_member_string(json, "letter", letter);
    json_text_member_string(json, "otherName", api->other->name);
    json_text_member_number(json, "otherDuration", trace_index_facts(api->other->index)->duration);
    json_text_close(json, '}');
}

bool answer_trace(const struct query *query, struct http_answer *answer, struct error *error)
{
    const struct index_facts *facts = query->facts;
    bool is_file = query->api->trace, is_there = is_file && trace_is_there(query);
    struct json_text json;
    if (!query_json_open(answer, &json, error))
        return false;
    char *id = memory_format("%016llx", (unsigned long long)facts->id);
    json_text_open(&json, '{');
    json_text_member_string(&json, "id", id);
    json_text_member_string(&json, "name", query->api->name);
    json_text_member_number(&json, "duration", facts->duration);
    write_wall_clock(&json, facts->wall_clock);
    json_text_member_number(&json, "spans", facts->spans);
    json_text_key(&json, "sampled");
    json_text_bool(&json, facts->sampled);
    json_text_member_string(&json, "recorded", facts->recorded);
    json_text_member_string(&json, "damage", facts->damage);
    json_text_member_string(&json, "replaced", is_file && !is_there ? TRACE_CHANGED : NULL);
    json_text_key(&json, "canPerfetto");
    json_text_bool(&json, is_there);
    json_text_key(&json, "tracks");
    json_text_open(&json, '[');
    for (uint32_t track = 0; track < facts->tracks; track++)
        write_track(&json, query->index, track);
    json_text_close(&json, ']');
    json_text_key(&json, "counters");
    json_text_open(&json, '[');
    for (uint32_t counter = 0; counter < facts->counters; counter++)
        write_counter(&json, query->index, counter);
    json_text_close(&json, ']');
    json_text_member_number(&json, "markCount", facts->marks);
    json_text_member_number(&json, "switchCount", facts->switches);
    write_pair(&json, query->api);
    json_text_close(&json, '}');
    free(id);
    return query_json_close(&json, error);
}

bool answer_functions(const struct query *query, struct http_answer *answer, struct error *error)
{
    static const char *const colours[] = {
        [INDEX_OWN] = "own",         [INDEX_LIBRARY] = "library", [INDEX_KERNEL] = "kernel",
        [INDEX_INLINED] = "inlined", [INDEX_SPECIAL] = "special",
    };
    struct json_text json;
    if (!query_json_open(answer, &json, error))
        return false;
    json_text_open(&json, '{');
    json_text_key(&json, "functions");
    json_text_open(&json, '[');
    for (uint32_t id = 0; id < query->facts->functions; id++) {
        struct index_function function = trace_index_function(query->index, id);
        json_text_open(&json, '[');
        json_text_string(&json, function.name);
        json_text_number(&json, function.group);
        json_text_string(&json, colours[function.colour]);
        json_text_bool(&json, function.colour == INDEX_SPECIAL);
        json_text_number(&json, trace_index_group_calls(query->index, function.group));
        json_text_string(&json, function.file);
        json_text_close(&json, ']');
    }
    json_text_close(&json, ']');
    json_text_close(&json, '}');
    return query_json_close(&json, error);
}

bool answer_raw(const struct query *query, struct http_answer *answer, struct error *error)
{
    const char *path = query->api->trace;
    if (!path)
        return error_set(error, ERROR_NOT_FOUND,
                         "a recording was opened, and there is no trace of it in a file. "
                         "`magic-trace decode` writes one.");
    int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat status;
    if (descriptor >= 0 && fstat(descriptor, &status) == 0 && trace_is_there(query)) {
        folder_file_give(descriptor, &status, "application/octet-stream", answer);
        answer->caching = HTTP_NOT_CACHED;
        return true;
    }
    if (descriptor >= 0)
        close(descriptor);
    http_answer_error(answer, HTTP_GONE, TRACE_CHANGED);
    return true;
}
