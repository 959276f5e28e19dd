#include "cli/text/comparison_text.h"

#include "analysis/comparison_words.h"
#include "base/memory.h"
#include "cli/call_command.h"
#include "cli/name_path.h"
#include "index/call_ordinal.h"
#include "index/file/index_reader.h"
#include "output/duration.h"
#include "server/http/json_text.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const letters[CONTEXT_SIDES] = {"A", "B"};

static const struct context_node *node_at(const struct comparison *comparison, uint32_t number)
{
    return context_tree_node(&comparison->tree, number);
}

/* Names from the outermost function to the node; what stands for all threads is left out. */
static struct array path_of(const struct comparison *comparison, uint32_t number)
{
    struct array names = array_of(sizeof(const char *));
    for (;; number = node_at(comparison, number)->parent) {
        uint32_t id = node_at(comparison, number)->group;
        if (id < comparison->ids.count)
            *(const char **)array_insert(&names, 0) = comparison_name(comparison, id);
        if (number == STACK_ROOT)
            return names;
    }
}

static int64_t difference_of(const uint64_t sides[CONTEXT_SIDES])
{
    return (int64_t)(sides[CONTEXT_B] - sides[CONTEXT_A]);
}

/* "+1.234 us" */
static char *signed_duration(char text[static DURATION_TEXT_SIZE + 1], int64_t nanoseconds)
{
    uint64_t size = nanoseconds < 0 ? -(uint64_t)nanoseconds : (uint64_t)nanoseconds;
    *text = nanoseconds < 0 ? '-' : nanoseconds > 0 ? '+' : ' ';
    duration_format(text + 1, size);
    return text;
}

/* Per cent of A's time; 0 when A has none. */
static double per_cent(const struct comparison *comparison, double nanoseconds)
{
    double whole = (double)comparison->wall[CONTEXT_A];
    return whole > 0 ? 100 * nanoseconds / whole : 0;
}

/* The command that shows the longest activation of the node in B; NULL: it has none. */
static bool command_of(const struct comparison_text *text, uint32_t number, char **command,
                       struct error *error)
{
    const struct comparison *comparison = text->comparison;
    const struct context_node *node = node_at(comparison, number);
    *command = NULL;
    if (node->sides[CONTEXT_B].calls == 0 || node->group == comparison->ids.count)
        return true;
    const struct trace_index *index = comparison->parts[CONTEXT_B].index;
    uint32_t group = index_group_of(index, node->longest.span.function);
    uint64_t ordinal;
    if (!index_call_ordinal(index, (struct index_tracks){0}, group, &node->longest, &ordinal,
                            error))
        return false;
    *command = call_command(trace_index_function(index, group).name, ordinal, &node->longest.span,
                            text->traces[CONTEXT_B]);
    return true;
}

/* ---- text ---- */

static void print_heading(FILE *stream, const struct comparison_text *text)
{
    const struct comparison *comparison = text->comparison;
    char wall[DURATION_TEXT_SIZE], inside[DURATION_TEXT_SIZE], more[DURATION_TEXT_SIZE + 1];
    for (int side = 0; side < CONTEXT_SIDES; side++)
        fprintf(stream, "%s: %s: %s, in the program %s\n", letters[side], text->labels[side],
                duration_format(wall, comparison->wall[side]),
                duration_format(inside, comparison->wall[side] - comparison->outside[side]));
    int64_t difference = difference_of(comparison->wall);
    fprintf(stream, "B - A: %s (%+.2f %% of A)\n\n", signed_duration(more, difference),
            per_cent(comparison, (double)difference));
}

static bool print_cause(FILE *stream, const struct comparison_text *text, const struct cause *cause,
                        struct error *error)
{
    const struct comparison *comparison = text->comparison;
    char more[DURATION_TEXT_SIZE + 1];
    fprintf(stream, "%10s %+8.2f %%  ", signed_duration(more, llround(cause->extra)),
            per_cent(comparison, cause->extra));
    comparison_cause_print(stream, comparison, cause);
    fputc('\n', stream);
    if (cause->kind == CAUSE_REST)
        return true;
    struct array path = path_of(comparison, cause->carrier);
    fprintf(stream, "%23s", "");
    name_path_print(stream, path.elements, path.count);
    fputc('\n', stream);
    array_free(&path);
    char *command;
    if (!command_of(text, comparison_cause_node(comparison, cause), &command, error))
        return false;
    if (command)
        fprintf(stream, "%23s%s\n", "", command);
    free(command);
    return true;
}

