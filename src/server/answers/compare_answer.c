/* /api/compare: what differs between two calls, or two ranges of time (analysis/comparison.h), of
 * this trace or of the one that it is compared with. */
#include "analysis/comparison_words.h"
#include "base/memory.h"
#include "server/answers/query.h"
#include "server/api.h"

#include <math.h>
#include <stdlib.h>

enum { CAUSES = 6, NODES_MAX = 4000 };
static const double SHARE = 1.0 / 2000; /* of the longer part: nodes below it are left out */

/* ---- the parts ---- */

/* The names of a part's parameters: of A "a_from", ... */
struct part_names {
    const char *trace, *from, *to, *track, *depth, *time;
};
static const struct part_names names[CONTEXT_SIDES] = {
    {"a_trace", "a_from", "a_to", "a_track", "a_depth", "a_time"},
    {"b_trace", "b_from", "b_to", "b_track", "b_depth", "b_time"},
};

/* Of which trace the part is: this one, unless another is named. */
static bool read_index(const struct query *query, const struct part_names *name,
                       const struct trace_index **index, struct error *error)
{
    static const char *const letters[] = {"a", "b", NULL};
    const struct api *api = query->api;
    size_t letter;
    *index = api->index;
    if (!parameters_find(query->parameters, name->trace))
        return true;
    if (!parameter_choice(query->parameters, name->trace, letters, &letter, error))
        return false;
    if (!api->other)
        return error_set(error, ERROR_USAGE, "%s is given, and there is one trace alone.",
                         name->trace);
    *index = *letters[letter] == api->letter ? api->index : api->other->index;
    return true;
}

static bool read_call(const struct query *query, const struct part_names *name,
                      struct trace_part *part, struct error *error)
{
    const struct index_facts *facts = trace_index_facts(part->index);
    uint64_t track, depth, time;
    if (facts->tracks == 0)
        return error_set(error, ERROR_NOT_FOUND, "the trace has no calls.");
    if (!parameter_number(query->parameters, name->track, 0, 0, facts->tracks - 1, &track, error) ||
        !parameter_number(query->parameters, name->depth, 0, 0, UINT32_MAX, &depth, error) ||
        !parameter_time(query->parameters, name->time, 0, facts->duration, &time, error))
        return false;
    struct array stack = array_of(sizeof(struct index_span));
    bool ok = index_span_at(part->index, (uint32_t)track, (uint32_t)depth, time, &stack, error);
    part->is_call = ok && stack.count > 0;
    if (part->is_call)
        part->call = (struct call_place){(uint32_t)track,
                                         *(struct index_span *)array_at(&stack, stack.count - 1)};
    array_free(&stack);
    if (ok && !part->is_call)
        return error_set(error, ERROR_NOT_FOUND, "there is no call at that place.");
    return ok;
}

static bool read_part(const struct query *query, const struct part_names *name,
                      struct trace_part *part, struct error *error)
{
    *part = (struct trace_part){0};
    if (!read_index(query, name, &part->index, error))
        return false;
    if (parameters_find(query->parameters, name->track))
        return read_call(query, name, part, error);
    uint64_t end = trace_index_facts(part->index)->duration + 1;
    if (!parameter_time(query->parameters, name->from, 0, end, &part->range.from, error) ||
        !parameter_time(query->parameters, name->to, end, end, &part->range.to, error))
        return false;
    return part->range.from < part->range.to ||
           error_set(error, ERROR_USAGE, "%s must be before %s.", name->from, name->to);
}

/* ---- words ---- */

/* A sentence that is being written. */
struct words {
    FILE *stream; /* NULL: there is no memory */
    char *text;
    size_t size;
};

static void words_open(struct words *words)
{
    *words = (struct words){0};
    words->stream = open_memstream(&words->text, &words->size);
}

/* As a member of an object; null where it could not be written. */
static void words_write(struct words *words, struct json_text *json, const char *key)
{
    if (words->stream)
        fclose(words->stream);
    json_text_member_string(json, key, words->text);
    free(words->text);
}

