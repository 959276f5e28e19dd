#include "cli/explanation_text.h"

#include "base/memory.h"
#include "cli/call_command.h"
#include "cli/name_path.h"
#include "output/duration.h"
#include "output/short_name.h"
#include "server/http/json_text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const char *name_of(const struct explanation *explanation, uint32_t group)
{
    return trace_index_function(explanation->index, group).name;
}

static const char *subject_of(const struct explanation *explanation)
{
    return name_of(explanation, context_tree_node(&explanation->tree, STACK_ROOT)->group);
}

static uint64_t length_of_longest(const struct explanation *explanation)
{
    const struct call_place *longest = array_at(&explanation->calls.slow, 0);
    return longest->span.end - longest->span.start;
}

static void print_name(FILE *stream, const struct explanation *explanation, uint32_t group)
{
    char *name = short_name(name_of(explanation, group));
    fputs(name, stream);
    free(name);
}

/* The command that shows the place of the cause: its longest call, or the slow call itself. */
static char *command_of(const struct explanation *explanation,
                        const struct explained_cause *explained, const char *trace)
{
    if (explained->ordinal > 0)
        return call_command(name_of(explanation, explained->group), explained->ordinal,
                            &explained->place.span, trace);
    const struct call_place *longest = array_at(&explanation->calls.slow, 0);
    return call_command(subject_of(explanation), explanation->longest_ordinal, &longest->span,
                        trace);
}

/* ---- text ---- */

/* Calls of one call that is looked at: "3", "0.2". */
static const char *print_rate(char text[32], uint64_t calls, uint64_t of)
{
    double rate = (double)calls / (double)of;
    int decimals = calls % of == 0 || rate >= 100 ? 0 : rate >= 1 ? 1 : 3;
    snprintf(text, 32, "%.*f", decimals, rate);
    return text;
}

static const char *print_time(char text[DURATION_TEXT_SIZE], uint64_t time, uint64_t of)
{
    return duration_format(text, (time + of / 2) / of);
}

static void print_only_slow(FILE *stream, const struct cause_sums *slow, uint64_t calls)
{
    char rate[32], time[DURATION_TEXT_SIZE];
    bool once = slow->calls == slow->present;
    if (calls == 1)
        fputs("only in the slow call (", stream);
    else
        fprintf(stream, "only in slow calls (%" PRIu64 " of %" PRIu64 "; ", slow->present, calls);
    if (!once)
        fprintf(stream, "%s times, ", print_rate(rate, slow->calls, slow->present));
    fprintf(stream, "%s%s)", print_time(time, slow->time, slow->present), calls > 1 ? " each" : "");
}

static void print_kind(FILE *stream, const struct explanation *explanation,
                       const struct explained_cause *explained)
{
    const struct cause *cause = &explained->cause;
    const uint64_t *calls = explanation->tree.calls;
    const struct cause_sums *slow = &cause->sides[CONTEXT_SLOW];
    const struct cause_sums *usual = &cause->sides[CONTEXT_USUAL];
    char a[DURATION_TEXT_SIZE], b[DURATION_TEXT_SIZE];
    if (cause->kind != CAUSE_REST) {
        print_name(stream, explanation, explained->group);
        fputs(": ", stream);
    }
    switch (cause->kind) {
    case CAUSE_ONLY_SLOW:
        print_only_slow(stream, slow, calls[CONTEXT_SLOW]);
        break;
    case CAUSE_ONLY_USUAL:
        fprintf(stream, "only in usual calls (%s)",
                print_time(b, usual->time, calls[CONTEXT_USUAL]));
        break;
    case CAUSE_CALLS:
        fprintf(stream, "called %s times instead of %s",
                print_rate(a, slow->calls, calls[CONTEXT_SLOW]),
                print_rate(b, usual->calls, calls[CONTEXT_USUAL]));
        break;
    case CAUSE_SELF:
        fprintf(stream, "its own code takes %s instead of %s",
                print_time(a, slow->time, calls[CONTEXT_SLOW]),
                print_time(b, usual->time, calls[CONTEXT_USUAL]));
        break;
    case CAUSE_OUTSIDE:
        fprintf(stream, "%s outside of the program instead of %s",
                print_time(a, slow->time, calls[CONTEXT_SLOW]),
                print_time(b, usual->time, calls[CONTEXT_USUAL]));
        break;
    case CAUSE_MORE:
        fprintf(stream, "does more, which takes %s instead of %s",
                print_time(a, slow->time, calls[CONTEXT_SLOW]),
                print_time(b, usual->time, calls[CONTEXT_USUAL]));
        break;
    case CAUSE_SPREAD:
        fprintf(stream, "%s instead of %s, spread over it and what it calls",
                print_time(a, slow->time, calls[CONTEXT_SLOW]),
                print_time(b, usual->time, calls[CONTEXT_USUAL]));
        break;
    case CAUSE_REST:
        fputs("everything else", stream);
        break;
    }
}

