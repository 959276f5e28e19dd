/* One random instruction, and before it what makes its memory operands lie in the program's data.
 *
 * The encoding is random: prefixes, maps, opcodes, operands. Zydis says what it would do, and those are left out that
 * branch, move the stack pointer, change what fs and gs mean, unmask exceptions, or have results of their own at each run
 * (time, processor numbers, random numbers, addresses of x87 instructions). What this processor does not have, or what
 * faults, is found out later by running the program: native_run.h.
 */
#ifndef MAGIC_TRACE_TESTS_RANDOM_PROGRAMS_INSTRUCTION_H
#define MAGIC_TRACE_TESTS_RANDOM_PROGRAMS_INSTRUCTION_H

#include "code.h"
#include "random.h"

/* Appends it. `data`: address of the program's data; `reserved`: general registers that keep their values. */
void instruction_add(struct code *code, struct random *random, uint64_t data, unsigned reserved);

#endif