/* ---- the answer ---- */

static const struct context_node *node_at(const struct comparison *comparison, uint32_t number)
{
    return context_tree_node(&comparison->tree, number);
}

/* What the page, which knows the functions of its own trace, knows the function by: the group of B
 * or else of A; of a function that only the other trace has, a number beyond the own functions. */
static uint64_t number_of(const struct comparison *comparison, const struct trace_index *own,
                          uint32_t id)
{
    for (int side = CONTEXT_SIDES - 1; side >= 0; side--)
        if (comparison->parts[side].index == own && comparison->ids.groups[side][id] != NO_FUNCTION)
            return comparison->ids.groups[side][id];
    return (uint64_t)trace_index_facts(own)->functions + id;
}

/* null: all threads. */
static void write_group(struct json_text *json, const struct comparison *comparison,
                        const struct trace_index *own, uint32_t id)
{
    if (id >= comparison->ids.count)
        json_text_null(json);
    else
        json_text_number(json, number_of(comparison, own, id));
}

/* Functions that only the other trace has, with the numbers that stand for them. */
static void write_foreign(struct json_text *json, const struct comparison *comparison,
                          const struct trace_index *own)
{
    json_text_key(json, "foreign");
    json_text_open(json, '[');
    for (uint32_t id = 0; id < comparison->ids.count; id++) {
        uint64_t number = number_of(comparison, own, id);
        if (number < trace_index_facts(own)->functions)
            continue;
        json_text_open(json, '[');
        json_text_number(json, number);
        json_text_string(json, comparison_name(comparison, id));
        json_text_close(json, ']');
    }
    json_text_close(json, ']');
}

static void write_path(struct json_text *json, const struct comparison *comparison,
                       const struct trace_index *own, uint32_t number)
{
    struct array path = array_of(sizeof(uint32_t));
    for (;; number = node_at(comparison, number)->parent) {
        uint32_t id = node_at(comparison, number)->group;
        if (id < comparison->ids.count)
            *(uint32_t *)array_insert(&path, 0) = id;
        if (number == STACK_ROOT)
            break;
    }
    json_text_key(json, "path");
    json_text_open(json, '[');
    for (size_t i = 0; i < path.count; i++)
        write_group(json, comparison, own, *(uint32_t *)array_at(&path, i));
    json_text_close(json, ']');
    array_free(&path);
}

static void write_cause(struct json_text *json, const struct comparison *comparison,
                        const struct trace_index *own, const struct cause *cause)
{
    struct words words;
    words_open(&words);
    if (words.stream)
        comparison_cause_print(words.stream, comparison, cause);
    json_text_open(json, '{');
    json_text_key(json, "difference");
    json_text_signed(json, llround(cause->extra));
    words_write(&words, json, "words");
    bool has_place = cause->kind != CAUSE_REST;
    const struct context_node *node =
        has_place ? node_at(comparison, comparison_cause_node(comparison, cause)) : NULL;
    if (has_place)
        write_path(json, comparison, own, cause->carrier);
    json_text_key(json, "place");
    if (node && node->sides[CONTEXT_B].calls > 0 && node->group < comparison->ids.count)
        query_write_place(json, &node->longest);
    else
        json_text_null(json);
    json_text_close(json, '}');
}

static void write_causes(struct json_text *json, const struct comparison *comparison,
                         const struct trace_index *own)
{
    json_text_key(json, "causes");
    json_text_open(json, '[');
    for (size_t i = 0; i < comparison->causes.count; i++)
        write_cause(json, comparison, own, array_at(&comparison->causes, i));
    json_text_close(json, ']');
}

static uint64_t larger_total(const struct context_node *node)
{
    const struct context_sums *sides = node->sides;
    return sides[CONTEXT_A].total > sides[CONTEXT_B].total ? sides[CONTEXT_A].total
                                                           : sides[CONTEXT_B].total;
}

