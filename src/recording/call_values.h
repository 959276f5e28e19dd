/* What the recorded values of calls mean (-args): DIR/call-values.json.
 *
 * Written by the engine that records them, read by the decoder. A group of values in the packets
 * (packet/call_values_head.h) names a function here by its index; the words of the group are those of its arguments, or
 * of its result, one after the other. Types are described as far as showing values needs, so that a recording can be
 * shown where the program's debug information is not.
 *
 * A value in words is its bytes, in whole 64-bit words. A value in memory has before it a word that holds its address;
 * then a word with the number of bytes that could be read (VALUE_CUT: a string goes on after them), then these. A string
 * (VALUE_STRING, VALUE_COUNTED_STRING) is its words, followed by the characters as a value in memory is; of a counted one more
 * bytes than it has may follow.
 */
#ifndef MAGIC_TRACE_RECORDING_CALL_VALUES_H
#define MAGIC_TRACE_RECORDING_CALL_VALUES_H

#include "base/arena.h"
#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum value_kind {
    VALUE_SIGNED,
    VALUE_UNSIGNED,
    VALUE_FLOAT,   /* of 4 or 8 bytes, or the x87's 10 in 16 */
    VALUE_COMPLEX, /* two of them */
    VALUE_BOOL,
    VALUE_CHARACTER,
    VALUE_POINTER,
    VALUE_STRING, /* a pointer to characters up to a 0 */
    VALUE_COUNTED_STRING, /* of Go and Rust: a structure of a pointer to characters and their number, a word each */
    VALUE_ENUM,
    VALUE_STRUCT,
    VALUE_ARRAY,
    VALUE_BYTES, /* of no type that is known here: shown as they are */
    VALUE_KIND_COUNT
};

#define VALUE_CUT (UINT64_C(1) << 63)

struct value_type {
    enum value_kind kind;
    uint32_t size;    /* bytes */
    bool is_unsigned; /* of VALUE_ENUM */
    /* Of VALUE_ENUM the names; of VALUE_STRUCT the members; of VALUE_ARRAY one, the element; of
     * VALUE_COMPLEX likewise. */
    struct value_member *members;
    size_t member_count;
};

struct value_member {
    const char *name; /* NULL: it has none */
    int64_t value;    /* of an enumerator */
    uint32_t offset;  /* of a member, bytes */
    uint32_t bit,
        bits; /* of a bit-field: the offset of its lowest bit from there, and how many; 0 bits: it is none */
    const struct value_type *type; /* of a member or element */
};

/* An argument, or the result. */
struct call_value {
    const char *name;              /* NULL: it has none */
    const struct value_type *type; /* NULL: it could not be recorded, and takes no words */
    bool in_memory;
};

struct call_values_of_function {
    const char *name; /* readable */
    struct call_value *arguments;
    size_t argument_count;
    struct call_value *result; /* NULL: it has none */
};

struct call_values {
    struct call_values_of_function *functions;
    size_t count;
    struct arena memory; /* owns all of them when they were read */
};

bool call_values_write(const struct call_values *values, const char *directory,
                       struct error *error);

/* A recording without them gives none and is no error. */
bool call_values_read(struct call_values *values, const char *directory, struct error *error);
void call_values_free(struct call_values *values);

#endif
