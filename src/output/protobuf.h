/* Messages of protocol buffers, made field by field.
 *
 * Used by the exporters of Perfetto's and pprof's format and for the wall clock in FXT. What is
 * needed is small and is done millions of times a second: libprotobuf-c takes 75 ns for a message
 * that takes about 22 here, and would need its compiler to build magic-trace.
 *
 * A message inside of another is begun and ended in its place:
 *
 *     size_t mark = protobuf_begin(&message, 11);
 *     protobuf_number(&message, 9, 1);
 *     protobuf_end(&message, mark);
 *
 * Source: https://protobuf.dev/programming-guides/encoding
 */
#ifndef MAGIC_TRACE_OUTPUT_PROTOBUF_H
#define MAGIC_TRACE_OUTPUT_PROTOBUF_H

#include <stddef.h>
#include <stdint.h>

/* How a field's value follows its key. */
enum protobuf_wire {
    PROTOBUF_VARINT = 0,
    PROTOBUF_FIXED64 = 1,
    PROTOBUF_BYTES = 2,
};

enum {
    PROTOBUF_VARINT_MAX = 10, /* bytes */
    PROTOBUF_KEY_MAX = 5,
};

/* All zero is an empty message. */
struct protobuf {
    uint8_t *bytes; /* owned */
    size_t count, capacity;
};

void protobuf_free(struct protobuf *message);

/* Makes room for `size` more bytes. */
void protobuf_grow(struct protobuf *message, size_t size);

static inline void protobuf_make_room(struct protobuf *message, size_t size)
{
    if (message->capacity - message->count < size)
        protobuf_grow(message, size);
}

/* Writes `value` at `next`, which has room for it; returns the position after it. */
static inline uint8_t *protobuf_put_varint(uint8_t *next, uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        *next++ = (uint8_t)(value | 0x80);
    *next++ = (uint8_t)value;
    return next;
}

/* A value without a key, as in packed fields. */
static inline void protobuf_varint(struct protobuf *message, uint64_t value)
{
    protobuf_make_room(message, PROTOBUF_VARINT_MAX);
    uint8_t *end = protobuf_put_varint(message->bytes + message->count, value);
    message->count = (size_t)(end - message->bytes);
}

static inline void protobuf_key(struct protobuf *message, uint32_t field, enum protobuf_wire wire)
{
    protobuf_varint(message, field << 3 | wire);
}

/* Of the types uint32, uint64, bool and enum. */
static inline void protobuf_number(struct protobuf *message, uint32_t field, uint64_t value)
{
    protobuf_make_room(message, PROTOBUF_KEY_MAX + PROTOBUF_VARINT_MAX);
    uint8_t *end = protobuf_put_varint(message->bytes + message->count, field << 3);
    message->count = (size_t)(protobuf_put_varint(end, value) - message->bytes);
}

/* Of the types int32 and int64. */
static inline void protobuf_signed(struct protobuf *message, uint32_t field, int64_t value)
{
    protobuf_number(message, field, (uint64_t)value);
}

void protobuf_fixed64(struct protobuf *message, uint32_t field, uint64_t value);
void protobuf_double(struct protobuf *message, uint32_t field, double value);
void protobuf_bytes(struct protobuf *message, uint32_t field, const void *bytes, size_t size);

/* Made UTF-8 if it is not. */
void protobuf_string(struct protobuf *message, uint32_t field, const char *string);

/* What is put between the two is the value of the field: a message, or packed numbers. */
static inline size_t protobuf_begin(struct protobuf *message, uint32_t field)
{
    protobuf_key(message, field, PROTOBUF_BYTES);
    protobuf_make_room(message, 1);
    return ++message->count;
}

/* The length took one byte; a longer one moves the value up. */
void protobuf_end_long(struct protobuf *message, size_t mark);

static inline void protobuf_end(struct protobuf *message, size_t mark)
{
    size_t size = message->count - mark;
    if (size < 0x80)
        message->bytes[mark - 1] = (uint8_t)size;
    else
        protobuf_end_long(message, mark);
}

#endif
