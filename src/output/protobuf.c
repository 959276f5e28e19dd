#include "output/protobuf.h"

#include "base/memory.h"
#include "base/utf8.h"

#include <stdlib.h>
#include <string.h>

void protobuf_free(struct protobuf *message)
{
    free(message->bytes);
    *message = (struct protobuf){0};
}

void protobuf_grow(struct protobuf *message, size_t size)
{
    message->capacity = message->capacity + message->capacity / 2 + size + 64;
    message->bytes = memory_resize(message->bytes, message->capacity);
}

void protobuf_fixed64(struct protobuf *message, uint32_t field, uint64_t value)
{
    protobuf_key(message, field, PROTOBUF_FIXED64);
    protobuf_make_room(message, sizeof value);
    for (size_t i = 0; i < sizeof value; i++) /* little-endian on every machine */
        message->bytes[message->count++] = (uint8_t)(value >> 8 * i);
}

void protobuf_double(struct protobuf *message, uint32_t field, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    protobuf_fixed64(message, field, bits);
}

void protobuf_bytes(struct protobuf *message, uint32_t field, const void *bytes, size_t size)
{
    protobuf_key(message, field, PROTOBUF_BYTES);
    protobuf_varint(message, size);
    protobuf_make_room(message, size);
    if (size > 0)
        memcpy(message->bytes + message->count, bytes, size);
    message->count += size;
}

void protobuf_string(struct protobuf *message, uint32_t field, const char *string)
{
    char *repaired = utf8_repaired(string);
    protobuf_bytes(message, field, repaired, strlen(repaired));
    free(repaired);
}

void protobuf_end_long(struct protobuf *message, size_t mark)
{
    size_t size = message->count - mark;
    uint8_t length[PROTOBUF_VARINT_MAX];
    size_t length_size = (size_t)(protobuf_put_varint(length, size) - length);
    protobuf_make_room(message, length_size - 1);
    memmove(message->bytes + mark - 1 + length_size, message->bytes + mark, size);
    memcpy(message->bytes + mark - 1, length, length_size);
    message->count += length_size - 1;
}
