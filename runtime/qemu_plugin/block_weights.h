/* The costs of instructions under qemu, for block_cost.c alone.
 *
 * In quarters of a tick of a time-stamp counter of 2.3 GHz (a Xeon server), measured under qemu 7.2
 * with this plugin: forty times the instruction in a loop of 300 rounds, the best of 12 runs timed
 * by RDTSC, less the empty loop. Where the measured time depends on the neighbours (a chain or
 * not), the weight is in between. The comments give ticks.
 */
#ifndef MAGIC_TRACE_RUNTIME_QEMU_PLUGIN_BLOCK_WEIGHTS_H
#define MAGIC_TRACE_RUNTIME_QEMU_PLUGIN_BLOCK_WEIGHTS_H

enum {
    WEIGHTS_PER_UNIT = 8,

    /* jmp to the next instruction: 7 to 8; test and jcc: 9; an iteration of rep movsb: 8.9. The
     * callback is most of it. */
    WEIGHT_BLOCK = 32,
    /* add 0.2 to 0.6; mul, add, mov, shr, xor in a chain 1.0 each. */
    WEIGHT_SIMPLE = 3,
    /* More: a load 0.4, in a chain 4.3; store and load of the same 1.4; push and pop 2.2. With a
     * LOCK prefix the same while the program has one thread; qemu's translation does not lock then.
     */
    WEIGHT_MEMORY = 2,
    /* qemu looks up where it leads: call, ret and jmp 33. */
    WEIGHT_RETURN = 32,
    /* lea and jmp *%rax 80, call *%rax and its return 110: a TIP packet and its time. */
    WEIGHT_INDIRECT = 250,
    WEIGHT_MULTIPLICATION = 8,  /* 2.0 */
    WEIGHT_DIVISION = 54,       /* 11; more when its operands change: a function of qemu's */
    WEIGHT_CARRY = 26,          /* adc 6.5, rcl 6.6: the flags are computed for it */
    WEIGHT_VARIABLE_SHIFT = 11, /* 2.5 to 3.6 */
    WEIGHT_BIT = 8,             /* bt 3.0, bsf 0.5 */
    WEIGHT_FLAGS = 80,          /* pushf and popf 39 */
    WEIGHT_SYSTEM = 100,        /* rdtsc 25 */
    WEIGHT_X87 = 120,           /* fadd 30, fldl and fstpl 80 */
    /* pxor, paddd, pcmpeqb 5 to 6 in a chain; vpaddd of 32 bytes alone 1.1. */
    WEIGHT_VECTOR = 16,
    /* movaps 0.3; of a number that was just computed 6.6. */
    WEIGHT_VECTOR_MOVE = 16,
    /* More: movups from memory 14.5, vmovdqu of 32 bytes 16: written in halves and read whole,
     * which the processor cannot forward. */
    WEIGHT_VECTOR_LOAD = 58,
    WEIGHT_BYTE_SHUFFLE = 140, /* pshufb 35, of 32 bytes 62: byte by byte */
    WEIGHT_BYTE_SHIFT = 90,    /* psrldq 23, palignr 9 */
    /* A call of a function of qemu, once per number: addsd 10, mulsd 13, divsd 15, addpd 23, addps
     * 38, mulps 46, vaddpd of 32 bytes 54. */
    WEIGHT_FLOATING = 37,
};

#endif
