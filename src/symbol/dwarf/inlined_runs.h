/* Which inlined call each address of a function belongs to.
 *
 * An inlined call is the body of a function that a compiler put into another at one place: a
 * DW_TAG_inlined_subroutine. Inlined calls nest; the innermost one names an address. The code of a
 * function is cut into runs: consecutive addresses with the same innermost inlined call.
 *
 * Compilers interleave the instructions of an inlined call with those around it, so runs of a few
 * instructions are merged into what surrounds them, by one rule. Runs are cut where code ends that continues with no
 * next instruction. A run's neighbours are those that
 * control comes from and goes to: the run before if control falls out of it into the run, else those that jump
 * into it; the run after if control falls into it, else the one that the jump at the run's end goes to. So a part of a
 * call that the compiler moved away, after the function's return for example, has the neighbours that it
 * had, not those that it lies between. Let O be the innermost inlined call (or the function itself) that
 * contains all neighbours. A run is given to O if
 *   - it is at most INLINED_RUN_MERGED bytes long, or O contains it and no statement begins in it:
 *     the compiler moved instructions there, out of a loop for example, and
 *   - the neighbours share no inlined call with it that is not O or contains O: its own
 *     end with it, and
 *   - none of its own begins in it: a short call remains a call, and
 *   - where control goes from it, no inlined call begins that the run is not inside of: where control
 *     comes back to the beginning, that is another call.
 * The rule is applied from the lowest address on until no more runs become one: first to runs of code
 * that contains O, which so becomes whole, then to all.
 *
 * Made by inlined_calls.c of debug information. Source: DWARF 5, 3.3.8 "Inlined Subroutines".
 */
#ifndef MAGIC_TRACE_SYMBOL_INLINED_RUNS_H
#define MAGIC_TRACE_SYMBOL_INLINED_RUNS_H

#include "base/array.h"
#include "symbol/code_flow.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Index of an inlined call in the list of its function; 0: the function itself. */
typedef uint32_t inlined_index;

struct inlined_nesting {
    inlined_index parent; /* smaller than its own index */
    uint32_t depth;       /* 1: directly in the function; of index 0: 0 */
    uint64_t entry;       /* where it begins */
};

struct inlined_run {
    uint64_t start, end; /* end exclusive */
    inlined_index innermost;
    bool is_moved; /* the line table is known, and no statement begins in the run */
};

enum { INLINED_RUN_MERGED = 16 };

/* Merges runs (of struct inlined_run, ascending, without holes). `calls` (of struct
 * inlined_nesting) holds the calls that they name, `flow` how control goes through their code. */
void inlined_runs_merge(struct array *runs, const struct inlined_nesting *calls,
                        const struct code_flow *flow);

/* The run that holds `address`; NULL: none does. */
const struct inlined_run *inlined_runs_find(const struct inlined_run *runs, size_t count,
                                            uint64_t address);

#endif