static void print_divergence(FILE *stream, const struct comparison_text *text)
{
    const struct divergence *divergence = &text->comparison->divergence;
    fputc('\n', stream);
    comparison_parting_print(stream, divergence);
    fputs(divergence->is_found ? ":\n" : ".\n", stream);
    for (int side = 0; divergence->is_found && side < CONTEXT_SIDES; side++) {
        fprintf(stream, "  %s: ", letters[side]);
        comparison_next_call_print(stream, text->comparison, side, &divergence->sides[side]);
        fputc('\n', stream);
    }
}

static void print_names(FILE *stream, const struct comparison *comparison)
{
    enum { SHOWN = 20 };
    if (comparison->renamed.count + comparison->moved.count > 0)
        fputc('\n', stream);
    for (size_t i = 0; i < comparison->renamed.count && i < SHOWN; i++) {
        const struct renamed_function *renamed = array_at(&comparison->renamed, i);
        fprintf(stream, "Renamed: %s is %s in B\n", renamed->names[CONTEXT_A],
                renamed->names[CONTEXT_B]);
    }
    for (size_t i = 0; i < comparison->moved.count && i < SHOWN; i++) {
        const struct moved_function *moved = array_at(&comparison->moved, i);
        fprintf(stream, "Moved: %s from %s to %s\n", comparison_name(comparison, moved->id),
                moved->files[CONTEXT_A], moved->files[CONTEXT_B]);
    }
}

static void print_row(FILE *stream, const uint64_t calls[CONTEXT_SIDES],
                      const uint64_t self[CONTEXT_SIDES], const uint64_t total[CONTEXT_SIDES])
{
    char a[DURATION_TEXT_SIZE], b[DURATION_TEXT_SIZE], more[DURATION_TEXT_SIZE + 1],
        more_total[DURATION_TEXT_SIZE + 1];
    fprintf(stream, "%10" PRIu64 " %10" PRIu64 " %+9" PRId64 " %10s %10s %11s %11s  ",
            calls[CONTEXT_A], calls[CONTEXT_B], difference_of(calls),
            duration_format(a, self[CONTEXT_A]), duration_format(b, self[CONTEXT_B]),
            signed_duration(more, difference_of(self)),
            signed_duration(more_total, difference_of(total)));
}

static void add_row(uint64_t sums[CONTEXT_SIDES], const uint64_t row[CONTEXT_SIDES])
{
    for (int side = 0; side < CONTEXT_SIDES; side++)
        sums[side] += row[side];
}

static bool differ(const uint64_t calls[CONTEXT_SIDES], const uint64_t self[CONTEXT_SIDES])
{
    return difference_of(calls) != 0 || difference_of(self) != 0;
}

static void print_functions(FILE *stream, const struct comparison_text *text)
{
    const struct comparison *comparison = text->comparison;
    uint64_t calls[CONTEXT_SIDES] = {0}, self[CONTEXT_SIDES] = {0};
    for (size_t i = 0; i < comparison->functions.count; i++) {
        const struct function_difference *row = array_at(&comparison->functions, i);
        add_row(calls, row->calls);
        add_row(self, row->self);
        if (i >= text->rows || !differ(row->calls, row->self))
            continue;
        print_row(stream, row->calls, row->self, row->total);
        fprintf(stream, "%s\n", comparison_name(comparison, row->id));
    }
    print_row(stream, calls, self, comparison->wall);
    fprintf(stream, "all %zu functions\n", comparison->functions.count);
}

/* By the size of the difference of self time. */
static int compare_nodes(const void *left, const void *right, void *context)
{
    const struct context_tree *tree = context;
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    const struct context_sums *one = context_tree_node(tree, a)->sides;
    const struct context_sums *other = context_tree_node(tree, b)->sides;
    uint64_t size = (uint64_t)llabs((int64_t)(one[CONTEXT_B].self - one[CONTEXT_A].self));
    uint64_t other_size = (uint64_t)llabs((int64_t)(other[CONTEXT_B].self - other[CONTEXT_A].self));
    if (size != other_size)
        return size > other_size ? -1 : 1;
    return (a > b) - (a < b);
}

