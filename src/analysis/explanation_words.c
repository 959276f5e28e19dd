#include "analysis/explanation_words.h"

#include "base/short_name.h"
#include "output/duration.h"

#include <inttypes.h>
#include <stdlib.h>

static const char *name_of(const struct explanation *explanation, uint32_t group)
{
    return trace_index_function(explanation->index, group).name;
}

const char *explanation_subject(const struct explanation *explanation)
{
    return name_of(explanation, context_tree_node(&explanation->tree, STACK_ROOT)->group);
}

uint64_t explanation_longest(const struct explanation *explanation)
{
    const struct call_place *longest = array_at(&explanation->calls.slow, 0);
    return longest->span.end - longest->span.start -
           slow_calls_left_out(&explanation->calls, longest);
}

static void print_name(FILE *stream, const struct explanation *explanation, uint32_t group)
{
    char *name = short_name(name_of(explanation, group));
    fputs(name, stream);
    free(name);
}

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
        fprintf(stream, "%s %s instead of %s",
                explained->where == PLACE_SUSPENDED ? "suspended for" : "its own code takes",
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

/* Of time outside of the program: what it is. */
static void print_outside(FILE *stream, enum explained_place where)
{
    if (where == PLACE_WAITING)
        fputs(", waiting in a system call", stream);
    else if (where == PLACE_SYSTEM_CALL)
        fputs(", in a system call", stream);
    else if (where == PLACE_PREEMPTED)
        fputs(", preempted: its processor ran something else", stream);
}

static void print_most_outside(FILE *stream, const struct explanation *explanation,
                               const struct explained_cause *explained)
{
    uint32_t carrier = context_tree_node(&explanation->tree, explained->cause.carrier)->group;
    static const char *const where[] = {
        [PLACE_PROGRAM] = "",
        [PLACE_SYSTEM_CALL] = "in a system call of",
        [PLACE_WAITING] = "waiting in a system call of",
        [PLACE_PREEMPTED] = "preempted, while its processor ran something else, in",
        [PLACE_SUSPENDED] = "suspended, while other goroutines or fibers ran, in",
    };
    if (explained->where == PLACE_OUTSIDE)
        fprintf(stream, "; most of it outside of the program, %s of ",
                name_of(explanation, carrier));
    else
        fprintf(stream, "; most of it %s ", where[explained->where]);
    print_name(stream, explanation, explained->waiter);
}

/* What else is known: where in it the time is, and what that is. */
static void print_details(FILE *stream, const struct explanation *explanation,
                          const struct explained_cause *explained)
{
    const struct cause *cause = &explained->cause;
    if (cause->kind == CAUSE_REST)
        return;
    uint32_t carrier = context_tree_node(&explanation->tree, cause->carrier)->group;
    if (cause->kind == CAUSE_OUTSIDE) {
        print_outside(stream, explained->where);
    } else if (explained->where != PLACE_PROGRAM) {
        print_most_outside(stream, explanation, explained);
    } else if (cause->kind == CAUSE_MORE && cause->carrier != cause->node) {
        fputs("; the greatest part of it in ", stream);
        print_name(stream, explanation, carrier);
    } else if (cause->carrier != cause->node) {
        fputs("; most of it in ", stream);
        print_name(stream, explanation, carrier);
    }
    if (explained->work)
        fprintf(stream, "; %s", explained->work);
    if (cause->nodes > 1)
        fprintf(stream, "; in %" PRIu32 " places", cause->nodes);
}

void explained_cause_print(FILE *stream, const struct explanation *explanation,
                           const struct explained_cause *explained)
{
    print_kind(stream, explanation, explained);
    print_details(stream, explanation, explained);
}

/* Of the longest call: what of its time does not count. */
static void print_preempted(FILE *stream, const struct explanation *explanation)
{
    char time[DURATION_TEXT_SIZE];
    uint64_t left_out =
        slow_calls_left_out(&explanation->calls, array_at(&explanation->calls.slow, 0));
    if (left_out > 0)
        fprintf(stream, ", without the %s in which it was preempted",
                duration_format(time, left_out));
}

/* Calls that are no slow ones without the time in which they were preempted. */
static void print_preempted_calls(FILE *stream, const struct slow_calls *calls)
{
    char time[DURATION_TEXT_SIZE];
    duration_format(time, calls->preempted_time);
    if (calls->preempted_calls == 1)
        fprintf(stream, "One more took that long only because it was preempted, for %s", time);
    else if (calls->preempted_calls > 1)
        fprintf(stream,
                "%" PRIu64 " more took that long only because they were preempted, for %s together",
                calls->preempted_calls, time);
    if (calls->preempted_calls > 0)
        fputs(" (explain -wall counts that).\n", stream);
}

void explanation_print_heading(FILE *stream, const struct explanation *explanation)
{
    const struct slow_calls *calls = &explanation->calls;
    char median[DURATION_TEXT_SIZE], limit[DURATION_TEXT_SIZE], longest[DURATION_TEXT_SIZE];
    char *name = short_name(explanation_subject(explanation));
    fprintf(stream, "%s: %" PRIu64 " calls", name, calls->calls);
    if (calls->level > 0)
        fprintf(stream, " at recursion level %" PRIu32, calls->level);
    fprintf(stream, ", median %s.\n", duration_format(median, calls->median));
    duration_format(longest, explanation_longest(explanation));
    duration_format(limit, calls->limit);
    if (calls->is_longest)
        fprintf(stream, "None took longer than %s. The longest, %s#%" PRIu64 ", took %s", limit,
                name, explanation->longest_ordinal, longest);
    else if (calls->slow_calls == 1)
        fprintf(stream, "%s#%" PRIu64 " took %s", name, explanation->longest_ordinal, longest);
    else
        fprintf(stream, "%" PRIu64 " took longer than %s; the longest, %s#%" PRIu64 ", took %s",
                calls->slow_calls, limit, name, explanation->longest_ordinal, longest);
    print_preempted(stream, explanation);
    fputs(".\n", stream);
    print_preempted_calls(stream, calls);
    free(name);
}

uint64_t explanation_preempted(const struct explanation *explanation)
{
    uint64_t left_out = 0;
    for (size_t i = 0; i < explanation->calls.slow.count; i++)
        left_out += slow_calls_left_out(&explanation->calls, array_at(&explanation->calls.slow, i));
    return left_out;
}

void explanation_print_extra(FILE *stream, const struct explanation *explanation)
{
    const struct slow_calls *calls = &explanation->calls;
    char time[DURATION_TEXT_SIZE];
    uint64_t preempted = explanation_preempted(explanation);
    char t = preempted > 0 ? 't' : 'T';
    if (preempted > 0)
        fprintf(stream, "Without the %s in which %s preempted, ", duration_format(time, preempted),
                calls->slow.count == 1 ? "it was" : "they were");
    if (explanation->causes.count == 0) {
        fprintf(stream,
                "%chat is no longer than usual calls take, so there is nothing to explain.\n", t);
        return;
    }
    duration_format(time, (uint64_t)explanation->extra);
    if (calls->slow.count == 1)
        fprintf(stream, "%chat is %s more than usual", t, time);
    else if (calls->slow.count < calls->slow_calls)
        fprintf(stream, "%che %zu that stand out took %s more than usual together", t,
                calls->slow.count, time);
    else
        fprintf(stream, "%cogether they took %s more than usual", t, time);
    fprintf(stream, " (%zu usual calls compared). Where it went:\n", calls->usual.count);
}
