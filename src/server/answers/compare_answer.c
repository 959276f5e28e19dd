/* /api/compare: what differs between two calls, or two ranges of time (analysis/comparison.h). */
#include "analysis/comparison_words.h"
#include "base/memory.h"
#include "server/answers/query.h"

#include <math.h>
#include <stdlib.h>

enum { CAUSES = 6, NODES_MAX = 4000 };
static const double SHARE = 1.0 / 2000; /* of the longer part: nodes below it are left out */

/* ---- the parts ---- */

/* The names of a part's parameters: of A "a_from", ... */
struct part_names {
    const char *from, *to, *track, *depth, *time;
};
static const struct part_names names[CONTEXT_SIDES] = {
    {"a_from", "a_to", "a_track", "a_depth", "a_time"},
    {"b_from", "b_to", "b_track", "b_depth", "b_time"},
};

static bool read_call(const struct query *query, const struct part_names *name,
                      struct trace_part *part, struct error *error)
{
    uint64_t track, depth, time;
    if (query->facts->tracks == 0 ||
        !parameter_number(query->parameters, name->track, 0, 0, query->facts->tracks - 1, &track,
                          error) ||
        !parameter_number(query->parameters, name->depth, 0, 0, UINT32_MAX, &depth, error) ||
        !parameter_time(query->parameters, name->time, 0, query->facts->duration, &time, error))
        return false;
    struct array stack = array_of(sizeof(struct index_span));
    bool ok = index_span_at(query->index, (uint32_t)track, (uint32_t)depth, time, &stack, error);
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
    *part = (struct trace_part){.index = query->index};
    if (parameters_find(query->parameters, name->track))
        return read_call(query, name, part, error);
    uint64_t end = query->facts->duration + 1;
    if (!parameter_time(query->parameters, name->from, 0, end, &part->range.from, error) ||
        !parameter_time(query->parameters, name->to, end, end, &part->range.to, error))
        return false;
    return part->range.from < part->range.to ||
           error_set(error, ERROR_USAGE, "%s must be before %s.", name->from, name->to);
}

/* ---- the answer ---- */

static const struct context_node *node_at(const struct comparison *comparison, uint32_t number)
{
    return context_tree_node(&comparison->tree, number);
}

/* What the page knows the function by; null: all threads. */
static void write_group(struct json_text *json, const struct comparison *comparison, uint32_t id)
{
    if (id >= comparison->ids.count)
        json_text_null(json);
    else
        json_text_number(json, comparison->ids.groups[CONTEXT_B][id] != NO_FUNCTION
                                   ? comparison->ids.groups[CONTEXT_B][id]
                                   : comparison->ids.groups[CONTEXT_A][id]);
}

static void write_path(struct json_text *json, const struct comparison *comparison, uint32_t number)
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
        write_group(json, comparison, *(uint32_t *)array_at(&path, i));
    json_text_close(json, ']');
    array_free(&path);
}

static void write_cause(struct json_text *json, const struct comparison *comparison,
                        const struct cause *cause, int64_t difference)
{
    char *words = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&words, &size);
    if (stream) {
        comparison_cause_print(stream, comparison, cause);
        fclose(stream);
    }
    json_text_open(json, '{');
    json_text_key(json, "difference");
    json_text_signed(json, difference);
    json_text_member_string(json, "words", words);
    free(words);
    bool has_place = cause->kind != CAUSE_REST;
    const struct context_node *node =
        has_place ? node_at(comparison, comparison_cause_node(comparison, cause)) : NULL;
    if (has_place)
        write_path(json, comparison, cause->carrier);
    json_text_key(json, "place");
    if (node && node->sides[CONTEXT_B].calls > 0 && node->group < comparison->ids.count)
        query_write_place(json, &node->longest);
    else
        json_text_null(json);
    json_text_close(json, '}');
}

/* Rounded from the first on, so that they add up to the whole difference. */
static void write_causes(struct json_text *json, const struct comparison *comparison)
{
    double sum = 0;
    int64_t written = 0;
    json_text_key(json, "causes");
    json_text_open(json, '[');
    for (size_t i = 0; i < comparison->causes.count; i++) {
        const struct cause *cause = array_at(&comparison->causes, i);
        sum += cause->extra;
        write_cause(json, comparison, cause, llround(sum) - written);
        written = llround(sum);
    }
    json_text_close(json, ']');
}

static uint64_t larger_total(const struct context_node *node)
{
    const struct context_sums *sides = node->sides;
    return sides[CONTEXT_A].total > sides[CONTEXT_B].total ? sides[CONTEXT_A].total
                                                           : sides[CONTEXT_B].total;
}

static void write_node(struct json_text *json, const struct comparison *comparison,
                       const struct context_node *node, uint32_t parent)
{
    json_text_open(json, '[');
    json_text_number(json, parent);
    write_group(json, comparison, node->group);
    for (int side = 0; side < CONTEXT_SIDES; side++) {
        json_text_number(json, node->sides[side].calls);
        json_text_number(json, node->sides[side].self);
        json_text_number(json, node->sides[side].total);
    }
    json_text_close(json, ']');
}

/* Parents come before children, and have at least their time. */
static void write_nodes(struct json_text *json, const struct comparison *comparison)
{
    uint32_t count = (uint32_t)comparison->tree.nodes.count, kept = 0;
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
        write_node(json, comparison, node, is_root ? 0 : numbers[node->parent]);
    }
    json_text_close(json, ']');
    free(numbers);
}

static void write_comparison(struct json_text *json, const struct comparison *comparison)
{
    json_text_open(json, '{');
    for (int side = 0; side < CONTEXT_SIDES; side++) {
        json_text_key(json, side == CONTEXT_A ? "a" : "b");
        json_text_open(json, '{');
        json_text_member_number(json, "time", comparison->wall[side]);
        json_text_member_number(json, "outside", comparison->outside[side]);
        json_text_close(json, '}');
    }
    write_causes(json, comparison);
    write_nodes(json, comparison);
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
        write_comparison(&json, &comparison);
        ok = query_json_close(&json, error);
    }
    comparison_free(&comparison);
    return ok;
}
