/* callgrind's profile, for kcachegrind and callgrind_annotate: instructions executed (Ir) by
 * instruction and line, and calls with what they cost.
 *
 * A function called through the PLT is shown as called directly, as valgrind does. A function that
 * another one jumps to (a tail call) is not shown as called by it; its cost is in that of the call.
 *
 * Source: "Callgrind Format Specification" in valgrind's manual.
 */
#include "counts/counts_export.h"

#include <inttypes.h>
#include <string.h>

struct writer {
    const struct counts_export *export;
    FILE *stream;
    const char *object, *file; /* current; NULL: none */
    function_id function;
};

static uint64_t address_of(const struct code_place_key *place)
{
    uint64_t address = place->offset;
    image_file_address(place->file, place->offset, &address);
    return address;
}

static const struct line_count *line_at(const struct writer *writer,
                                        const struct code_place_key *place)
{
    const struct array *all = &writer->export->counts->instructions;
    size_t index = code_counts_first(all, place);
    const struct instruction_count *found = index < all->count ? array_at(all, index) : NULL;
    if (!found || code_place_compare(&found->at, place) != 0)
        return NULL;
    uint32_t line = *(uint32_t *)array_at(&writer->export->lines->of_code, index);
    return line > 0 ? array_at(&writer->export->lines->lines, line - 1) : NULL;
}

static const char *file_of(const struct writer *writer, const struct line_count *line)
{
    return line ? *(const char **)array_at(&writer->export->lines->files, line->file) : "???";
}

static const char *object_of(const struct function *function)
{
    return function->object ? function->object : "???";
}

/* Goes on with this function, and with the file of its code. */
static void enter(struct writer *writer, function_id id, const char *file)
{
    const struct function *function = symbols_function(writer->export->counts->symbols, id);
    const char *object = object_of(function);
    if (!writer->object || strcmp(writer->object, object) != 0)
        fprintf(writer->stream, "\nob=%s\n", object);
    if (writer->function != id) {
        fprintf(writer->stream, "fl=%s\nfn=%s\n", file, function->name);
    } else if (strcmp(writer->file, file) != 0) {
        fprintf(writer->stream, "fi=%s\n", file);
    }
    writer->object = object;
    writer->function = id;
    writer->file = file;
}

/* Where a call of a PLT slot led most often; the slot itself if that is unknown. */
static struct code_place_key resolve(const struct writer *writer, struct code_place_key place)
{
    static const char suffix[] = "@plt";
    const struct code_counts *counts = writer->export->counts;
    struct function_bounds slot = code_counts_function(counts, &place);
    const char *name = symbols_function(counts->symbols, slot.function)->name;
    size_t length = strlen(name);
    uint64_t most = 0;
    if (length < sizeof suffix || strcmp(name + length - strlen(suffix), suffix) != 0)
        return place;
    struct code_place_key from = {place.file, slot.start}, found = place;
    for (size_t i = code_counts_first(&counts->branches, &from); i < counts->branches.count; i++) {
        const struct branch_count *branch = array_at(&counts->branches, i);
        if (branch->from.file != place.file || branch->from.offset >= slot.end)
            break;
        struct function_bounds target = code_counts_function(counts, &branch->to);
        if (branch->kind == STEP_JUMP && branch->count > most && branch->to.file != place.file &&
            target.start == branch->to.offset) {
            most = branch->count;
            found = branch->to;
        }
    }
    return found;
}

static void write_call(const struct writer *writer, const struct branch_count *call, uint32_t line)
{
    struct code_place_key to = resolve(writer, call->to);
    function_id id = code_counts_function(writer->export->counts, &to).function;
    const struct function *called = symbols_function(writer->export->counts->symbols, id);
    const struct line_count *called_line = line_at(writer, &to);
    fprintf(writer->stream, "cob=%s\ncfi=%s\ncfn=%s\ncalls=%" PRIu64 " 0x%" PRIx64 " %" PRIu32 "\n",
            object_of(called), file_of(writer, called_line), called->name, call->count,
            address_of(&to), called_line ? called_line->line : 0);
    fprintf(writer->stream, "0x%" PRIx64 " %" PRIu32 " %" PRIu64 "\n", address_of(&call->from),
            line, call->cost);
}

static void write_instruction(struct writer *writer, size_t index)
{
    const struct code_counts *counts = writer->export->counts;
    const struct instruction_count *at = array_at(&counts->instructions, index);
    uint32_t number = *(uint32_t *)array_at(&writer->export->lines->of_code, index);
    const struct line_count *line =
        number > 0 ? array_at(&writer->export->lines->lines, number - 1) : NULL;
    enter(writer, code_counts_function(counts, &at->at).function, file_of(writer, line));
    fprintf(writer->stream, "0x%" PRIx64 " %" PRIu32 " %" PRIu64 "\n", address_of(&at->at),
            line ? line->line : 0, at->count);
    for (size_t i = code_counts_first(&counts->branches, &at->at); i < counts->branches.count;
         i++) {
        const struct branch_count *branch = array_at(&counts->branches, i);
        if (code_place_compare(&branch->from, &at->at) != 0)
            break;
        if (branch->kind == STEP_CALL)
            write_call(writer, branch, line ? line->line : 0);
    }
}

void export_callgrind_write(const struct counts_export *export, FILE *stream)
{
    struct writer writer = {.export = export, .stream = stream, .function = UINT32_MAX};
    fprintf(stream, "# callgrind format\nversion: 1\ncreator: magic-trace\n");
    if (export->command)
        fprintf(stream, "cmd: %s\n", export->command);
    fprintf(stream, "positions: instr line\nevents: Ir\nsummary: %" PRIu64 "\n",
            export->counts->executed);
    for (size_t i = 0; i < export->counts->instructions.count; i++)
        write_instruction(&writer, i);
}
