#include "counts/annotation.h"

#include <Zydis/Zydis.h>
#include <inttypes.h>
#include <string.h>

enum { TARGETS_SHOWN = 8 };

struct annotation {
    const struct code_counts *counts;
    FILE *stream;
    ZydisDecoder decoder;
    ZydisFormatter formatter;
    const char *file; /* of the newest line; NULL: none was printed */
    uint32_t line;
};

static void print_line(struct annotation *annotation, const struct mapping *mapping, uint64_t at)
{
    struct source_line line = symbols_line_at(annotation->counts->symbols, mapping, at);
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

/* What the branches at `place` did, which `text` is. */
static void print_branches(const struct annotation *annotation, const struct code_place_key *place,
                           const char *text)
{
    const struct array *branches = &annotation->counts->branches;
    size_t first = code_counts_first(branches, place), targets = 0;
    uint64_t taken = 0, not_taken = 0;
    bool conditional = false;
    for (size_t i = first; i < branches->count; i++) {
        const struct branch_count *branch = array_at(branches, i);
        if (code_place_compare(&branch->from, place) != 0)
            break;
        conditional |= branch->kind == STEP_TAKEN || branch->kind == STEP_NOT_TAKEN;
        taken += branch->kind == STEP_TAKEN ? branch->count : 0;
        not_taken += branch->kind == STEP_NOT_TAKEN ? branch->count : 0;
        targets++;
    }
    if (conditional)
        fprintf(annotation->stream, "%-40s taken %" PRIu64 ", not taken %" PRIu64 "\n", text, taken,
                not_taken);
    else
        fprintf(annotation->stream, "%s\n", text);
    for (size_t i = first; !conditional && i < first + targets && i < first + TARGETS_SHOWN; i++) {
        const struct branch_count *branch = array_at(branches, i);
        if (branch->kind == STEP_CALL || branch->kind == STEP_JUMP)
            print_target(annotation, branch);
    }
    if (!conditional && targets > TARGETS_SHOWN)
        fprintf(annotation->stream, "%26s-> %zu more\n", "", targets - TARGETS_SHOWN);
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
    fprintf(annotation->stream, "%12" PRIu64 "  %10" PRIx64 "  ",
            code_counts_at(annotation->counts, place), address);
    print_branches(annotation, place, text);
    return instruction.length;
}

/* Prints the part of the function that the bounds, offsets in the file, are. */
static void print_part(struct annotation *annotation, const struct image_file *file,
                       const struct function_bounds *bounds)
{
    struct mapping mapping = code_counts_mapping(file);
    const struct function *function =
        symbols_function(annotation->counts->symbols, bounds->function);
    uint64_t address = bounds->start, bias = 0;
    if (image_file_address(file, bounds->start, &address))
        bias = address - bounds->start;
    fprintf(annotation->stream, "%s in %s, 0x%" PRIx64 " to 0x%" PRIx64 "\n%12s  %10s\n",
            function->name, function->object ? function->object : file->path, address,
            bounds->end + bias, "executed", "address");
    annotation->file = NULL;
    struct code_place_key place = {file, bounds->start};
    while (place.offset < bounds->end) {
        print_line(annotation, &mapping, place.offset);
        uint32_t size = print_instruction(annotation, &place, place.offset + bias);
        if (size == 0)
            break;
        place.offset += size;
    }
    fputc('\n', annotation->stream);
}

bool annotation_print(const struct code_counts *counts, const char *function, FILE *stream,
                      struct error *error)
{
    struct annotation annotation = {.counts = counts, .stream = stream};
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
    return found || error_set(error, ERROR_NOT_FOUND,
                              "-annotate: no code of %s ran in what is shown. `magic-trace report` "
                              "lists the functions that did.",
                              function);
}
