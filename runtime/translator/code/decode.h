/* Decodes one x86-64 instruction, as far as the translator needs it.
 *
 * Called by translate.c for every instruction of every fragment, and again when the state inside a fragment has to be
 * found. A table decoder: an opcode's byte in a table says what follows it and what it does. 64-bit code only.
 * Freestanding: no libc, no vector code.
 *
 * A 66 prefix at a near branch is ignored, as Intel's processors do; AMD's jump to a 16-bit address with it, where no
 * program is. REX2 and what else APX adds is TR_TRAP.
 *
 * Source: SDM volume 2, chapter 2 and appendices A and B; AMD APM volume 3 (XOP, 3DNow!).
 */
#ifndef MAGIC_TRACE_RUNTIME_TRANSLATOR_DECODE_H
#define MAGIC_TRACE_RUNTIME_TRANSLATOR_DECODE_H

#include "runtime/translator/code/instruction.h"

/* Decodes the instruction whose first `size` bytes are at `bytes` and which runs at `pc`. False when more bytes would
 * be needed; nothing about the instruction is known then. Bytes that are no instruction give TR_TRAP, length 1. No byte
 * beyond `size` is read, and none beyond the fifteenth; with less than 15 it takes some nanoseconds longer. */
bool tr_decode(struct tr_instruction *restrict instruction, const uint8_t *restrict bytes,
               size_t size, uint64_t pc);

#endif
