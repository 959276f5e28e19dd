/* Where OCaml code pushes exception handlers, pops them, and raises, read from its instructions.
 *
 * A trap is a pair on the stack, the address of the trap before it and that of the handler. The
 * chain is the place that holds the address of the newest trap: a field of the domain state, which
 * r14 points to; before OCaml 4.10, r14 itself. It is learnt from the code, so it may be any
 * register or memory.
 *
 *     push:   lea HANDLER(%rip),R (or mov $HANDLER,R); push R; push CHAIN; mov %rsp,CHAIN
 *     pop:    pop CHAIN; add $8,%rsp (or pop R, or lea 8(%rsp),%rsp)
 *     raise:  mov CHAIN,%rsp; pop CHAIN; pop R; jmp *R (or ret, with at most one mov before it)
 *
 * and in caml_start_program of OCaml 5, which builds its trap on another stack:
 *
 *     push:   lea HANDLER(%rip),R; mov R,8(S); mov CHAIN,R; mov R,(S); mov S,CHAIN
 *     pop:    mov (%rsp),R; mov R,CHAIN; lea 16(%rsp),S
 *
 * The scan finds the instruction that writes to the chain and examines the instructions before and
 * after it, so the borders of blocks do not matter.
 *
 * symbol/elf/ocaml_code.c learns, decode/pt/blocks/block_facts.c scans each block once. Not found: the
 * trap of a fiber (caml_runstack of OCaml 5), which begins a chain of its own.
 *
 * Source: OCaml's asmcomp/amd64/emit.mlp (Lpushtrap, Lpoptrap, Lraise) and runtime/amd64.S, 4.13 to
 * 5.1; older ones by their description in the change log of 4.10.
 */
#ifndef MAGIC_TRACE_X86_TRAP_SCAN_H
#define MAGIC_TRACE_X86_TRAP_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* 64-bit code; `bytes` are borrowed and lie at `address`. */
struct x86_code {
    const uint8_t *bytes;
    size_t size;
    uint64_t address;
};

/* A register or memory, as an instruction names it. Registers are Zydis's numbers; 0: none. */
struct x86_place {
    uint16_t reg; /* 0: it is memory */
    uint16_t base, index;
    uint8_t scale;
    int64_t displacement; /* if neither base nor index: the address, to which %rip has been added */
};

enum x86_trap_kind {
    X86_TRAP_PUSH,
    X86_TRAP_POP,
    X86_TRAP_RAISE, /* a jump or return to the newest trap's handler, which it pops */
};

struct x86_trap {
    uint64_t address; /* of the instruction that changes the chain; of a raise: of the branch */
    uint64_t handler; /* of a push */
    uint32_t instructions; /* of the block before it */
    uint8_t kind;          /* enum x86_trap_kind */
};

/* Whether the instruction at `address`, in `code`, loads a constant, such as the address of a
 * handler, into a register: a push begins so. */
bool x86_loads_constant(const struct x86_code *code, uint64_t address, uint64_t *constant);

/* Finds the chain by the first push in `code`, which may contain data. False if it has no push. */
bool x86_trap_learn(const struct x86_code *code, struct x86_place *chain);

/* Iterates over the instructions from the address `next` to the one at `last`. */
struct x86_trap_scan {
    const struct x86_code *code; /* NULL: the code has no traps */
    const struct x86_place *chain;
    uint64_t next, last;
    uint32_t instructions; /* of those scanned so far */
};

/* `code` must hold all instructions from `first` to `last`; those that it holds before and after
 * them are examined, too. `code` and `chain` are borrowed. */
struct x86_trap_scan x86_trap_begin(const struct x86_code *code, const struct x86_place *chain,
                                    uint64_t first, uint64_t last);

/* The next trap; false when there are no more. */
bool x86_trap_next(struct x86_trap_scan *scan, struct x86_trap *trap);

#endif
