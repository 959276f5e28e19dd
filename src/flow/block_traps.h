/* What one basic block does to OCaml's exception handlers, found out once.
 *
 * A slot of the cache in code_space.c, for control_flow.c, which tells of the traps whenever the
 * block runs.
 */
#ifndef MAGIC_TRACE_FLOW_BLOCK_TRAPS_H
#define MAGIC_TRACE_FLOW_BLOCK_TRAPS_H

#include "symbol/ocaml_code.h"
#include "x86/trap_scan.h"

struct block_traps {
    uint64_t first, last;   /* addresses of the block's first and last instruction */
    uint64_t generation;    /* of the code space; 0: the slot is empty */
    struct x86_trap *traps; /* owned; in their order, with addresses of the process */
    size_t count;
};

/* The slot is now about this block, which has no traps. */
void block_traps_clear(struct block_traps *traps, uint64_t first, uint64_t last,
                       uint64_t generation);

/* Finds the block's traps: those in its instructions, which `code` holds, and those that only the
 * compiler's notes tell of. `ocaml` is what is known of the object, where addresses are smaller by
 * `bias`. */
void block_traps_find(struct block_traps *traps, const struct x86_code *code,
                      const struct ocaml_code *ocaml, uint64_t bias);

void block_traps_free(struct block_traps *traps);

#endif
