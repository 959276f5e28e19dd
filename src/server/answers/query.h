/* One query of a trace, and what all answers have in common. Each answer is a function of the type
 * `answer_function`, in a file named after its content; api.c holds their table.
 */
#ifndef MAGIC_TRACE_SERVER_ANSWERS_QUERY_H
#define MAGIC_TRACE_SERVER_ANSWERS_QUERY_H

#include "index/span_search.h"
#include "server/http/http.h"
#include "server/http/json_text.h"

struct api; /* server/api.h */

struct query {
    const struct api *api;
    const struct trace_index *index;
    const struct index_facts *facts;
    const struct parameters *parameters;
};

/* Fills the answer. False with an error: ERROR_USAGE when the parameters are invalid,
 * ERROR_NOT_FOUND when the object does not exist. */
typedef bool answer_function(const struct query *query, struct http_answer *answer,
                             struct error *error);

answer_function answer_trace, answer_functions, answer_tiles, answer_span, answer_stack,
    answer_table, answer_flame, answer_find, answer_calls, answer_next, answer_marks,
    answer_counter, answer_switches, answer_stacks, answer_parts, answer_explain, answer_compare,
    answer_source, answer_heat, answer_text, answer_sql, answer_raw;

/* ---- parameters that several answers have ---- */

/* from and to; the whole trace where they are not given. */
bool query_range(const struct query *query, struct index_range *range, struct error *error);

bool query_track(const struct query *query, uint32_t *track, struct error *error);

/* The parameter `tracks`: *ids holds them, and must be freed in any case. */
bool query_tracks(const struct query *query, struct array *ids, struct index_tracks *tracks,
                  struct error *error);

/* The parameter `group`. */
bool query_group(const struct query *query, uint32_t *group, struct error *error);

/* ---- writing ---- */

/* Makes the answer JSON; what is written goes into it until query_json_close(). */
bool query_json_open(struct http_answer *answer, struct json_text *json, struct error *error);
bool query_json_close(struct json_text *json, struct error *error);

/* {depth, start, end, function} and {track, depth, start, end} */
void query_write_stack_entry(struct json_text *json, const struct index_span *span);
void query_write_place(struct json_text *json, const struct call_place *place);

#endif
