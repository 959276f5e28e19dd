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

/* What is merged: the runs below `kept` have been looked at, those from `next` on have not; between them there is nothing. */
struct merging {
    const struct inlined_nesting *calls;
    const struct code_flow *flow;
    struct inlined_run *runs;
    size_t kept, next, count;
    struct array neighbours; /* inlined_index: the innermost calls of a run's neighbours */
};

static void add_neighbour(struct merging *merging, const struct inlined_run *neighbour)
{
    if (neighbour)
        *(inlined_index *)array_add(&merging->neighbours) = neighbour->innermost;
}

/* NULL: `address` is not in the function, or in `run`. */
static const struct inlined_run *other_run(const struct merging *merging,
                                           const struct inlined_run *run, uint64_t address)
{
    if (address < run->start)
        return inlined_runs_find(merging->runs, merging->kept, address);
    return inlined_runs_find(merging->runs + merging->next, merging->count - merging->next,
                             address);
}

static void add_sources(struct merging *merging, const struct inlined_run *run)
{
    if (!code_flow_end(merging->flow, run->start)) {
        add_neighbour(merging, merging->kept > 0 ? &merging->runs[merging->kept - 1] : NULL);
        return;
    }
    size_t count;
    const struct code_jump *jumps = code_flow_jumps(merging->flow, run->start, run->end, &count);
    for (size_t i = 0; i < count; i++)
        add_neighbour(merging, other_run(merging, run, jumps[i].from));
}

/* Returns the address that control goes to; 0: it is unknown. */
static uint64_t add_target(struct merging *merging, const struct inlined_run *run)
{
    const struct code_end *end = code_flow_end(merging->flow, run->end);
    uint64_t target = end ? end->target : run->end;
    add_neighbour(merging, other_run(merging, run, target));
    return target;
}

static inlined_index common_neighbour(const struct merging *merging)
{
    const inlined_index *neighbours = merging->neighbours.elements;
    inlined_index owner = neighbours[0];
    for (size_t i = 1; i < merging->neighbours.count; i++)
        owner = common_call(merging->calls, owner, neighbours[i]);
    return owner;
}

static bool none_shares_more(const struct merging *merging, inlined_index call,
                             inlined_index shared)
{
    const inlined_index *neighbours = merging->neighbours.elements;
    for (size_t i = 0; i < merging->neighbours.count; i++)
        if (common_call(merging->calls, call, neighbours[i]) != shared)
            return false;
    return true;
}

/* The call that the rule of the header gives `run` to; its own: it stays. `inward`: only to calls inside of its own. */
static inlined_index owner_of(struct merging *merging, const struct inlined_run *run, bool inward)
{
    const struct inlined_nesting *calls = merging->calls;
    bool is_small = run->end - run->start <= INLINED_RUN_MERGED;
    if (!is_small && !run->is_moved)
        return run->innermost;
    merging->neighbours.count = 0;
    add_sources(merging, run);
    uint64_t target = add_target(merging, run);
    if (merging->neighbours.count < 2)
        return run->innermost;
    inlined_index owner = common_neighbour(merging);
    inlined_index shared = common_call(calls, run->innermost, owner);
    bool is_given = (!inward || shared == run->innermost) && (is_small || shared == owner) &&
                    none_shares_more(merging, run->innermost, shared) &&
                    !begins_in(calls, run->innermost, shared, run->start, run->end) &&
                    !begins_in(calls, owner, shared, target, target + 1);
    return is_given ? owner : run->innermost;
}

/* Appends a run to the `count` first; it becomes a part of the last one if that is of the same
 * call, and control comes from there, or `flow` is NULL. */
static size_t append(struct inlined_run *runs, size_t count, const struct inlined_run *run,
                     const struct code_flow *flow)
{
    if (count > 0 && runs[count - 1].innermost == run->innermost &&
        !(flow && code_flow_end(flow, run->start))) {
        runs[count - 1].end = run->end;
        runs[count - 1].is_moved &= run->is_moved;
        return count;
    }
    runs[count] = *run;
    return count + 1;
}

/* Cuts runs where code ends. */
static struct array cut_runs(const struct array *runs, const struct code_flow *flow)
{
    struct array cut = array_of(sizeof(struct inlined_run));
    array_reserve(&cut, runs->count + flow->ends.count);
    size_t next = 0;
    for (size_t i = 0; i < runs->count; i++) {
        struct inlined_run rest = *(struct inlined_run *)array_at(runs, i);
        for (; next < flow->ends.count; next++) {
            uint64_t at = ((struct code_end *)array_at(&flow->ends, next))->address;
            if (at >= rest.end)
                break;
            if (at <= rest.start)
                continue;
            struct inlined_run *part = array_add(&cut);
            *part = rest;
            part->end = rest.start = at;
        }
        *(struct inlined_run *)array_add(&cut) = rest;
    }
    return cut;
}

static void join_runs(struct array *runs)
{
    size_t kept = 0;
    for (size_t i = 0; i < runs->count; i++) {
        struct inlined_run run = *(struct inlined_run *)array_at(runs, i);
        kept = append(runs->elements, kept, &run, NULL);
    }
    runs->count = kept;
}

/* Whether runs became one. */
static bool merge_once(struct merging *merging, bool inward)
{
    merging->kept = 0;
    for (size_t i = 0; i < merging->count; i++) {
        struct inlined_run run = merging->runs[i];
        merging->next = i + 1;
        run.innermost = owner_of(merging, &run, inward);
        merging->kept = append(merging->runs, merging->kept, &run, merging->flow);
    }
    bool merged = merging->kept < merging->count;
    merging->count = merging->kept;
    return merged;
}

void inlined_runs_merge(struct array *runs, const struct inlined_nesting *calls,
                        const struct code_flow *flow)
{
    struct array cut = cut_runs(runs, flow);
    struct merging merging = {.calls = calls,
                              .flow = flow,
                              .runs = cut.elements,
                              .count = cut.count,
                              .neighbours = array_of(sizeof(inlined_index))};
    while (merge_once(&merging, true))
        ;
    while (merge_once(&merging, false))
        ;
    cut.count = merging.count;
    array_free(&merging.neighbours);
    array_free(runs);
    *runs = cut;
    join_runs(runs);
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
