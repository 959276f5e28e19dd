#include "server/api.h"

#include "server/answers/query.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { LOOK_SECONDS = 1 }; /* between looks whether who asked is still there */

/* `constant`: depends on the index alone. `takes_long`: its time grows with the spans of the range,
 * so that no more of them run at once than there are processors. `counts`: decodes the recording, one at a time. */
static const struct route {
    const char *name;
    answer_function *answer;
    bool constant, takes_long, counts;
} routes[] = {
    {"trace", answer_trace, .constant = false},
    {"functions", answer_functions, .constant = true},
    {"tiles", answer_tiles, .constant = true},
    {"span", answer_span, .constant = true},
    {"stack", answer_stack, .constant = true},
    {"table", answer_table, .constant = true, .takes_long = true},
    {"flame", answer_flame, .constant = true, .takes_long = true},
    {"find", answer_find, .constant = true, .takes_long = true},
    {"calls", answer_calls, .constant = true, .takes_long = true},
    {"explain", answer_explain, .constant = true, .takes_long = true},
    {"compare", answer_compare, .constant = true, .takes_long = true},
    {"next", answer_next, .constant = true, .takes_long = true},
    {"marks", answer_marks, .constant = true},
    {"counter", answer_counter, .constant = true},
    {"switches", answer_switches, .constant = true},
    {"stacks", answer_stacks, .constant = true},
    {"parts", answer_parts, .constant = true},
    {"source", answer_source, .constant = false},
    {"heat", answer_heat, .constant = false, .counts = true},
    {"text", answer_text, .constant = true},
    {"sql", answer_sql, .constant = false, .takes_long = true},
    {"raw", answer_raw, .constant = false},
};

void api_open(struct api *api, const struct trace_index *index, const char *name, const char *trace,
              const struct line_counter *line_counter)
{
    *api = (struct api){.index = index,
                        .name = name,
                        .trace = trace,
                        .off_cpu = off_cpu_times_new(index, OFF_CPU_ALL)};
    if (line_counter)
        api->line_counter = *line_counter;
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    sem_init(&api->long_answers, 0, processors > 1 ? (unsigned)processors : 2);
    sem_init(&api->countings, 0, 1);
}

void api_pair(struct api *a, struct api *b)
{
    a->other = b;
    a->letter = 'a';
    b->other = a;
    b->letter = 'b';
}

void api_close(struct api *api)
{
    sem_destroy(&api->long_answers);
    sem_destroy(&api->countings);
    off_cpu_times_free(api->off_cpu);
}

static const struct route *find_route(const char *name)
{
    for (size_t i = 0; i < sizeof routes / sizeof *routes; i++)
        if (strcmp(routes[i].name, name) == 0)
            return &routes[i];
    return NULL;
}

static enum http_status status_of(enum error_code code)
{
    switch (code) {
    case ERROR_USAGE:
        return HTTP_BAD_REQUEST;
    case ERROR_NOT_FOUND:
        return HTTP_NOT_FOUND;
    default:
        return HTTP_INTERNAL_ERROR;
    }
}

/* Waits as long as necessary: on a busy machine the others may need minutes. False when the client
 * has gone meanwhile. */
static bool wait_for_turn(sem_t *turns, const struct http_request *request)
{
    while (!http_is_abandoned(request)) {
        struct timespec next;
        clock_gettime(CLOCK_REALTIME, &next);
        next.tv_sec += LOOK_SECONDS;
        if (sem_timedwait(turns, &next) == 0)
            return true;
    }
    return false;
}

static void carry_out(struct api *api, const struct route *route,
                      const struct http_request *request, struct http_answer *answer)
{
    const struct query query = {.api = api,
                                .index = api->index,
                                .facts = trace_index_facts(api->index),
                                .parameters = &request->parameters};
    struct error error = {0};
    if (!route->answer(&query, answer, &error))
        http_answer_error(answer, status_of(error.code), "%s", error.text);
}

/* What the answer depends on. */
static void name_answer(const struct api *api, struct http_answer *answer)
{
    unsigned long long id = trace_index_facts(api->index)->id;
    unsigned long long other = api->other ? trace_index_facts(api->other->index)->id : 0;
    if (api->other)
        snprintf(answer->etag, sizeof answer->etag, "\"%016llx-%016llx\"", id, other);
    else
        snprintf(answer->etag, sizeof answer->etag, "\"%016llx\"", id);
}

void api_answer(struct api *api, const char *path, const struct http_request *request,
                struct http_answer *answer)
{
    const struct route *route = find_route(path);
    if (!route) {
        http_answer_error(answer, HTTP_NOT_FOUND, "there is no /api/%.60s.", path);
        return;
    }
    if (route->constant) {
        name_answer(api, answer);
        answer->caching = HTTP_CACHED;
        /* Unchanged as long as the trace is: that need not be computed again to be known. */
        if (http_etag_matches(request->if_none_match, answer->etag))
            return;
    }
    /* Pages ask more than they wait for. */
    sem_t *turns = route->takes_long ? &api->long_answers : route->counts ? &api->countings : NULL;
    if (turns && !wait_for_turn(turns, request)) {
        http_answer_error(answer, HTTP_BUSY, "nobody waits for the answer any more.");
        return;
    }
    carry_out(api, route, request, answer);
    if (turns)
        sem_post(turns);
}
