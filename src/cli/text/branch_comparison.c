#include "cli/text/branch_comparison.h"

#include "base/log.h"
#include "base/memory.h"
#include "base/short_name.h"
#include "cli/span_input.h"
#include "index/file/index_reader.h"
#include "index/span_scan.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- which branches ---- */

static struct flow *open_flow(const char *path, struct error *error)
{
    if (!span_input_is_recording(path)) {
        error_set(error, ERROR_USAGE,
                  "-branch: %s is a trace, which has calls but no branches. Give the recordings "
                  "(run -working-directory keeps them).",
                  path);
        return NULL;
    }
    const struct flow_options options = {.no_inlined = true, .progress = log_progress};
    struct flow *flow = flow_open(path, &options, error);
    if (!flow || flow_perf_data(flow)->has_setup)
        return flow;
    flow_close(flow);
    error_set(error, ERROR_FORMAT,
              "-branch: %s has no packets, and so no branches: it is of samples or text.", path);
    return NULL;
}

/* Which call of its function this is in its thread, of those whose beginning was seen: the others
 * have no branch that enters them. */
static bool count_entered(const struct trace_index *index, const struct call_place *call,
                          uint64_t *ordinal, struct error *error)
{
    uint32_t group = index_group_of(index, call->span.function);
    const struct index_range range = {0, call->span.start + 1};
    const struct index_span *spans;
    struct span_scan scan = span_scan_begin(index, call->track, range);
    scan.only_groups[0] = group;
    *ordinal = 0;
    for (size_t count; (count = span_scan_next(&scan, &spans, error)) > 0;)
        for (size_t i = count; i-- > 0;) {
            const struct index_span *span = &spans[i];
            bool is_later = span->start > call->span.start ||
                            (span->start == call->span.start && span->depth > call->span.depth);
            *ordinal += !is_later && !(span->flags & SPAN_START_INFERRED) &&
                        index_group_of(index, span->function) == group;
        }
    return span_scan_end(&scan);
}

static bool find_part(const struct trace_part *part, uint32_t track, struct flow *flow,
                      struct branch_part *branches, struct error *error)
{
    const struct index_track thread = trace_index_track(part->index, track);
    *branches = (struct branch_part){.flow = flow, .pid = thread.pid, .tid = thread.tid};
    if (!part->is_call)
        return true;
    const struct index_function function =
        trace_index_function(part->index, part->call.span.function);
    branches->call_of = function.name;
    branches->symbol = function.symbol;
    if (part->call.span.flags & SPAN_START_INFERRED)
        return error_set(error, ERROR_NOT_FOUND,
                         "-branch: the beginning of the call of %s was not recorded.",
                         function.name);
    return count_entered(part->index, &part->call, &branches->call, error);
}

bool branch_comparison_open(struct branch_comparison *branches, const struct comparison *comparison,
                            const char *const traces[CONTEXT_SIDES], struct error *error)
{
    struct branch_part parts[CONTEXT_SIDES];
    *branches = (struct branch_comparison){0};
    for (int side = 0; side < CONTEXT_SIDES; side++) {
        bool is_same = side > 0 && strcmp(traces[side], traces[0]) == 0;
        branches->flows[side] = is_same ? branches->flows[0] : open_flow(traces[side], error);
        if (!branches->flows[side] ||
            !find_part(&comparison->parts[side], comparison->divergence.sides[side].track,
                       branches->flows[side], &parts[side], error))
            return false;
    }
    bool ok = find_branch_divergences(parts, branches->divergences, error);
    log_progress_end();
    return ok;
}

void branch_comparison_close(struct branch_comparison *branches)
{
    if (branches->flows[CONTEXT_B] && branches->flows[CONTEXT_B] != branches->flows[CONTEXT_A])
        flow_close(branches->flows[CONTEXT_B]);
    if (branches->flows[CONTEXT_A])
        flow_close(branches->flows[CONTEXT_A]);
}

/* ---- text ---- */

/* "table.c:43", or "insert+0x1c". */
static void print_line(FILE *stream, const struct branch_place *place)
{
    const char *slash = place->line.file ? strrchr(place->line.file, '/') : NULL;
    if (place->line.file) {
        fprintf(stream, "%s:%" PRIu32, slash ? slash + 1 : place->line.file, place->line.line);
        return;
    }
    char *name = short_name(place->function);
    fprintf(stream, "%s+0x%" PRIx64, name, place->offset);
    free(name);
}

