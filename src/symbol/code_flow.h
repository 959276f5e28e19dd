/* How control goes through the code of a function, as its instructions say: direct jumps, and where code ends that
 * continues with no next instruction.
 *
 * Read by symbols.c of the object's file, once per range of code with inlined functions, for dwarf/inlined_runs.c. Calls are
 * taken to return; targets of indirect jumps are unknown. Where bytes are missing or no instructions, control is taken
 * to continue. Addresses are the object's own.
 */
#ifndef MAGIC_TRACE_SYMBOL_CODE_FLOW_H
#define MAGIC_TRACE_SYMBOL_CODE_FLOW_H

#include "base/array.h"
#include "image/image_file.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct code_jump {
    uint64_t target, from; /* `from`: the jump's first byte */
};

/* After a return, or a jump without a condition. */
struct code_end {
    uint64_t padded;  /* after the NOPs that follow */
    uint64_t address; /* after the instruction */
    uint64_t target;  /* of the direct jump; 0: unknown */
};

struct code_flow {
    struct array jumps; /* struct code_jump, by target */
    struct array ends;  /* struct code_end, by address */
};

struct code_flow code_flow_read(const struct image_file *file, uint64_t start, uint64_t end);
void code_flow_free(struct code_flow *flow);

/* The jumps to [start, end), `*count` of them. */
const struct code_jump *code_flow_jumps(const struct code_flow *flow, uint64_t start, uint64_t end,
                                        size_t *count);

/* The end of code before `address`, with nothing but NOPs in between; NULL: control comes to it from the instruction before. */
const struct code_end *code_flow_end(const struct code_flow *flow, uint64_t address);

#endif
