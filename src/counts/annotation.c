#include "counts/annotation.h"

#include "base/memory.h"
#include "output/report/json_report.h"

#include <Zydis/Zydis.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { TARGETS_SHOWN = 8 };

struct annotation {
    const struct code_counts *counts;
    FILE *stream;
    struct json_report *json; /* NULL: text */
    const char *function;     /* of the part that is printed */
    ZydisDecoder decoder;
    ZydisFormatter formatter;
    const char *file; /* of the newest line; NULL: none was printed */
    uint32_t line;
};

static void print_line(struct annotation *annotation, const struct code_place_key *place)
{
    struct mapping mapping = code_counts_mapping(place->file);
    struct source_line line = symbols_line_at(annotation->counts->symbols, &mapping, place->offset);
    if (!line.file || (annotation->file && line.line == annotation->line &&
                       strcmp(line.file, annotation->file) == 0))
        return;
    annotation->file = line.file;
    annotation->line = line.line;
    fprintf(annotation->stream, "%26s%s:%" PRIu32 "\n", "", line.file, line.line);
}

static void print_target(const struct annotation *annotation, const struct branch_count *branch)
{
    struct function_bounds bounds = code_counts_function(annotation->counts, &branch->to);
    const char *name = symbols_function(annotation->counts->symbols, bounds.function)->name;
    fprintf(annotation->stream, "%26s-> %s", "", name);
    if (branch->to.offset != bounds.start)
        fprintf(annotation->stream, "+0x%" PRIx64, branch->to.offset - bounds.start);
    fprintf(annotation->stream, " x%" PRIu64 "\n", branch->count);
}

/* What the branches at a place did. */
struct branches_at {
    size_t first, targets; /* in code_counts.branches */
    uint64_t taken, not_taken;
    bool conditional;
};

static struct branches_at branches_at(const struct code_counts *counts,
                                      const struct code_place_key *place)
{
    const struct array *branches = &counts->branches;
    struct branches_at found = {.first = code_counts_first(branches, place)};
    for (size_t i = found.first; i < branches->count; i++) {
        const struct branch_count *branch = array_at(branches, i);
        if (code_place_compare(&branch->from, place) != 0)
            break;
        found.conditional |= branch->kind == STEP_TAKEN || branch->kind == STEP_NOT_TAKEN;
        found.taken += branch->kind == STEP_TAKEN ? branch->count : 0;
        found.not_taken += branch->kind == STEP_NOT_TAKEN ? branch->count : 0;
        found.targets++;
    }
    return found;
}

static bool is_named(const struct branch_count *branch)
{
    return branch->kind == STEP_CALL || branch->kind == STEP_JUMP;
}

/* The most frequent first. */
static int by_count(const void *left, const void *right)
{
    const struct branch_count *a = *(const struct branch_count *const *)left,
                              *b = *(const struct branch_count *const *)right;
    if (a->count != b->count)
        return a->count > b->count ? -1 : 1;
    return code_place_compare(&a->to, &b->to);
}

/* Where calls and jumps went. Returns led where calls show that they did. */
static void print_targets(const struct annotation *annotation, const struct branches_at *at)
{
    const struct branch_count **named = memory_allocate(at->targets * sizeof(*named) + 1);
    size_t count = 0;
    for (size_t i = 0; i < at->targets; i++) {
        const struct branch_count *branch = array_at(&annotation->counts->branches, at->first + i);
        if (is_named(branch))
            named[count++] = branch;
    }
    qsort(named, count, sizeof *named, by_count);
    uint64_t others = 0;
    for (size_t i = 0; i < count; i++) {
        if (i < TARGETS_SHOWN)
            print_target(annotation, named[i]);
        else
            others += named[i]->count;
    }
    if (count > TARGETS_SHOWN)
        fprintf(annotation->stream, "%26s-> %zu more x%" PRIu64 "\n", "", count - TARGETS_SHOWN,
                others);
    free(named);
}

static void print_branches(const struct annotation *annotation, const struct code_place_key *place,
                           const char *text)
{
    struct branches_at at = branches_at(annotation->counts, place);
    if (at.conditional)
        fprintf(annotation->stream, "%-40s taken %" PRIu64 ", not taken %" PRIu64 "\n", text,
                at.taken, at.not_taken);
    else
        fprintf(annotation->stream, "%s\n", text);
    if (!at.conditional)
        print_targets(annotation, &at);
}

/* `list`, which it frees, with what follows the branch. */
static char *json_add_target(const struct annotation *annotation, const struct branch_count *branch,
                             char *list)
{
    struct function_bounds bounds = code_counts_function(annotation->counts, &branch->to);
    char *name = json_member("function",
                             symbols_function(annotation->counts->symbols, bounds.function)->name);
    char *longer =
        memory_format("%s%s{%s, \"offset\": %" PRIu64 ", \"count\": %" PRIu64 "}", list,
                      *list ? ", " : "", name, branch->to.offset - bounds.start, branch->count);
    free(name);
    free(list);
    return longer;
}

/* Members of an instruction's object. The caller frees. */
static char *json_of_branches(const struct annotation *annotation,
                              const struct code_place_key *place)
{
    struct branches_at at = branches_at(annotation->counts, place);
    if (at.conditional)
        return memory_format(", \"taken\": %" PRIu64 ", \"not_taken\": %" PRIu64, at.taken,
                             at.not_taken);
    char *list = memory_copy_string("");
    for (size_t i = 0; i < at.targets; i++) {
        const struct branch_count *branch = array_at(&annotation->counts->branches, at.first + i);
        if (is_named(branch))
            list = json_add_target(annotation, branch, list);
    }
    char *members =
        memory_format("%s%s%s", *list ? ", \"targets\": [" : "", list, *list ? "]" : "");
    free(list);
    return members;
}