/* "insert (table.c:43)", or "insert+0x1c" */
static void print_function(FILE *stream, const struct branch_place *place)
{
    if (!place->line.file) {
        print_line(stream, place);
        return;
    }
    char *name = short_name(place->function);
    fprintf(stream, "%s (", name);
    free(name);
    print_line(stream, place);
    fputc(')', stream);
}

static void print_target(FILE *stream, const struct parting_branch *branch)
{
    if (strcmp(branch->from.function, branch->to.function) == 0)
        print_line(stream, &branch->to);
    else
        print_function(stream, &branch->to);
}

static void print_branch(FILE *stream, const struct parting_branch *branch)
{
    static const char *const words[] = {
        [STEP_TAKEN] = "the conditional jump is taken, to ",
        [STEP_NOT_TAKEN] = "the conditional jump is not taken; on to ",
        [STEP_JUMP] = "jumps to ",
        [STEP_CALL] = "calls ",
        [STEP_RETURN] = "returns to ",
    };
    if (!branch->is_there) {
        fputs("takes no further branch", stream);
        return;
    }
    print_function(stream, &branch->from);
    fprintf(stream, ": %s", words[branch->kind]);
    print_target(stream, branch);
}

static void print_sides(FILE *stream, const struct branch_divergence *divergence)
{
    for (int side = 0; side < CONTEXT_SIDES; side++) {
        fprintf(stream, "  %c: ", "AB"[side]);
        print_branch(stream, &divergence->sides[side]);
        fputc('\n', stream);
    }
}

/* What comes before the branch of the program: the first in the C library, if it is one; or NULL. */
static const struct branch_divergence *library_branch(const struct branch_comparison *branches)
{
    const struct branch_divergence *all = &branches->divergences[BRANCHES_OF_ALL_CODE];
    const struct branch_divergence *program = &branches->divergences[BRANCHES_OF_PROGRAM];
    bool is_same = program->is_found && branch_is_same(&all->sides[0], &program->sides[0]) &&
                   branch_is_same(&all->sides[1], &program->sides[1]);
    return all->is_found && !is_same ? all : NULL;
}

void branch_comparison_print(FILE *stream, const struct branch_comparison *branches)
{
    const struct branch_divergence *program = &branches->divergences[BRANCHES_OF_PROGRAM];
    const struct branch_divergence *library = library_branch(branches);
    if (program->is_found) {
        fprintf(stream, "The first branch that differs, after %" PRIu64 " that are the same:\n",
                program->common);
        print_sides(stream, program);
    } else {
        fprintf(stream, "Both take the same %" PRIu64 " branches in the same order.\n",
                program->common);
    }
    if (library) {
        fputs("Counting the C library, whose way depends on addresses and the environment, too:\n",
              stream);
        print_sides(stream, library);
    }
}

/* ---- JSON ---- */

static void write_place(struct json_text *json, const char *key, const struct branch_place *place)
{
    json_text_key(json, key);
    json_text_open(json, '{');
    json_text_member_string(json, "function", place->function);
    json_text_member_number(json, "offset", place->offset);
    json_text_member_string(json, "file", place->line.file);
    json_text_member_number(json, "line", place->line.line);
    json_text_close(json, '}');
}

static void write_branch(struct json_text *json, const char *key,
                         const struct parting_branch *branch)
{
    static const char *const kinds[] = {
        [STEP_TAKEN] = "taken", [STEP_NOT_TAKEN] = "not-taken", [STEP_JUMP] = "jump",
        [STEP_CALL] = "call",   [STEP_RETURN] = "return",
    };
    json_text_key(json, key);
    json_text_open(json, '{');
    json_text_member_string(json, "kind", branch->is_there ? kinds[branch->kind] : NULL);
    if (branch->is_there) {
        write_place(json, "from", &branch->from);
        write_place(json, "to", &branch->to);
    }
    json_text_close(json, '}');
}

static void write_divergence(struct json_text *json, const char *key,
                             const struct branch_divergence *divergence)
{
    json_text_key(json, key);
    json_text_open(json, '{');
    json_text_member_number(json, "common_branches", divergence->common);
    json_text_key(json, "found");
    json_text_bool(json, divergence->is_found);
    for (int side = 0; side < CONTEXT_SIDES; side++)
        write_branch(json, side == CONTEXT_A ? "a" : "b", &divergence->sides[side]);
    json_text_close(json, '}');
}

void branch_comparison_write(struct json_text *json, const struct branch_comparison *branches)
{
    const struct branch_divergence none = {0}, *library = library_branch(branches);
    write_divergence(json, "branch", &branches->divergences[BRANCHES_OF_PROGRAM]);
    write_divergence(json, "library_branch", library ? library : &none);
}
