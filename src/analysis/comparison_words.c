#include "analysis/comparison_words.h"

#include "base/short_name.h"
#include "index/file/index_reader.h"
#include "output/duration.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const struct context_node *node_at(const struct comparison *comparison, uint32_t number)
{
    return context_tree_node(&comparison->tree, number);
}

const char *comparison_name(const struct comparison *comparison, uint32_t id)
{
    return id < comparison->ids.count ? function_ids_function(&comparison->ids, id).name
                                      : "[all threads]";
}

uint32_t comparison_cause_node(const struct comparison *comparison, const struct cause *cause)
{
    return cause->kind == CAUSE_OUTSIDE ? node_at(comparison, cause->node)->parent : cause->node;
}

static bool is_preempted(const struct comparison *comparison, const struct cause *cause)
{
    return cause->kind == CAUSE_OUTSIDE &&
           node_at(comparison, cause->node)->group == comparison->preempted;
}

const char *comparison_cause_name(const struct comparison *comparison, const struct cause *cause)
{
    uint32_t named =
        is_preempted(comparison, cause) ? cause->node : comparison_cause_node(comparison, cause);
    return comparison_name(comparison, node_at(comparison, named)->group);
}

/* Whether the function of a cause is called on that side, on whatever path. */
static bool is_called(const struct comparison *comparison, const struct cause *cause, int side)
{
    uint32_t id = node_at(comparison, cause->node)->group;
    for (size_t i = 0; i < comparison->functions.count; i++) {
        const struct function_difference *row = array_at(&comparison->functions, i);
        if (row->id == id)
            return row->calls[side] > 0;
    }
    return false;
}

/* "only in B, 3 calls, 1.2 us" */
static void print_only(FILE *stream, const struct comparison *comparison, const struct cause *cause,
                       int side)
{
    char time[DURATION_TEXT_SIZE];
    int other = side == CONTEXT_A ? CONTEXT_B : CONTEXT_A;
    uint64_t calls = cause->sides[side].calls;
    fprintf(stream, ": %sonly in %c, %" PRIu64 " call%s, %s",
            is_called(comparison, cause, other) ? "on this path " : "", "AB"[side], calls,
            calls == 1 ? "" : "s", duration_format(time, cause->sides[side].time));
}

static void print_calls(FILE *stream, const struct cause *cause)
{
    uint64_t a = cause->sides[CONTEXT_A].calls, b = cause->sides[CONTEXT_B].calls;
    if (a == b)
        fprintf(stream, "called %" PRIu64 "x in both", a);
    else
        fprintf(stream, "called %" PRIu64 "x in A, %" PRIu64 "x in B", a, b);
}

static void print_kind(FILE *stream, const struct comparison *comparison, const struct cause *cause)
{
    char a[DURATION_TEXT_SIZE], b[DURATION_TEXT_SIZE];
    duration_format(a, cause->sides[CONTEXT_A].time);
    duration_format(b, cause->sides[CONTEXT_B].time);
    switch (cause->kind) {
    case CAUSE_ONLY_SLOW:
        print_only(stream, comparison, cause, CONTEXT_B);
        break;
    case CAUSE_ONLY_USUAL:
        print_only(stream, comparison, cause, CONTEXT_A);
        break;
    case CAUSE_CALLS:
        fputs(": ", stream);
        print_calls(stream, cause);
        break;
    case CAUSE_SELF:
        fprintf(stream, ": its own code takes %s in A, %s in B; ", a, b);
        print_calls(stream, cause);
        break;
    case CAUSE_OUTSIDE:
        if (is_preempted(comparison, cause)) {
            fprintf(stream, ": other threads had the processor %s in A, %s in B", a, b);
            break;
        }
        fprintf(stream, ": outside of the program %s in A, %s in B; ", a, b);
        print_calls(stream, cause);
        break;
    case CAUSE_MORE:
    case CAUSE_SPREAD:
        fprintf(stream, ": %s in A, %s in B, spread over it and what it calls", a, b);
        break;
    case CAUSE_REST:
        fputs("everything else", stream);
        break;
    }
}

static void print_short(FILE *stream, const char *full)
{
    char *name = short_name(full);
    fputs(name, stream);
    free(name);
}

void comparison_cause_print(FILE *stream, const struct comparison *comparison,
                            const struct cause *cause)
{
    if (cause->kind != CAUSE_REST)
        print_short(stream, comparison_cause_name(comparison, cause));
    print_kind(stream, comparison, cause);
    if (cause->kind != CAUSE_REST && cause->kind != CAUSE_OUTSIDE &&
        cause->carrier != cause->node) {
        fputs("; most of it in ", stream);
        print_short(stream,
                    comparison_name(comparison, node_at(comparison, cause->carrier)->group));
    }
    if (cause->nodes > 1)
        fprintf(stream, "; in %" PRIu32 " places", cause->nodes);
}

void comparison_parting_print(FILE *stream, const struct divergence *divergence)
{
    uint64_t calls = divergence->common_calls;
    if (divergence->is_found)
        fprintf(stream, "They part after %" PRIu64 " call%s that both make in the same order",
                calls, calls == 1 ? "" : "s");
    else
        fprintf(stream, "Both make the same %" PRIu64 " calls in the same order", calls);
}

/* "insert (a.c:3)" */
static void print_function(FILE *stream, const struct comparison *comparison, uint32_t id)
{
    struct index_function function = function_ids_function(&comparison->ids, id);
    char *name = short_name(function.name);
    fputs(name, stream);
    free(name);
    const char *slash = function.file ? strrchr(function.file, '/') : NULL;
    if (function.file)
        fprintf(stream, " (%s:%" PRIu32 ")", slash ? slash + 1 : function.file, function.line);
}

void comparison_next_call_print(FILE *stream, const struct comparison *comparison, int side,
                                const struct divergence_side *next)
{
    if (!next->has_call) {
        fputs("makes no further call", stream);
        return;
    }
    uint32_t caller = next->stack.count > 0
                          ? *(uint32_t *)array_at(&next->stack, next->stack.count - 1)
                          : NO_FUNCTION;
    if (caller != NO_FUNCTION) {
        print_function(stream, comparison, caller);
        fputc(' ', stream);
    }
    uint32_t group = index_group_of(comparison->parts[side].index, next->call.span.function);
    char at[DURATION_TEXT_SIZE];
    fputs("calls ", stream);
    print_function(stream, comparison, comparison->ids.by_group[side][group]);
    fprintf(stream, " at %s", duration_format_exact(at, next->call.span.start));
}
