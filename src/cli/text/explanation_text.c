#include "cli/text/explanation_text.h"

#include "analysis/explanation_words.h"
#include "base/memory.h"
#include "cli/call_command.h"
#include "cli/name_path.h"
#include "output/duration.h"
#include "server/http/json_text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const char *name_of(const struct explanation *explanation, uint32_t group)
{
    return trace_index_function(explanation->index, group).name;
}

/* The command that shows the place of the cause: its longest call, or the slow call itself. */
static char *command_of(const struct explanation *explanation,
                        const struct explained_cause *explained, const char *trace)
{
    if (explained->ordinal > 0)
        return call_command(name_of(explanation, explained->group), explained->ordinal,
                            &explained->place.span, trace);
    const struct call_place *longest = array_at(&explanation->calls.slow, 0);
    return call_command(explanation_subject(explanation), explanation->longest_ordinal,
                        &longest->span, trace);
}

/* ---- text ---- */

static void print_path(FILE *stream, const struct explanation *explanation,
                       const struct array *path)
{
    struct array names = array_of(sizeof(const char *));
    for (size_t i = 0; i < path->count; i++)
        *(const char **)array_add(&names) = name_of(explanation, *(uint32_t *)array_at(path, i));
    name_path_print(stream, names.elements, names.count);
    array_free(&names);
}

static void print_cause(FILE *stream, const struct explanation *explanation,
                        const struct explained_cause *explained, const char *trace)
{
    char time[DURATION_TEXT_SIZE];
    uint64_t size = (uint64_t)(explained->extra < 0 ? -explained->extra : explained->extra);
    char *signed_time =
        memory_format("%s%s", explained->extra < 0 ? "-" : "", duration_format(time, size));
    fprintf(stream, "%5.1f %%  %9s  ", explained->share / 10.0, signed_time);
    free(signed_time);
    explained_cause_print(stream, explanation, explained);
    fputc('\n', stream);
    if (explained->cause.kind == CAUSE_REST)
        return;
    fprintf(stream, "%21s", "");
    print_path(stream, explanation, &explained->path);
    char *command = command_of(explanation, explained, trace);
    fprintf(stream, "\n%21s%s\n", "", command);
    free(command);
}

void explanation_print(FILE *stream, const struct explanation *explanation, const char *trace)
{
    explanation_print_heading(stream, explanation);
    explanation_print_extra(stream, explanation);
    if (explanation->causes.count > 0)
        fputc('\n', stream);
    for (size_t i = 0; i < explanation->causes.count; i++) {
        const struct explained_cause *explained = array_at(&explanation->causes, i);
        if (explained->cause.kind != CAUSE_REST || explained->share != 0)
            print_cause(stream, explanation, explained, trace);
    }
}

/* ---- JSON ---- */

static const char *kind_word(enum cause_kind kind)
{
    static const char *const words[] = {
        [CAUSE_ONLY_SLOW] = "only-slow", [CAUSE_ONLY_USUAL] = "only-usual",
        [CAUSE_CALLS] = "calls",         [CAUSE_SELF] = "self",
        [CAUSE_OUTSIDE] = "outside",     [CAUSE_MORE] = "more",
        [CAUSE_SPREAD] = "spread",       [CAUSE_REST] = "rest",
    };
    return words[kind];
}

static void write_sums(struct json_text *json, const char *key, const struct cause_sums *sums)
{
    json_text_key(json, key);
    json_text_open(json, '{');
    json_text_member_number(json, "calls", sums->calls);
    json_text_member_number(json, "ns", sums->time);
    json_text_member_number(json, "present", sums->present);
    json_text_close(json, '}');
}

static void write_names(struct json_text *json, const struct explanation *explanation,
                        const struct explained_cause *explained)
{
    const struct cause *cause = &explained->cause;
    uint32_t carrier = context_tree_node(&explanation->tree, cause->carrier)->group;
    json_text_member_string(json, "function", name_of(explanation, explained->group));
    json_text_member_string(json, "carrier", name_of(explanation, carrier));
    json_text_key(json, "waits");
    json_text_bool(json, explained->where != PLACE_PROGRAM);
    json_text_member_string(json, "work", explained->work);
    json_text_key(json, "path");
    json_text_open(json, '[');
    for (size_t i = 0; i < explained->path.count; i++)
        json_text_string(json, name_of(explanation, *(uint32_t *)array_at(&explained->path, i)));
    json_text_close(json, ']');
    json_text_member_number(json, "places", cause->nodes);
    write_sums(json, "slow", &cause->sides[CONTEXT_SLOW]);
    write_sums(json, "usual", &cause->sides[CONTEXT_USUAL]);
}

static void write_cause(struct json_text *json, const struct explanation *explanation,
                        const struct explained_cause *explained, const char *trace)
{
    json_text_open(json, '{');
    json_text_member_string(json, "kind", kind_word(explained->cause.kind));
    json_text_key(json, "share");
    json_text_real(json, explained->share / 10.0);
    json_text_key(json, "extra_ns");
    json_text_signed(json, explained->extra);
    if (explained->cause.kind != CAUSE_REST) {
        write_names(json, explanation, explained);
        char *command = command_of(explanation, explained, trace);
        json_text_member_string(json, "command", command);
        free(command);
    }
    json_text_close(json, '}');
}

static void write_calls(struct json_text *json, const struct explanation *explanation)
{
    const struct slow_calls *calls = &explanation->calls;
    json_text_member_number(json, "calls", calls->calls);
    json_text_member_number(json, "recursion_level", calls->level);
    json_text_member_number(json, "median_ns", calls->median);
    json_text_member_number(json, "limit_ns", calls->limit);
    json_text_member_number(json, "slow_calls", calls->slow_calls);
    json_text_member_number(json, "slow_ns", calls->slow_time);
    json_text_member_number(json, "passed_over", calls->preempted_calls);
    json_text_member_number(json, "preempted_ns", explanation_preempted(explanation));
    json_text_member_number(json, "compared_slow", calls->slow.count);
    json_text_member_number(json, "compared_usual", calls->usual.count);
    json_text_member_number(json, "longest", explanation->longest_ordinal);
    json_text_member_number(json, "longest_ns", explanation_longest(explanation));
    json_text_key(json, "extra_ns");
    json_text_real(json, explanation->extra);
}

void explanation_print_json(FILE *stream, const struct explanation *explanation, const char *trace)
{
    struct json_text json = {.stream = stream};
    json_text_open(&json, '{');
    json_text_member_string(&json, "function", explanation_subject(explanation));
    write_calls(&json, explanation);
    json_text_key(&json, "causes");
    json_text_open(&json, '[');
    for (size_t i = 0; i < explanation->causes.count; i++)
        write_cause(&json, explanation, array_at(&explanation->causes, i), trace);
    json_text_close(&json, ']');
    json_text_close(&json, '}');
    fputc('\n', stream);
}