/* What else is known: where in it the time is, and what that is. */
static void print_details(FILE *stream, const struct explanation *explanation,
                          const struct explained_cause *explained)
{
    const struct cause *cause = &explained->cause;
    if (cause->kind == CAUSE_REST)
        return;
    uint32_t carrier = context_tree_node(&explanation->tree, cause->carrier)->group;
    if (explained->waits && cause->kind != CAUSE_OUTSIDE) {
        fprintf(stream, "; most of it outside of the program, %s of ",
                name_of(explanation, carrier));
        print_name(stream, explanation, explained->waiter);
    } else if (cause->kind == CAUSE_MORE && cause->carrier != cause->node) {
        fputs("; the greatest part of it in ", stream);
        print_name(stream, explanation, carrier);
    } else if (cause->carrier != cause->node && cause->kind != CAUSE_OUTSIDE) {
        fputs("; most of it in ", stream);
        print_name(stream, explanation, carrier);
    }
    if (explained->work)
        fprintf(stream, "; %s", explained->work);
    if (cause->nodes > 1)
        fprintf(stream, "; in %" PRIu32 " places", cause->nodes);
}

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
    print_kind(stream, explanation, explained);
    print_details(stream, explanation, explained);
    fputc('\n', stream);
    if (explained->cause.kind == CAUSE_REST)
        return;
    fprintf(stream, "%21s", "");
    print_path(stream, explanation, &explained->path);
    char *command = command_of(explanation, explained, trace);
    fprintf(stream, "\n%21s%s\n", "", command);
    free(command);
}

static void print_heading(FILE *stream, const struct explanation *explanation)
{
    const struct slow_calls *calls = &explanation->calls;
    char median[DURATION_TEXT_SIZE], limit[DURATION_TEXT_SIZE], longest[DURATION_TEXT_SIZE];
    char *name = short_name(subject_of(explanation));
    fprintf(stream, "%s: %" PRIu64 " calls", name, calls->calls);
    if (calls->level > 0)
        fprintf(stream, " at recursion level %" PRIu32, calls->level);
    fprintf(stream, ", median %s.\n", duration_format(median, calls->median));
    duration_format(longest, length_of_longest(explanation));
    duration_format(limit, calls->limit);
    if (calls->is_longest)
        fprintf(stream, "None took longer than %s. The longest, %s#%" PRIu64 ", took %s.\n", limit,
                name, explanation->longest_ordinal, longest);
    else if (calls->slow_calls == 1)
        fprintf(stream, "%s#%" PRIu64 " took %s.\n", name, explanation->longest_ordinal, longest);
    else
        fprintf(stream, "%" PRIu64 " took longer than %s; the longest, %s#%" PRIu64 ", took %s.\n",
                calls->slow_calls, limit, name, explanation->longest_ordinal, longest);
    free(name);
}

static void print_extra(FILE *stream, const struct explanation *explanation)
{
    const struct slow_calls *calls = &explanation->calls;
    char extra[DURATION_TEXT_SIZE];
    if (explanation->causes.count == 0) {
        fputs("That is no longer than usual calls take, so there is nothing to explain.\n", stream);
        return;
    }
    duration_format(extra, (uint64_t)explanation->extra);
    if (calls->slow.count == 1)
        fprintf(stream, "That is %s more than usual (%zu usual calls compared).", extra,
                calls->usual.count);
    else if (calls->slow.count < calls->slow_calls)
        fprintf(stream,
                "The %zu longest took %s more than usual together (%zu usual calls compared).",
                calls->slow.count, extra, calls->usual.count);
    else
        fprintf(stream, "Together they took %s more than usual (%zu usual calls compared).", extra,
                calls->usual.count);
    fputs(" Where it went:\n\n", stream);
}

void explanation_print(FILE *stream, const struct explanation *explanation, const char *trace)
{
    print_heading(stream, explanation);
    print_extra(stream, explanation);
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
    json_text_bool(json, explained->waits);
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
    json_text_member_number(json, "compared_slow", calls->slow.count);
    json_text_member_number(json, "compared_usual", calls->usual.count);
    json_text_member_number(json, "longest", explanation->longest_ordinal);
    json_text_member_number(json, "longest_ns", length_of_longest(explanation));
    json_text_key(json, "extra_ns");
    json_text_real(json, explanation->extra);
}

void explanation_print_json(FILE *stream, const struct explanation *explanation, const char *trace)
{
    struct json_text json = {.stream = stream};
    json_text_open(&json, '{');
    json_text_member_string(&json, "function", subject_of(explanation));
    write_calls(&json, explanation);
    json_text_key(&json, "causes");
    json_text_open(&json, '[');
    for (size_t i = 0; i < explanation->causes.count; i++)
        write_cause(&json, explanation, array_at(&explanation->causes, i), trace);
    json_text_close(&json, ']');
    json_text_close(&json, '}');
    fputc('\n', stream);
}