static void add_json(const struct annotation *annotation, const struct code_place_key *place,
                     uint64_t address, const char *text)
{
    struct mapping mapping = code_counts_mapping(place->file);
    struct source_line line = symbols_line_at(annotation->counts->symbols, &mapping, place->offset);
    uint64_t executed = code_counts_at(annotation->counts, place);
    char *function = json_member("function", annotation->function),
         *file = json_member("file", line.file), *instruction = json_member("instruction", text),
         *branches = json_of_branches(annotation, place);
    json_report_add(annotation->json,
                    memory_format("{%s, \"address\": \"0x%" PRIx64 "\", %s, \"executed\": %" PRIu64
                                  "%s, %s, \"line\": %" PRIu32 "}",
                                  function, address, instruction, executed, branches, file,
                                  line.line),
                    executed);
    free(branches);
    free(instruction);
    free(file);
    free(function);
}

/* Prints the instruction; returns its size, 0: no instruction could be decoded. */
static uint32_t print_instruction(struct annotation *annotation, const struct code_place_key *place,
                                  uint64_t address)
{
    const struct file_view *view = &place->file->view;
    ZydisDecodedInstruction instruction;
    ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
    char text[256];
    if (place->offset >= view->size ||
        !ZYAN_SUCCESS(ZydisDecoderDecodeFull(&annotation->decoder, view->bytes + place->offset,
                                             view->size - place->offset, &instruction, operands)) ||
        !ZYAN_SUCCESS(ZydisFormatterFormatInstruction(&annotation->formatter, &instruction,
                                                      operands, instruction.operand_count_visible,
                                                      text, sizeof text, address, NULL)))
        return 0;
    if (annotation->json) {
        add_json(annotation, place, address, text);
        return instruction.length;
    }
    print_line(annotation, place);
    fprintf(annotation->stream, "%12" PRIu64 "  %10" PRIx64 "  ",
            code_counts_at(annotation->counts, place), address);
    print_branches(annotation, place, text);
    return instruction.length;
}

/* Prints the part of the function that the bounds, offsets in the file, are. */
static void print_part(struct annotation *annotation, const struct image_file *file,
                       const struct function_bounds *bounds)
{
    const struct function *function =
        symbols_function(annotation->counts->symbols, bounds->function);
    uint64_t address = bounds->start, bias = 0;
    if (image_file_address(file, bounds->start, &address))
        bias = address - bounds->start;
    if (!annotation->json)
        fprintf(annotation->stream, "%s in %s, 0x%" PRIx64 " to 0x%" PRIx64 "\n%12s  %10s\n",
                function->name, function->object ? function->object : file->path, address,
                bounds->end + bias, "executed", "address");
    annotation->function = function->name;
    annotation->file = NULL;
    struct code_place_key place = {file, bounds->start};
    while (place.offset < bounds->end) {
        uint32_t size = print_instruction(annotation, &place, place.offset + bias);
        if (size == 0)
            break;
        place.offset += size;
    }
    if (!annotation->json)
        fputc('\n', annotation->stream);
}

/* A function that ran with the one of this name inlined into it; NULL: no function did. */
static const char *find_outer(const struct code_counts *counts, const char *name)
{
    struct symbols *symbols = counts->symbols;
    symbols_find_inlined(symbols);
    for (size_t i = 0; i < counts->instructions.count; i++) {
        const struct instruction_count *at = array_at(&counts->instructions, i);
        struct function_bounds bounds = code_counts_function(counts, &at->at);
        struct mapping mapping = code_counts_mapping(at->at.file);
        if (!bounds.inlined)
            continue;
        inlined_id id = symbols_inlined_at(symbols, &mapping, at->at.offset).inlined;
        while (id != INLINED_NONE) {
            const struct inlined *inlined = symbols_inlined(symbols, id);
            if (code_counts_is_called(symbols_function(symbols, inlined->function), name))
                return symbols_function(symbols, bounds.function)->name;
            id = inlined->outer;
        }
    }
    return NULL;
}

static bool report_no_code(const struct code_counts *counts, const char *function,
                           struct error *error)
{
    const char *outer = find_outer(counts, function);
    if (outer)
        return error_set(error, ERROR_NOT_FOUND,
                         "-annotate: %s has no code of its own: it is inlined wherever it ran. "
                         "Name the function that it is inlined into, such as %s, or show its lines "
                         "with -source FILE.",
                         function, outer);
    return error_set(error, ERROR_NOT_FOUND,
                     "-annotate: no code of %s ran in what is shown. `magic-trace report` lists "
                     "the functions that did.",
                     function);
}

bool annotation_print(const struct code_counts *counts, const char *function,
                      struct json_report *json, FILE *stream, struct error *error)
{
    struct annotation annotation = {.counts = counts, .stream = stream, .json = json};
    ZydisDecoderInit(&annotation.decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    ZydisFormatterInit(&annotation.formatter, ZYDIS_FORMATTER_STYLE_INTEL);
    const struct array *all = &counts->instructions;
    bool found = false;
    for (size_t i = 0; i < all->count;) {
        const struct instruction_count *at = array_at(all, i);
        struct function_bounds bounds = code_counts_function(counts, &at->at);
        if (code_counts_is_called(symbols_function(counts->symbols, bounds.function), function)) {
            print_part(&annotation, at->at.file, &bounds);
            found = true;
        }
        struct code_place_key end = {at->at.file, bounds.end};
        size_t next = code_counts_first(all, &end);
        i = next > i ? next : i + 1;
    }
    return found || report_no_code(counts, function, error);
}
