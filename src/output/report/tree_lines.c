#include "output/report/tree_lines.h"

#include "base/memory.h"
#include "base/short_name.h"
#include "output/duration.h"
#include "output/json_quoted.h"
#include "output/mark_kind.h"
#include "output/span_words.h"

#include <inttypes.h>
#include <stdlib.h>

enum {
    INDENT = 2,         /* columns per level */
    INDENT_LEVELS = 50, /* deeper lines have their depth as a number */
};

/* ---- text ---- */

void tree_print_head(const char *recorded, bool sampled, FILE *stream)
{
    if (recorded)
        fprintf(stream, "%s.\n", recorded);
    if (sampled)
        fputs("Samples, not calls: a span is what samples one after the other have in common.\n",
              stream);
    if (recorded || sampled)
        fputc('\n', stream);
}

void tree_print_thread(const struct span_track *thread, bool is_first, bool sampled, FILE *stream)
{
    fprintf(stream,
            "%sthread %s (tid %" PRIu32 ") of process %s (pid %" PRIu32 ")\n%18s %10s  %s\n",
            is_first ? "" : "\n", thread->thread_name, thread->tid, thread->process_name,
            thread->pid, "offset", "duration", sampled ? "samples" : "call");
}

static const char *end_in_words(enum span_end end)
{
    switch (end) {
    case SPAN_END_RETURN:
        return NULL;
    case SPAN_END_TAIL_CALL:
        return "ended by a tail call";
    case SPAN_END_UNWOUND:
        return "unwound";
    case SPAN_END_GAP:
        return "ended in a gap";
    case SPAN_END_OF_TRACE:
        return "still open when the trace ends";
    case SPAN_END_EXEC:
        return "ended by exec";
    case SPAN_END_FILTER:
        return "ended by the filter";
    case SPAN_END_SWITCH:
        return "another stack goes on";
    }
    return NULL;
}

static void print_marks(const struct tree_line *line, FILE *stream)
{
    if (line->flags & SPAN_START_INFERRED)
        fputs("  [beginning not seen]", stream);
    const char *end = end_in_words(line->end);
    if (end)
        fprintf(stream, "  [%s]", end);
    else if (line->flags & SPAN_END_INFERRED)
        fputs("  [end not seen]", stream);
    if (line->flags & SPAN_ACROSS_GAP)
        fputs("  [goes on across a gap]", stream);
}

static void print_name(const struct tree_line *line, FILE *stream)
{
    char *name = line->has_short_name ? short_name(line->function->name) : NULL;
    fputs(name ? name : line->function->name, stream);
    free(name);
}

static void print_hit(const struct tree_line *line, FILE *stream)
{
    fputs("-- ", stream);
    print_name(line, stream);
    if (line->hit->has_argument)
        fprintf(stream, ", argument %" PRId64, line->hit->argument);
    fputs(" --", stream);
}

static void print_call(const struct tree_line *line, FILE *stream)
{
    print_name(line, stream);
    fprintf(stream, "%s%s%s", span_inlined_suffix(line->function), line->values ? "  " : "",
            line->values ? line->values->text : "");
}

void tree_print_line(const struct tree_line *line, uint64_t first,
                     const struct tree_repetition *repetition, FILE *stream)
{
    char text[DURATION_TEXT_SIZE];
    fprintf(stream, "%18s ", duration_format_exact(text, line->start - first));
    bool lasts = line->hit ? line->hit->has_passed : line->function != NULL;
    fprintf(stream, "%10s  ", lasts ? duration_format_call(text, line->length) : "");
    uint32_t levels = line->depth < INDENT_LEVELS ? line->depth : INDENT_LEVELS;
    fprintf(stream, "%*s", (int)levels * INDENT, "");
    if (line->depth > INDENT_LEVELS)
        fprintf(stream, "(depth %" PRIu32 ") ", line->depth);
    if (line->hit)
        print_hit(line, stream);
    else if (line->function)
        print_call(line, stream);
    else
        fprintf(stream, "-- %s --", line->text);
    print_marks(line, stream);
    if (repetition->count > 1) {
        fprintf(stream, "  x%" PRIu64, repetition->count);
        if (lasts)
            fprintf(stream, ", together %s", duration_format(text, repetition->together));
    }
    fputc('\n', stream);
}

/* ---- JSON ---- */

static const char *seen_in_words(uint8_t flags)
{
    if (flags & SPAN_START_INFERRED)
        return flags & SPAN_END_INFERRED ? "neither" : "end";
    return flags & SPAN_END_INFERRED ? "start" : "both";
}

/* Members of an object: ", \"arguments\": {...}, \"result\": ..."; "" of a call without. */
static char *json_of_values(const struct named_values *values)
{
    if (!values)
        return memory_copy_string("");
    size_t arguments = values->count - values->has_result;
    char *list = memory_copy_string("");
    for (size_t i = 0; i < values->count; i++) {
        char *value = json_named_value(&values->values[i]);
        char *name = json_quoted(values->values[i].name);
        char *longer = i < arguments ? memory_format("%s%s%s: %s", list, i ? ", " : "", name, value)
                                     : memory_format("%s}, \"result\": %s", list, value);
        free(list);
        free(name);
        free(value);
        list = longer;
    }
    char *members = memory_format(", \"arguments\": {%s%s", list, values->has_result ? "" : "}");
    free(list);
    return members;
}

/* What a line is, and what is known of that alone. */
static char *json_of_kind(const struct tree_line *line)
{
    if (!line->function)
        return json_member("mark", line->text);
    char *name = json_member(line->hit ? "hit" : "function", line->function->name);
    char *kind;
    if (line->hit && line->hit->has_argument)
        kind = memory_format("%s, \"argument\": %" PRId64, name, line->hit->argument);
    else if (line->hit)
        kind = memory_copy_string(name);
    else
        kind = memory_format(
            "%s, \"duration\": %" PRIu64 ", \"seen\": \"%s\", \"end_reason\": \"%s\"", name,
            line->length, seen_in_words(line->flags), span_end_word((enum span_end)line->end));
    free(name);
    return kind;
}

static char *json_of_line(const struct tree_line *line, const struct span_track *thread,
                          uint64_t first)
{
    char *kind = json_of_kind(line);
    char *name = json_member("thread", thread->thread_name);
    char *values = json_of_values(line->values);
    char *item = memory_format("{\"start\": %" PRIu64 ", \"depth\": %" PRIu32
                               ", %s, %s, \"tid\": %" PRIu32 ", \"pid\": %" PRIu32 "%s}",
                               line->start - first, line->depth, kind, name, thread->tid,
                               thread->pid, values);
    free(values);
    free(kind);
    free(name);
    return item;
}

/* Long calls come before short ones, so that of a call its callers are kept; hits and gaps are the first. */
static uint64_t weight_of(const struct tree_line *line)
{
    bool is_loss = !line->function && mark_kind_of(line->text) != MARK_NOTE;
    return line->hit || is_loss ? UINT64_MAX : line->length;
}

void tree_json_begin(struct json_report *report, FILE *stream, bool sampled, size_t max_bytes)
{
    json_report_begin(report, stream,
                      sampled ? "\"report\": \"tree\", \"sampled\": true"
                              : "\"report\": \"tree\", \"sampled\": false",
                      "calls", max_bytes);
}

void tree_json_add(struct json_report *report, const struct tree_line *line,
                   const struct span_track *thread, uint64_t first)
{
    json_report_add(report, json_of_line(line, thread, first), weight_of(line));
}
