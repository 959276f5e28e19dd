/* Where things lie in the data of a random program, as offsets from its beginning. Read by C and by skeleton.S. */
#ifndef MAGIC_TRACE_TESTS_RANDOM_PROGRAMS_LAYOUT_H
#define MAGIC_TRACE_TESTS_RANDOM_PROGRAMS_LAYOUT_H

#define ITERATION 0x00
#define ITERATIONS 0x08
#define FUEL 0x10         /* what guarded branches use up: every iteration ends */
#define FUEL_FULL 0x18    /* at the beginning of each iteration */
#define VECTORS_KIND 0x20 /* 0 SSE, 1 AVX, 2 AVX-512 */
#define SAVED_RCX 0x28
#define CONTROL_WORDS 0x40 /* values for LDMXCSR and FLDCW, 8 bytes each */
#define FUNCTION_TABLE 0x1000
#define JUMP_TABLES 0x1100  /* up to SLOTS */
#define SLOTS 0x4000        /* what the code stores of registers and flags, SLOT_SIZE each */
#define SLOT_SIZE 0x88      /* 16 registers by number, flags */
#define FINAL_SLOT 0x7f00   /* at the end of an iteration */
#define ARENA 0x8000        /* what random instructions read and write */
#define ARENA_MIDDLE 0x8800 /* fs points here */
#define VECTORS 0x9000      /* at the end of an iteration: 32 vector registers, masks, x87 */
#define STACKS 0xa000
#define OTHER_STACK_TOP 0xc000
#define STACK_TOP 0x10000
#define HASHED SLOTS /* up to STACK_TOP */
#define LOG 0x10000  /* a hash of HASHED to STACK_TOP per iteration */
#define MOST_ITERATIONS 0x10000
#define DATA_SIZE (LOG + MOST_ITERATIONS * 8)

#endif
