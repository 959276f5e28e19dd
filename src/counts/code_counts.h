/* How often the code of a recording ran: each basic block, each branch, each call with what it
 * cost.
 *
 * Counted by a decode of its own (flow_steps), so that it costs no other command anything: by
 * superblocks, or by a look at every branch where one call is counted, or what calls cost. Code is
 * identified by its file and the offset in it, so that the processes of a recording, and libraries
 * at different addresses, are counted together.
 *
 * Called by the reports and exports that show counts. Not shared between threads.
 */
#ifndef MAGIC_TRACE_COUNTS_CODE_COUNTS_H
#define MAGIC_TRACE_COUNTS_CODE_COUNTS_H

#include "base/array.h"
#include "decode/flow.h"

/* A place in the code of a recording. */
struct code_place_key {
    const struct image_file *file;
    uint64_t offset;
};

/* A branch, or a block. */
struct branch_count {
    /* The branch instruction, and where it went: of a jump that was not taken, to the next
     * instruction. Of a block: its first instruction, and the address after its last one. */
    struct code_place_key from, to;
    uint64_t count;
    uint64_t cost; /* of calls: instructions executed until they returned, of a recursion those of
                    * the outermost one; 0 without counted_part.calls_cost */
    uint8_t kind;  /* enum flow_step_kind: STEP_BLOCK, a conditional or other jump, a call, a
                    * return */
};

/* An instruction that ran. */
struct instruction_count {
    struct code_place_key at;
    uint32_t size; /* bytes */
    uint64_t count;
};

/* Which part of the recording is counted. */
struct counted_part {
    /* From then on, and before then, on the recording's clock; both 0: all. As exact as packets
     * with the time are frequent. */
    struct nanoseconds from, to;
    const struct clock_conversion *clock; /* NULL: ticks are nanoseconds */
    uint32_t pid, tid;                    /* only this thread; both 0: all */
    const char *call_of; /* only one call of the function of this name or symbol; NULL: all */
    uint64_t call;       /* which, from 1 */
    bool calls_cost;     /* branch_count.cost is wanted, for which each call must be followed */
};

struct code_counts {
    struct symbols *symbols;   /* borrowed, like the files */
    struct array blocks;       /* struct branch_count, by `from`, then `to` */
    struct array branches;     /* likewise */
    struct array instructions; /* struct instruction_count, by place */
    uint64_t executed;         /* instructions */
    uint64_t calls_met;        /* of counted_part.call_of */
};

/* Decodes the recording again. `flow` has packets, and outlives the counts. */
void code_counts_collect(struct code_counts *counts, const struct flow *flow,
                         const struct counted_part *part);
void code_counts_free(struct code_counts *counts);

/* The file as a mapping in which addresses are offsets, for questions to symbols.h. */
struct mapping code_counts_mapping(const struct image_file *file);

/* Index of the first of counts->blocks, branches or instructions that begins there or later. */
size_t code_counts_first(const struct array *entries, const struct code_place_key *place);

/* The branches that were taken, with `from` and `to` exchanged, in the order of these targets. The
 * caller frees it. */
struct array code_counts_by_target(const struct code_counts *counts);

/* How often the instruction there ran. */
uint64_t code_counts_at(const struct code_counts *counts, const struct code_place_key *place);

/* The function that holds the place; bounds are offsets in its file. */
struct function_bounds code_counts_function(const struct code_counts *counts,
                                            const struct code_place_key *place);

/* Whether it is called so: by its readable name, that without the list of arguments, or its symbol. */
bool code_counts_is_called(const struct function *function, const char *name);

/* < 0, 0, > 0: the order of places. */
int code_place_compare(const struct code_place_key *left, const struct code_place_key *right);

#endif
