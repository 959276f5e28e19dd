/* Which of the stacks that a program copies to and fro (greenlet) is left, and which one continues: a word in a PTWRITE packet.
 *
 * All of them lie at the same addresses, so the stack pointer does not say which one it is. The translator recognizes them by
 * what lies on them (runtime/translator/log/copied_stacks.h), and emits this word instead of the stack pointer before the
 * instruction that changes it (pt_encoder_emit_stack_pointer). No address has these upper 16 bits:
 *
 *     bits 48-63   STACK_NUMBERS_MARK
 *     bits 24-47   number of the stack that is left, from now on; another one that had it has ended
 *     bits 0-23    number with which the one that continues was left; 0: unknown
 *
 * Where code loads the stack pointer, and stacks share memory (runtime/translator/log/shared_stacks.h), it emits the stack pointer, too:
 * there 0 is a stack that has its memory for itself.
 */
#ifndef MAGIC_TRACE_PACKET_STACK_NUMBERS_H
#define MAGIC_TRACE_PACKET_STACK_NUMBERS_H

#include <stdbool.h>
#include <stdint.h>

enum { STACK_NUMBERS_MARK = 0x4d54, STACK_NUMBER_BITS = 24 };

struct stack_numbers {
    uint32_t left, continues; /* 0: unknown */
};

static inline uint64_t stack_numbers_word(struct stack_numbers numbers)
{
    return (uint64_t)STACK_NUMBERS_MARK << 48 | (uint64_t)numbers.left << STACK_NUMBER_BITS |
           numbers.continues;
}

/* False: the word is a stack pointer. */
static inline bool stack_numbers_of(uint64_t word, struct stack_numbers *numbers)
{
    enum { MASK = (1 << STACK_NUMBER_BITS) - 1 };
    *numbers = (struct stack_numbers){word >> STACK_NUMBER_BITS & MASK, word & MASK};
    return word >> 48 == STACK_NUMBERS_MARK;
}

#endif