/* Nodes with calls, the largest difference first. */
static struct array sorted_nodes(const struct comparison *comparison)
{
    struct array numbers = array_of(sizeof(uint32_t));
    for (uint32_t i = 0; i < context_tree_size(&comparison->tree); i++) {
        const struct context_node *node = node_at(comparison, i);
        if (node->group < comparison->ids.count &&
            node->sides[CONTEXT_A].calls + node->sides[CONTEXT_B].calls > 0)
            *(uint32_t *)array_add(&numbers) = i;
    }
    if (numbers.count > 1)
        qsort_r(numbers.elements, numbers.count, numbers.element_size, compare_nodes,
                (void *)&comparison->tree);
    return numbers;
}

static void read_sums(const struct context_node *node, uint64_t calls[CONTEXT_SIDES],
                      uint64_t self[CONTEXT_SIDES], uint64_t total[CONTEXT_SIDES])
{
    for (int side = 0; side < CONTEXT_SIDES; side++) {
        calls[side] = node->sides[side].calls;
        self[side] = node->sides[side].self;
        total[side] = node->sides[side].total;
    }
}

static void print_paths(FILE *stream, const struct comparison_text *text)
{
    const struct comparison *comparison = text->comparison;
    struct array numbers = sorted_nodes(comparison);
    uint64_t all_calls[CONTEXT_SIDES] = {0}, all_self[CONTEXT_SIDES] = {0};
    for (size_t i = 0; i < numbers.count; i++) {
        uint32_t number = *(uint32_t *)array_at(&numbers, i);
        uint64_t calls[CONTEXT_SIDES], self[CONTEXT_SIDES], total[CONTEXT_SIDES];
        read_sums(node_at(comparison, number), calls, self, total);
        add_row(all_calls, calls);
        add_row(all_self, self);
        if (i >= text->rows || !differ(calls, self))
            continue;
        print_row(stream, calls, self, total);
        struct array path = path_of(comparison, number);
        name_path_print(stream, path.elements, path.count);
        array_free(&path);
        fputc('\n', stream);
    }
    print_row(stream, all_calls, all_self, comparison->wall);
    fprintf(stream, "all %zu paths\n", numbers.count);
    array_free(&numbers);
}

bool comparison_print(FILE *stream, const struct comparison_text *text, struct error *error)
{
    const struct comparison *comparison = text->comparison;
    print_heading(stream, text);
    for (size_t i = 0; i < comparison->causes.count; i++) {
        const struct cause *cause = array_at(&comparison->causes, i);
        if ((cause->kind != CAUSE_REST || fabs(cause->extra) >= 1) &&
            !print_cause(stream, text, cause, error))
            return false;
    }
    print_names(stream, comparison);
    print_divergence(stream, text);
    if (text->branches)
        branch_comparison_print(stream, text->branches);
    fprintf(stream, "\n%10s %10s %9s %10s %10s %11s %11s  %s\n", "calls A", "calls B", "B - A",
            "self A", "self B", "self B - A", "total B - A", text->by_path ? "path" : "function");
    (text->by_path ? print_paths : print_functions)(stream, text);
    return true;
}

/* ---- JSON ---- */

static const char *kind_word(enum cause_kind kind)
{
    static const char *const words[] = {
        [CAUSE_ONLY_SLOW] = "only-b", [CAUSE_ONLY_USUAL] = "only-a", [CAUSE_CALLS] = "calls",
        [CAUSE_SELF] = "self",        [CAUSE_OUTSIDE] = "outside",   [CAUSE_MORE] = "more",
        [CAUSE_SPREAD] = "spread",    [CAUSE_REST] = "rest",
    };
    return words[kind];
}

static void write_signed(struct json_text *json, const char *key, int64_t number)
{
    json_text_key(json, key);
    json_text_signed(json, number);
}

static void write_path(struct json_text *json, const struct comparison *comparison, uint32_t number)
{
    struct array path = path_of(comparison, number);
    json_text_key(json, "path");
    json_text_open(json, '[');
    for (size_t i = 0; i < path.count; i++)
        json_text_string(json, *(const char **)array_at(&path, i));
    json_text_close(json, ']');
    array_free(&path);
}

static void write_sums(struct json_text *json, const uint64_t calls[CONTEXT_SIDES],
                       const uint64_t self[CONTEXT_SIDES], const uint64_t total[CONTEXT_SIDES])
{
    json_text_member_number(json, "calls_a", calls[CONTEXT_A]);
    json_text_member_number(json, "calls_b", calls[CONTEXT_B]);
    json_text_member_number(json, "self_a_ns", self[CONTEXT_A]);
    json_text_member_number(json, "self_b_ns", self[CONTEXT_B]);
    write_signed(json, "self_difference_ns", difference_of(self));
    json_text_member_number(json, "total_a_ns", total[CONTEXT_A]);
    json_text_member_number(json, "total_b_ns", total[CONTEXT_B]);
}

