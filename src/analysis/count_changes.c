#include "analysis/count_changes.h"

#include <stdlib.h>

enum { BASELINE, RUN };

static uint64_t distance(const uint64_t sides[2])
{
    return sides[RUN] > sides[BASELINE] ? sides[RUN] - sides[BASELINE]
                                        : sides[BASELINE] - sides[RUN];
}

static bool is_above(const uint64_t sides[2], double per_cent)
{
    return distance(sides) > 0 &&
           100 * (double)distance(sides) > per_cent * (double)sides[BASELINE];
}

/* Whether the run does more: more instructions, or as many with more calls. */
static bool is_more(const struct count_change *change)
{
    if (change->instructions[RUN] != change->instructions[BASELINE])
        return change->instructions[RUN] > change->instructions[BASELINE];
    return change->calls[RUN] > change->calls[BASELINE];
}

static void add(struct count_changes *changes, const struct instruction_count *baseline,
                const struct instruction_count *run, struct count_threshold threshold)
{
    const struct instruction_count *known = run ? run : baseline;
    struct count_change change = {.thread = known->thread, .function = known->function};
    const struct instruction_count *const sides[2] = {baseline, run};
    for (int side = 0; side < 2; side++) {
        change.calls[side] = sides[side] ? sides[side]->calls : 0;
        change.instructions[side] = sides[side] ? sides[side]->instructions : 0;
        changes->calls[side] += change.calls[side];
        changes->instructions[side] += change.instructions[side];
    }
    if (distance(change.calls) == 0 && distance(change.instructions) == 0)
        return;
    change.counts = is_above(change.calls, threshold.per_cent) ||
                    (distance(change.instructions) >= threshold.instructions &&
                     is_above(change.instructions, threshold.per_cent));
    changes->more += change.counts && is_more(&change);
    changes->less += change.counts && !is_more(&change);
    array_add_all(&changes->changes, &change, 1);
}

static int compare_changes(const void *left, const void *right)
{
    const struct count_change *a = left, *b = right;
    if (a->counts != b->counts)
        return a->counts ? -1 : 1;
    if (distance(a->instructions) != distance(b->instructions))
        return distance(a->instructions) > distance(b->instructions) ? -1 : 1;
    if (distance(a->calls) != distance(b->calls))
        return distance(a->calls) > distance(b->calls) ? -1 : 1;
    return instruction_count_compare(
        &(struct instruction_count){.thread = (char *)a->thread, .function = (char *)a->function},
        &(struct instruction_count){.thread = (char *)b->thread, .function = (char *)b->function});
}

struct count_changes count_changes_find(const struct instruction_counts *baseline,
                                        const struct instruction_counts *run,
                                        struct count_threshold threshold)
{
    struct count_changes changes = {.changes = array_of(sizeof(struct count_change))};
    const struct instruction_count *a = baseline->rows.elements, *b = run->rows.elements;
    size_t i = 0, j = 0;
    while (i < baseline->rows.count || j < run->rows.count) {
        int order = i == baseline->rows.count ? 1
                    : j == run->rows.count    ? -1
                                              : instruction_count_compare(&a[i], &b[j]);
        add(&changes, order <= 0 ? &a[i] : NULL, order >= 0 ? &b[j] : NULL, threshold);
        i += order <= 0;
        j += order >= 0;
    }
    if (changes.changes.count > 1)
        qsort(changes.changes.elements, changes.changes.count, changes.changes.element_size,
              compare_changes);
    return changes;
}

void count_changes_free(struct count_changes *changes)
{
    array_free(&changes->changes);
}
