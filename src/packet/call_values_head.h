/* The first word of a group of PTWRITE packets that hold the arguments or the result of a call (-args).
 *
 * Our recorder writes it in a PTWRITE of four bytes, with the FUP of the function's first instruction or of the one that
 * returns; as many PTWRITE packets of eight bytes follow as it says, with the same FUP each. It is odd and below 2^32, so
 * that nobody takes it for a stack pointer, which is what other PTWRITE packets of our recorders report (encoder.h).
 *
 *     bit 0        1
 *     bit 1        result, not arguments
 *     bits 2-11    which function: index into the recording's descriptions (recording/call_values.h)
 *     bits 12-19   how many words follow
 *     bits 20-31   CALL_VALUES_MAGIC
 */
#ifndef MAGIC_TRACE_PACKET_CALL_VALUES_HEAD_H
#define MAGIC_TRACE_PACKET_CALL_VALUES_HEAD_H

#include <stdbool.h>
#include <stdint.h>

enum { CALL_VALUES_MAGIC = 0xa45, CALL_VALUES_PLACE = 0x3ff, CALL_VALUES_WORDS = 0xff };

struct call_values_head {
    uint32_t place, words;
    bool is_result;
};

static inline uint32_t call_values_head(struct call_values_head head)
{
    return (uint32_t)CALL_VALUES_MAGIC << 20 | (head.words & CALL_VALUES_WORDS) << 12 |
           (head.place & CALL_VALUES_PLACE) << 2 | (uint32_t)head.is_result << 1 | 1;
}

/* False: the value of a PTWRITE packet is no such head. */
static inline bool call_values_head_of(uint64_t value, struct call_values_head *head)
{
    *head = (struct call_values_head){value >> 2 & CALL_VALUES_PLACE,
                                      value >> 12 & CALL_VALUES_WORDS, value >> 1 & 1};
    return value >> 20 == CALL_VALUES_MAGIC && (value & 1);
}

#endif