static bool write_cause(struct json_text *json, const struct comparison_text *text,
                        const struct cause *cause, struct error *error)
{
    const struct comparison *comparison = text->comparison;
    json_text_open(json, '{');
    json_text_member_string(json, "kind", kind_word(cause->kind));
    write_signed(json, "difference_ns", llround(cause->extra));
    bool ok = true;
    if (cause->kind != CAUSE_REST) {
        json_text_member_string(json, "function", comparison_cause_name(comparison, cause));
        json_text_member_string(
            json, "carrier",
            comparison_name(comparison, node_at(comparison, cause->carrier)->group));
        write_path(json, comparison, cause->carrier);
        json_text_member_number(json, "calls_a", cause->sides[CONTEXT_A].calls);
        json_text_member_number(json, "calls_b", cause->sides[CONTEXT_B].calls);
        json_text_member_number(json, "places", cause->nodes);
        char *command;
        ok = command_of(text, comparison_cause_node(comparison, cause), &command, error);
        json_text_member_string(json, "command", command);
        free(command);
    }
    json_text_close(json, '}');
    return ok;
}

/* A list, the most important row first, of which as many rows are written as there is space for. */
struct row_list {
    const char *key;
    size_t count;
    void (*write)(struct json_text *json, const struct comparison *comparison,
                  const struct row_list *list, size_t row);
    const struct array *numbers; /* of nodes, of a list of paths */
};

static void write_function(struct json_text *json, const struct comparison *comparison,
                           const struct row_list *list, size_t row)
{
    (void)list;
    const struct function_difference *function = array_at(&comparison->functions, row);
    json_text_member_string(json, "function", comparison_name(comparison, function->id));
    write_sums(json, function->calls, function->self, function->total);
    json_text_member_number(json, "outside_a_ns", function->outside[CONTEXT_A]);
    json_text_member_number(json, "outside_b_ns", function->outside[CONTEXT_B]);
}

static void write_path_row(struct json_text *json, const struct comparison *comparison,
                           const struct row_list *list, size_t row)
{
    uint32_t number = *(uint32_t *)array_at(list->numbers, row);
    uint64_t calls[CONTEXT_SIDES], self[CONTEXT_SIDES], total[CONTEXT_SIDES];
    read_sums(node_at(comparison, number), calls, self, total);
    write_path(json, comparison, number);
    write_sums(json, calls, self, total);
}

static void write_renamed(struct json_text *json, const struct comparison *comparison,
                          const struct row_list *list, size_t row)
{
    (void)list;
    const struct renamed_function *renamed = array_at(&comparison->renamed, row);
    json_text_member_string(json, "a", renamed->names[CONTEXT_A]);
    json_text_member_string(json, "b", renamed->names[CONTEXT_B]);
}

static void write_moved(struct json_text *json, const struct comparison *comparison,
                        const struct row_list *list, size_t row)
{
    (void)list;
    const struct moved_function *moved = array_at(&comparison->moved, row);
    json_text_member_string(json, "function", comparison_name(comparison, moved->id));
    json_text_member_string(json, "a", moved->files[CONTEXT_A]);
    json_text_member_string(json, "b", moved->files[CONTEXT_B]);
}

/* The row as a JSON object. NULL: no memory. The caller frees. */
static char *row_text(const struct comparison *comparison, const struct row_list *list, size_t row)
{
    char *text = NULL;
    size_t size;
    struct json_text json = {.stream = open_memstream(&text, &size)};
    if (!json.stream)
        return NULL;
    json_text_open(&json, '{');
    list->write(&json, comparison, list, row);
    json_text_close(&json, '}');
    fclose(json.stream);
    return text;
}

/* Takes what it writes off *space. Returns how many rows were left out. */
static size_t write_rows(struct json_text *json, const struct comparison *comparison,
                         const struct row_list *list, size_t *space)
{
    size_t row = 0;
    json_text_key(json, list->key);
    json_text_open(json, '[');
    for (; row < list->count; row++) {
        char *text = row_text(comparison, list, row);
        size_t length = text ? strlen(text) + strlen(",") : SIZE_MAX;
        if (length <= *space)
            json_text_raw(json, text);
        free(text);
        if (length > *space)
            break;
        *space -= length;
    }
    json_text_close(json, ']');
    return list->count - row;
}

