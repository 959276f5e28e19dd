/* The instructions that compilers emit most, recognized by their first bytes: opcode tables of a
 * few hundred bytes, where Zydis would find out everything about every instruction.
 *
 * Called by instruction.c, which leaves all others to Zydis. Learning the code that a recording
 * executes means decoding one instruction after the other; this is some twenty times as fast as
 * Zydis. tests/unit/x86/usual_instruction_test.c compares the two byte by byte. Source: SDM volume
 * 2, 2.1 and appendix A.
 */
#ifndef MAGIC_TRACE_X86_USUAL_INSTRUCTION_H
#define MAGIC_TRACE_X86_USUAL_INSTRUCTION_H

#include "x86/instruction.h"

/* As x86_decode, of 64-bit code. `bytes`: X86_LONGEST_INSTRUCTION of them. False if the instruction
 * is not in the tables or the bytes are no instruction. */
bool x86_decode_usual(struct x86_instruction *instruction, const uint8_t *bytes, uint64_t pc);

#endif
