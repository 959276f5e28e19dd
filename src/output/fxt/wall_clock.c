#include "output/fxt/wall_clock.h"

#include "output/protobuf.h"

#include <stdbool.h>
#include <string.h>

/* Numbers of builtin_clock.proto. */
enum { CLOCK_REALTIME_ID = 1, CLOCK_BOOTTIME_ID = 6 };

size_t wall_clock_encode(uint8_t bytes[static WALL_CLOCK_SIZE_MAX], uint64_t wall_clock)
{
    enum {
        FIELD_1_VARINT = 1 << 3 | PROTOBUF_VARINT,
        FIELD_2_VARINT = 2 << 3 | PROTOBUF_VARINT,
        FIELD_1_BYTES = 1 << 3 | PROTOBUF_BYTES,
        FIELD_6_BYTES = 6 << 3 | PROTOBUF_BYTES,
    };
    uint8_t realtime[16] = {FIELD_1_VARINT, CLOCK_REALTIME_ID, FIELD_2_VARINT};
    size_t realtime_size = (size_t)(protobuf_put_varint(realtime + 3, wall_clock) - realtime);
    static const uint8_t boottime[] = {FIELD_1_VARINT, CLOCK_BOOTTIME_ID, FIELD_2_VARINT, 0};

    /* Every length here is less than 128, so each takes one byte. */
    size_t snapshot_size = 2 + realtime_size + 2 + sizeof boottime;
    uint8_t *next = bytes;
    *next++ = FIELD_1_BYTES;
    *next++ = (uint8_t)(2 + snapshot_size);
    *next++ = FIELD_6_BYTES;
    *next++ = (uint8_t)snapshot_size;
    *next++ = FIELD_1_BYTES;
    *next++ = (uint8_t)realtime_size;
    next = mempcpy(next, realtime, realtime_size);
    *next++ = FIELD_1_BYTES;
    *next++ = sizeof boottime;
    next = mempcpy(next, boottime, sizeof boottime);
    return (size_t)(next - bytes);
}

/* A message, and how far it has been read. */
struct message {
    const uint8_t *next, *end;
};

/* One field of a message: its number, and its value or its bytes. */
struct field {
    uint64_t number;
    uint64_t value;
    struct message bytes;
};

static bool take_varint(struct message *message, uint64_t *value)
{
    *value = 0;
    for (unsigned shift = 0; shift < 64 && message->next < message->end; shift += 7) {
        uint8_t byte = *message->next++;
        *value |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80)
            return true;
    }
    return false;
}

/* False at the end of the message, and at what wall_clock_encode does not write. */
static bool take_field(struct message *message, struct field *field)
{
    uint64_t key;
    *field = (struct field){0};
    if (!take_varint(message, &key) || !take_varint(message, &field->value))
        return false;
    field->number = key >> 3;
    if ((key & 7) == PROTOBUF_VARINT)
        return true;
    if ((key & 7) != PROTOBUF_BYTES || field->value > (uint64_t)(message->end - message->next))
        return false;
    field->bytes = (struct message){message->next, message->next + field->value};
    message->next += field->value;
    return true;
}

static void read_clock(struct message clock, uint64_t *realtime, uint64_t *boottime)
{
    struct field field;
    uint64_t id = 0, timestamp = 0;
    while (take_field(&clock, &field)) {
        if (field.number == 1)
            id = field.value;
        else if (field.number == 2)
            timestamp = field.value;
    }
    if (id == CLOCK_REALTIME_ID)
        *realtime = timestamp;
    else if (id == CLOCK_BOOTTIME_ID)
        *boottime = timestamp;
}

void wall_clock_decode(const uint8_t *bytes, size_t size, uint64_t *wall_clock)
{
    struct message trace = {bytes, bytes + size};
    struct field packet, snapshot, clock;
    uint64_t realtime = 0, boottime = 0;
    while (take_field(&trace, &packet))
        while (packet.number == 1 && take_field(&packet.bytes, &snapshot))
            while (snapshot.number == 6 && take_field(&snapshot.bytes, &clock))
                if (clock.number == 1)
                    read_clock(clock.bytes, &realtime, &boottime);
    if (realtime)
        *wall_clock = realtime - boottime;
}