static void write_divergence(struct json_text *json, const struct comparison_text *text)
{
    const struct divergence *divergence = &text->comparison->divergence;
    json_text_key(json, "divergence");
    json_text_open(json, '{');
    json_text_member_number(json, "common_calls", divergence->common_calls);
    json_text_key(json, "found");
    json_text_bool(json, divergence->is_found);
    for (int i = 0; i < CONTEXT_SIDES; i++) {
        const struct divergence_side *side = &divergence->sides[i];
        json_text_key(json, i == CONTEXT_A ? "a" : "b");
        json_text_open(json, '{');
        json_text_member_string(
            json, "function",
            side->has_call
                ? trace_index_function(text->comparison->parts[i].index, side->call.span.function)
                      .name
                : NULL);
        json_text_member_number(json, "ns", side->has_call ? side->call.span.start : 0);
        json_text_key(json, "stack");
        json_text_open(json, '[');
        for (size_t j = 0; j < side->stack.count; j++) {
            uint32_t id = *(uint32_t *)array_at(&side->stack, j);
            json_text_string(json,
                             id == NO_FUNCTION ? NULL : comparison_name(text->comparison, id));
        }
        json_text_close(json, ']');
        json_text_close(json, '}');
    }
    json_text_close(json, '}');
}

static void write_part(struct json_text *json, const struct comparison_text *text, int side)
{
    json_text_key(json, side == CONTEXT_A ? "a" : "b");
    json_text_open(json, '{');
    json_text_member_string(json, "what", text->labels[side]);
    json_text_member_number(json, "ns", text->comparison->wall[side]);
    json_text_member_number(json, "outside_ns", text->comparison->outside[side]);
    json_text_close(json, '}');
}

static bool write_head(struct json_text *json, const struct comparison_text *text,
                       struct error *error)
{
    const struct comparison *comparison = text->comparison;
    bool ok = true;
    for (int side = 0; side < CONTEXT_SIDES; side++)
        write_part(json, text, side);
    write_signed(json, "difference_ns", difference_of(comparison->wall));
    json_text_key(json, "causes");
    json_text_open(json, '[');
    for (size_t i = 0; ok && i < comparison->causes.count; i++)
        ok = write_cause(json, text, array_at(&comparison->causes, i), error);
    json_text_close(json, ']');
    write_divergence(json, text);
    if (text->branches)
        branch_comparison_write(json, text->branches);
    return ok;
}

/* What is left for rows after `written` bytes. */
static size_t space_after(const struct comparison_text *text, size_t written)
{
    /* Of the keys of four lists, the brackets around them, and the count of what is left out. */
    enum { AROUND_ROWS = 120 };
    size_t used = written + AROUND_ROWS;
    if (text->max_bytes == 0)
        return SIZE_MAX;
    return text->max_bytes > used ? text->max_bytes - used : 0;
}

static void write_lists(struct json_text *json, const struct comparison_text *text, size_t space)
{
    const struct comparison *comparison = text->comparison;
    struct array paths = text->by_path ? sorted_nodes(comparison) : array_of(sizeof(uint32_t));
    const struct row_list functions = {"functions", comparison->functions.count, write_function, 0};
    const struct row_list by_path = {"paths", paths.count, write_path_row, &paths};
    const struct row_list renamed = {"renamed", comparison->renamed.count, write_renamed, 0};
    const struct row_list moved = {"moved", comparison->moved.count, write_moved, 0};
    size_t kept = text->by_path && text->max_bytes ? space / 2 : 0; /* for paths */
    space -= kept;
    size_t omitted = write_rows(json, comparison, &functions, &space);
    space += kept;
    if (text->by_path)
        omitted += write_rows(json, comparison, &by_path, &space);
    omitted += write_rows(json, comparison, &renamed, &space);
    omitted += write_rows(json, comparison, &moved, &space);
    json_text_member_number(json, "omitted", omitted);
    array_free(&paths);
}

bool comparison_print_json(FILE *stream, const struct comparison_text *text, struct error *error)
{
    char *head = NULL;
    size_t size;
    struct json_text json = {.stream = open_memstream(&head, &size)};
    if (!json.stream) {
        error_set_errno(error, ERROR_IO, errno, "cannot write the comparison as JSON");
        return false;
    }
    json_text_open(&json, '{');
    bool ok = write_head(&json, text, error);
    fclose(json.stream);
    if (ok) {
        json.stream = stream;
        fputs(head, stream);
        write_lists(&json, text, space_after(text, size));
        json_text_close(&json, '}');
        fputc('\n', stream);
    }
    free(head);
    return ok;
}
