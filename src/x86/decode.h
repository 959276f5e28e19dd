/* Decodes x86-64 instructions as far as the flow of control needs it (instruction.h).
 *
 * usual_instruction.h decodes those that compilers emit most; Zydis decodes the others.
 */
#ifndef MAGIC_TRACE_X86_DECODE_H
#define MAGIC_TRACE_X86_DECODE_H

#include "x86/instruction.h"

/* Decodes the instruction whose first `size` bytes are at `bytes` and which runs at address `pc`.
 * False when the bytes are not an instruction or only the beginning of one. */
bool x86_decode(struct x86_instruction *instruction, const uint8_t *bytes, size_t size, uint64_t pc,
                enum x86_mode mode);

/* Whether the instruction makes what its thread did before visible to other threads in order: a
 * LOCK prefix, XCHG with memory, MFENCE (SDM volume 3, "Strengthening or Weakening the
 * Memory-Ordering Model"). 64-bit code; false when the bytes are not a whole instruction. */
bool x86_synchronises(const uint8_t *bytes, size_t size);

#endif
