/* Where an argument or a result is: in registers and on the stack.
 *
 * Made by signatures.c and go_convention.c by the conventions of the languages; engine/chosen_functions.c makes steps of them.
 */
#ifndef MAGIC_TRACE_SYMBOL_VALUE_PLACES_H
#define MAGIC_TRACE_SYMBOL_VALUE_PLACES_H

#include "recording/call_values.h"

#include <stddef.h>
#include <stdint.h>

enum value_place_kind {
    PLACE_REGISTER, /* general register `number`, as the processor numbers them: rax 0, rcx 1, ..., r15 15 */
    PLACE_VECTOR, /* xmm `number` */
    PLACE_STACK,  /* `offset` bytes above the return address */
};

/* A part of a value: the next eight bytes, or the rest of them; on the stack and of a vector all. */
struct value_place {
    enum value_place_kind kind;
    uint8_t number;
    uint32_t size; /* bytes */
    int32_t offset;
};

enum { VALUE_PLACES_MAX = 8 };

struct signature_value {
    struct call_value value; /* type NULL: it is not known where it is, or it is too large */
    struct value_place places[VALUE_PLACES_MAX]; /* of the value, or, `in_memory`, of its address */
    size_t place_count;
};

#endif
