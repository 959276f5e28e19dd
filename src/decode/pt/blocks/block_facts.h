/* What one basic block does, besides its branch, that matters for the call stack: found out once.
 *
 * A slot of the cache in code_space.c, for control_flow.c, which emits it whenever the block runs.
 */
#ifndef MAGIC_TRACE_DECODE_PT_BLOCKS_BLOCK_FACTS_H
#define MAGIC_TRACE_DECODE_PT_BLOCKS_BLOCK_FACTS_H

#include "symbol/elf/ocaml_code.h"
#include "x86/trap_scan.h"

struct block_facts {
    uint64_t first, last;   /* addresses of the block's first and last instruction */
    uint64_t generation;    /* of the code space; 0: the slot is empty */
    bool loads_stack;       /* the block ends in a jump to another place in the stack, or a raise */
    struct x86_trap *traps; /* owned; OCaml's pushes and pops, in their order, with addresses of the
                               process */
    size_t trap_count;
};

/* Prepares the slot for this block, whose facts are still unknown. */
void block_facts_clear(struct block_facts *facts, uint64_t first, uint64_t last,
                       uint64_t generation);

/* Examines the block's instructions, which `code` holds, and the compiler's notes, which also name
 * traps. `ocaml` is what is known of the object, where addresses are smaller by `bias`; NULL if it
 * contains no OCaml. */
void block_facts_find(struct block_facts *facts, const struct x86_code *code,
                      const struct ocaml_code *ocaml, uint64_t bias);

void block_facts_free(struct block_facts *facts);

#endif