static void write_node(struct json_text *json, const struct comparison *comparison,
                       const struct trace_index *own, const struct context_node *node,
                       uint32_t parent)
{
    json_text_open(json, '[');
    json_text_number(json, parent);
    write_group(json, comparison, own, node->group);
    for (int side = 0; side < CONTEXT_SIDES; side++) {
        json_text_number(json, node->sides[side].calls);
        json_text_number(json, node->sides[side].self);
        json_text_number(json, node->sides[side].total);
    }
    json_text_close(json, ']');
}

/* Parents come before children, and have at least their time. */
static void write_nodes(struct json_text *json, const struct comparison *comparison,
                        const struct trace_index *own)
{
    uint32_t count = context_tree_size(&comparison->tree), kept = 0;
    uint32_t *numbers = memory_allocate(count * sizeof *numbers);
    double least = SHARE * (double)larger_total(node_at(comparison, STACK_ROOT));
    json_text_key(json, "nodes");
    json_text_open(json, '[');
    for (uint32_t i = 0; i < count; i++) {
        const struct context_node *node = node_at(comparison, i);
        bool is_root = i == STACK_ROOT;
        numbers[i] = UINT32_MAX;
        if (!is_root && (node->target != i || numbers[node->parent] == UINT32_MAX ||
                         (double)larger_total(node) < least || kept >= NODES_MAX))
            continue;
        numbers[i] = kept++;
        write_node(json, comparison, own, node, is_root ? 0 : numbers[node->parent]);
    }
    json_text_close(json, ']');
    free(numbers);
}

/* ---- where both part ---- */

static void write_next_call(struct json_text *json, const struct comparison *comparison, int side,
                            const struct divergence_side *next)
{
    struct words words;
    words_open(&words);
    if (words.stream)
        comparison_next_call_print(words.stream, comparison, side, next);
    json_text_key(json, side == CONTEXT_A ? "a" : "b");
    json_text_open(json, '{');
    words_write(&words, json, "words");
    json_text_key(json, "place");
    if (next->has_call)
        query_write_place(json, &next->call);
    else
        json_text_null(json);
    json_text_close(json, '}');
}

static void write_parting(struct json_text *json, const struct comparison *comparison)
{
    const struct divergence *divergence = &comparison->divergence;
    struct words words;
    words_open(&words);
    if (words.stream)
        comparison_parting_print(words.stream, divergence);
    json_text_key(json, "parting");
    json_text_open(json, '{');
    words_write(&words, json, "words");
    for (int side = 0; divergence->is_found && side < CONTEXT_SIDES; side++)
        write_next_call(json, comparison, side, &divergence->sides[side]);
    json_text_close(json, '}');
}

static void write_comparison(struct json_text *json, const struct comparison *comparison,
                             const struct trace_index *own)
{
    json_text_open(json, '{');
    for (int side = 0; side < CONTEXT_SIDES; side++) {
        json_text_key(json, side == CONTEXT_A ? "a" : "b");
        json_text_open(json, '{');
        json_text_member_number(json, "time", comparison->wall[side]);
        json_text_member_number(json, "outside", comparison->outside[side]);
        json_text_close(json, '}');
    }
    write_causes(json, comparison, own);
    write_parting(json, comparison);
    write_nodes(json, comparison, own);
    write_foreign(json, comparison, own);
    json_text_close(json, '}');
}

bool answer_compare(const struct query *query, struct http_answer *answer, struct error *error)
{
    struct trace_part parts[CONTEXT_SIDES];
    for (int side = 0; side < CONTEXT_SIDES; side++)
        if (!read_part(query, &names[side], &parts[side], error))
            return false;
    if (parts[CONTEXT_A].is_call != parts[CONTEXT_B].is_call)
        return error_set(error, ERROR_USAGE,
                         "a call is compared with a call, and a range of time with another.");
    struct comparison comparison;
    struct json_text json;
    bool ok =
        compare_parts(parts, CAUSES, &comparison, error) && query_json_open(answer, &json, error);
    if (ok) {
        write_comparison(&json, &comparison, query->index);
        ok = query_json_close(&json, error);
    }
    comparison_free(&comparison);
    return ok;
}
