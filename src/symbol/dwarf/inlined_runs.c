#include "symbol/dwarf/inlined_runs.h"

/* The innermost call that contains both. */
static inlined_index common_call(const struct inlined_nesting *calls, inlined_index left,
                                 inlined_index right)
{
    while (left != right) {
        if (calls[left].depth >= calls[right].depth)
            left = calls[left].parent;
        else
            right = calls[right].parent;
    }
    return left;
}

/* Whether `call` or one that contains it, but not `outer`, begins in [start, end). */
static bool begins_in(const struct inlined_nesting *calls, inlined_index call, inlined_index outer,
                      uint64_t start, uint64_t end)
{
    for (; calls[call].depth > calls[outer].depth; call = calls[call].parent)
        if (calls[call].entry >= start && calls[call].entry < end)
            return true;
    return false;
}

/* Whether the rule of the header gives `run` to `owner`. */
static bool is_given(const struct inlined_nesting *calls, const struct inlined_run *before,
                     const struct inlined_run *run, const struct inlined_run *after,
                     inlined_index owner)
{
    inlined_index shared = common_call(calls, run->innermost, owner);
    bool is_small = run->end - run->start <= INLINED_RUN_MERGED;
    return run->innermost != owner && (is_small || (run->is_moved && shared == owner)) &&
           common_call(calls, run->innermost, before->innermost) == shared &&
           common_call(calls, run->innermost, after->innermost) == shared &&
           !begins_in(calls, run->innermost, shared, run->start, run->end) &&
           !begins_in(calls, owner, shared, after->start, after->start + 1);
}

/* Appends a run to the `count` first; it becomes a part of the last one if that is of the same
 * call. */
static size_t append(struct inlined_run *runs, size_t count, const struct inlined_run *run)
{
    if (count > 0 && runs[count - 1].innermost == run->innermost) {
        runs[count - 1].end = run->end;
        runs[count - 1].is_moved &= run->is_moved;
        return count;
    }
    runs[count] = *run;
    return count + 1;
}

/* `inward`: only into calls inside of the run's own. */
static bool merge_once(struct array *array, const struct inlined_nesting *calls, bool inward)
{
    struct inlined_run *runs = array->elements;
    size_t count = array->count, kept = 0;
    for (size_t i = 0; i < count; i++) {
        struct inlined_run run = runs[i];
        if (kept > 0 && i + 1 < count) {
            inlined_index owner =
                common_call(calls, runs[kept - 1].innermost, runs[i + 1].innermost);
            bool fits = !inward || common_call(calls, run.innermost, owner) == run.innermost;
            if (fits && is_given(calls, &runs[kept - 1], &run, &runs[i + 1], owner))
                run.innermost = owner;
        }
        kept = append(runs, kept, &run);
    }
    array->count = kept;
    return kept < count;
}

void inlined_runs_merge(struct array *runs, const struct inlined_nesting *calls)
{
    while (merge_once(runs, calls, true))
        ;
    while (merge_once(runs, calls, false))
        ;
}

const struct inlined_run *inlined_runs_find(const struct inlined_run *runs, size_t count,
                                            uint64_t address)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (runs[middle].end > address)
            high = middle;
        else
            low = middle + 1;
    }
    return low < count && runs[low].start <= address ? &runs[low] : NULL;
}
