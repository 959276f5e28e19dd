/* /api/source and /api/text: what is read as text, the program's source and the calls of a range.
 */
#include "base/memory.h"
#include "index/span_scan.h"
#include "index/span_walk.h"
#include "output/duration.h"
#include "server/answers/query.h"
#include "server/answers/source_text.h"

#include <stdlib.h>
#include <string.h>

enum {
    SOURCE_LINE_MAX = 1000, /* bytes */
    CALLS_MAX = 100000,
    CALLS_STANDARD = 5000,
    INDENTATION_MAX = 200, /* levels; deeper calls show their level as a number */
};

/* ---- source ---- */

static void write_lines(struct json_text *json, const struct source_text *text)
{
    json_text_open(json, '[');
    const char *at = text->bytes, *end = at + text->size;
    while (at < end) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        size_t length = (size_t)(newline - at);
        if (length > 0 && at[length - 1] == '\r')
            length--;
        json_text_string_part(json, at, length < SOURCE_LINE_MAX ? length : SOURCE_LINE_MAX);
        at = newline + 1;
    }
    json_text_close(json, ']');
}

static void write_source(struct json_text *json, const struct index_function *function,
                         const struct source_text *text)
{
    json_text_open(json, '{');
    json_text_member_string(json, "file", function->file);
    json_text_member_number(json, "line", function->line);
    json_text_member_number(json, "first", text->first);
    json_text_key(json, "lines");
    write_lines(json, text);
    json_text_close(json, '}');
}

bool answer_source(const struct query *query, struct http_answer *answer, struct error *error)
{
    uint64_t id;
    if (!parameter_required(query->parameters, "function", UINT32_MAX, &id, error))
        return false;
    if (id >= query->facts->functions)
        return error_set(error, ERROR_NOT_FOUND, "the trace has no function %llu.",
                         (unsigned long long)id);
    struct json_text json;
    if (!query_json_open(answer, &json, error))
        return false;
    struct index_function function = trace_index_function(query->index, (uint32_t)id);
    struct source_text text = {0};
    json_text_open(&json, '{');
    json_text_key(&json, "source");
    /* A missing one is usual, and no failure: browsers complain of each. */
    if (function.file && source_text_read(&text, function.file, function.line, NULL))
        write_source(&json, &function, &text);
    else
        json_text_null(&json);
    json_text_close(&json, '}');
    source_text_free(&text);
    return query_json_close(&json, error);
}

/* ---- calls as a tree ---- */

static void write_call(FILE *stream, const struct query *query, const struct index_span *span,
                       uint32_t shallowest)
{
    char at[DURATION_TEXT_SIZE], length[DURATION_TEXT_SIZE];
    uint32_t level = span->depth - shallowest;
    uint32_t shown = level < INDENTATION_MAX ? level : INDENTATION_MAX;
    fprintf(stream, "%18s  %9s  %*s", duration_format_exact(at, span->start),
            duration_format_call(length, span->end - span->start), (int)(2 * shown), "");
    if (shown < level)
        fprintf(stream, "(level %u) ", level);
    fprintf(stream, "%s\n", trace_index_function(query->index, span->function).name);
}

static uint32_t shallowest_depth(const struct array *spans)
{
    uint32_t depth = UINT32_MAX;
    for (size_t i = 0; i < spans->count; i++) {
        const struct index_span *span = array_at(spans, i);
        depth = span->depth < depth ? span->depth : depth;
    }
    return depth;
}

static bool write_calls(const struct query *query, uint32_t track, const struct array *spans,
                        bool more, struct http_answer *answer, struct error *error)
{
    struct index_track about = trace_index_track(query->index, track);
    struct json_text text; /* for its stream alone */
    if (!query_json_open(answer, &text, error))
        return false;
    answer->type = "text/plain; charset=utf-8";
    fprintf(text.stream, "%s (%u), %s (%u)\n%18s  %9s  call\n", about.process, about.pid,
            about.thread, about.tid, "moment", "duration");
    uint32_t shallowest = shallowest_depth(spans);
    for (size_t i = 0; i < spans->count; i++)
        write_call(text.stream, query, array_at(spans, i), shallowest);
    if (more)
        fprintf(text.stream, "... and more: only the first %zu are listed.\n", spans->count);
    return query_json_close(&text, error);
}

/* Appends the first `limit` spans of the range, as they begin. */
static bool read_calls(const struct query *query, uint32_t track, struct index_range range,
                       size_t limit, struct array *spans, bool *more, struct error *error)
{
    if (range.from >= range.to)
        return true;
    struct span_walk walk = span_walk_begin(query->index, track, range.from, range.to - 1);
    for (struct index_span span; !*more && span_walk_next(&walk, &span, error);) {
        if (!range_overlaps(range, &span))
            continue;
        *more = spans->count == limit;
        if (!*more)
            array_add_all(spans, &span, 1);
    }
    return span_walk_end(&walk);
}

bool answer_text(const struct query *query, struct http_answer *answer, struct error *error)
{
    struct index_range range;
    uint32_t track;
    uint64_t limit;
    if (!query_track(query, &track, error) || !query_range(query, &range, error) ||
        !parameter_number(query->parameters, "limit", CALLS_STANDARD, 1, CALLS_MAX, &limit, error))
        return false;
    struct array spans = array_of(sizeof(struct index_span));
    bool more = false;
    bool ok = read_calls(query, track, range, (size_t)limit, &spans, &more, error) &&
              write_calls(query, track, &spans, more, answer, error);
    array_free(&spans);
    return ok;
}
