/* Pre-aggregated profile of LLVM's BOLT: `perf2bolt -pa -p FILE -o OUT PROGRAM`.
 *
 * Each branch that was taken, with its count (B), and each place where code ran on into code that
 * is also jumped to, or past a conditional jump (F). Addresses are those of the object; those of
 * other objects than the program carry their build id. Mispredictions are not known.
 *
 * Source: DataAggregator.h of llvm/tools/bolt ("pre-aggregated profile").
 */
#include "counts/counts_export.h"

#include <inttypes.h>

static void write_place(const struct code_place_key *place, FILE *stream)
{
    uint64_t address = place->offset;
    char id[BUILD_ID_TEXT_SIZE];
    image_file_address(place->file, place->offset, &address);
    if (!place->file->program && place->file->build_id.size > 0) {
        build_id_format(&place->file->build_id, id);
        fprintf(stream, "%s:", id);
    } else if (!place->file->program) {
        fputs("X:", stream);
    }
    fprintf(stream, "%" PRIx64, address);
}

static void write_row(char kind, const struct code_place_key *from, const struct code_place_key *to,
                      uint64_t count, FILE *stream)
{
    fprintf(stream, "%c ", kind);
    write_place(from, stream);
    fputc(' ', stream);
    write_place(to, stream);
    fprintf(stream, " %" PRIu64 "%s\n", count, kind == 'B' ? " 0" : "");
}

static bool is_taken(const struct branch_count *branch)
{
    return branch->kind != STEP_NOT_TAKEN;
}

/* How often control came to the instruction by branches, by a table of these by target. */
static uint64_t count_to(const struct array *by_target, const struct code_place_key *place)
{
    uint64_t count = 0;
    for (size_t i = code_counts_first(by_target, place); i < by_target->count; i++) {
        const struct branch_count *branch = array_at(by_target, i);
        if (code_place_compare(&branch->from, place) != 0)
            break;
        count += branch->count;
    }
    return count;
}

static bool is_conditional(const struct code_counts *counts, const struct code_place_key *place)
{
    size_t index = code_counts_first(&counts->branches, place);
    const struct branch_count *branch =
        index < counts->branches.count ? array_at(&counts->branches, index) : NULL;
    return branch && code_place_compare(&branch->from, place) == 0 &&
           (branch->kind == STEP_TAKEN || branch->kind == STEP_NOT_TAKEN);
}

static void write_falls(const struct code_counts *counts, const struct array *by_target,
                        FILE *stream)
{
    for (size_t i = 1; i < counts->instructions.count; i++) {
        const struct instruction_count *before = array_at(&counts->instructions, i - 1);
        const struct instruction_count *at = array_at(&counts->instructions, i);
        uint64_t jumped = count_to(by_target, &at->at);
        bool adjacent =
            before->at.file == at->at.file && before->at.offset + before->size == at->at.offset;
        if (adjacent && at->count > jumped && (jumped > 0 || is_conditional(counts, &before->at)))
            write_row('F', &before->at, &at->at, at->count - jumped, stream);
    }
}

void export_bolt_write(const struct counts_export *export, FILE *stream)
{
    const struct code_counts *counts = export->counts;
    struct array by_target = code_counts_by_target(counts);
    for (size_t i = 0; i < counts->branches.count; i++) {
        const struct branch_count *branch = array_at(&counts->branches, i);
        if (is_taken(branch))
            write_row('B', &branch->from, &branch->to, branch->count, stream);
    }
    write_falls(counts, &by_target, stream);
    array_free(&by_target);
}
