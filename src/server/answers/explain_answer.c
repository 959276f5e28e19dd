/* /api/explain: why calls of a function are slow (analysis/explanation.h), in words, with the places. */
#include "analysis/explanation_words.h"
#include "base/memory.h"
#include "server/answers/query.h"

#include <stdlib.h>

enum { CAUSES = 6 };
static const double SLOW_FACTOR = 3; /* as `magic-trace explain` */

/* A member of what `print` prints. */
static void write_words(struct json_text *json, const char *key,
                        const struct explanation *explanation,
                        const struct explained_cause *explained,
                        void (*print)(FILE *stream, const struct explanation *explanation,
                                      const struct explained_cause *explained))
{
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    if (stream) {
        print(stream, explanation, explained);
        fclose(stream);
    }
    json_text_member_string(json, key, text);
    free(text);
}

static void print_heading(FILE *stream, const struct explanation *explanation,
                          const struct explained_cause *explained)
{
    (void)explained;
    explanation_print_heading(stream, explanation);
    explanation_print_extra(stream, explanation);
}

static void write_cause(struct json_text *json, const struct query *query,
                        const struct explanation *explanation,
                        const struct explained_cause *explained)
{
    json_text_open(json, '{');
    json_text_key(json, "share");
    json_text_real(json, explained->share / 1000.0);
    json_text_key(json, "extra");
    json_text_signed(json, explained->extra);
    write_words(json, "words", explanation, explained, explained_cause_print);
    json_text_key(json, "path");
    json_text_open(json, '[');
    for (size_t i = 0; i < explained->path.count; i++)
        json_text_number(json, *(uint32_t *)array_at(&explained->path, i));
    json_text_close(json, ']');
    json_text_key(json, "place");
    if (explained->ordinal > 0)
        query_write_place(json, &explained->place);
    else
        json_text_null(json);
    json_text_close(json, '}');
}

/* The usual call in the middle of those that are compared. */
static const struct call_place *a_usual_call(const struct explanation *explanation)
{
    const struct array *usual = &explanation->calls.usual;
    const struct call_place *best = NULL;
    uint64_t median = explanation->calls.median, distance = UINT64_MAX;
    for (size_t i = 0; i < usual->count; i++) {
        const struct call_place *call = array_at(usual, i);
        uint64_t length = call->span.end - call->span.start;
        uint64_t off = length > median ? length - median : median - length;
        if (off < distance)
            best = call;
        distance = off < distance ? off : distance;
    }
    return best;
}

static void write_explanation(struct json_text *json, const struct query *query,
                              const struct explanation *explanation)
{
    write_words(json, "heading", explanation, NULL, print_heading);
    json_text_key(json, "causes");
    json_text_open(json, '[');
    for (size_t i = 0; i < explanation->causes.count; i++)
        write_cause(json, query, explanation, array_at(&explanation->causes, i));
    json_text_close(json, ']');
    json_text_key(json, "slow");
    query_write_place(json, array_at(&explanation->calls.slow, 0));
    json_text_key(json, "usual");
    query_write_place(json, a_usual_call(explanation));
}

/* A function that is called once has no call to be compared with: that is usual, and no failure. */
static bool write_answer(const struct query *query, const struct explanation *explanation,
                         const char *refused, struct http_answer *answer, struct error *error)
{
    struct json_text json;
    if (!query_json_open(answer, &json, error))
        return false;
    json_text_open(&json, '{');
    json_text_member_string(&json, "refused", refused);
    if (!refused)
        write_explanation(&json, query, explanation);
    json_text_close(&json, '}');
    return query_json_close(&json, error);
}

/* The call that is to be explained, if one is given. */
static bool read_given(const struct query *query, struct slow_calls_request *request,
                       struct call_place *given, struct error *error)
{
    uint64_t time, depth;
    if (!parameters_find(query->parameters, "track"))
        return true;
    if (!query_track(query, &given->track, error) ||
        !parameter_time(query->parameters, "time", 0, query->facts->duration, &time, error) ||
        !parameter_number(query->parameters, "depth", 0, 0, UINT32_MAX, &depth, error))
        return false;
    struct array stack = array_of(sizeof(struct index_span));
    bool ok = index_span_at(query->index, given->track, (uint32_t)depth, time, &stack, error);
    if (ok && stack.count > 0) {
        given->span = *(struct index_span *)array_at(&stack, stack.count - 1);
        request->given = given;
    }
    array_free(&stack);
    if (!ok)
        return false;
    const uint32_t functions = query->facts->functions;
    if (!request->given || given->span.function >= functions ||
        trace_index_function(query->index, given->span.function).group != request->group)
        return error_set(error, ERROR_NOT_FOUND, "the function has no call at that place.");
    return true;
}

bool answer_explain(const struct query *query, struct http_answer *answer, struct error *error)
{
    struct slow_calls_request request = {.factor = SLOW_FACTOR};
    struct call_place given = {0};
    if (!query_group(query, &request.group, error) || !read_given(query, &request, &given, error))
        return false;
    if (query->facts->sampled)
        return write_answer(query, NULL, "The trace holds samples, which have no calls.", answer,
                            error);
    struct explanation explanation;
    bool ok = explain(query->index, &request, CAUSES, &explanation, error);
    if (ok)
        ok = write_answer(query, &explanation, NULL, answer, error);
    else if (error->code == ERROR_NOT_FOUND)
        ok = write_answer(query, NULL, error->text, answer, error);
    explanation_free(&explanation);
    return ok;
}
