#include "packet_mutator.h"

#include "packet/packet.h"

#include <intel-pt.h>
#include <stdbool.h>
#include <string.h>

enum {
    MOST_PACKETS = 4096, /* of a stream, whose places are known */
    LONGEST = 96,        /* bytes that may be inserted at once */
};

struct place {
    size_t offset, size;
    enum pt_packet_type type;
};

struct change {
    const struct packet_mutator *mutator;
    uint8_t *bytes;
    size_t size, capacity;
    uint64_t random;
};

static uint64_t next_random(struct change *change)
{
    change->random ^= change->random << 13;
    change->random ^= change->random >> 7;
    change->random ^= change->random << 17;
    return change->random >> 16;
}

static uint64_t below(struct change *change, uint64_t limit)
{
    return next_random(change) % limit;
}

static uint64_t any_address(struct change *change)
{
    const struct packet_mutator *mutator = change->mutator;
    uint64_t inside =
        mutator->first_address + below(change, mutator->end_address - mutator->first_address + 8);
    return below(change, 16) ? inside : next_random(change);
}

/* Splits the stream from its first PSB on. What cannot be read ends it. */
static size_t find_packets(const struct change *change, struct place *places)
{
    struct pt_config config;
    pt_config_init(&config);
    config.begin = change->bytes;
    config.end = change->bytes + change->size;
    struct pt_packet_decoder *decoder = pt_pkt_alloc_decoder(&config);
    size_t count = 0;
    if (decoder && pt_pkt_sync_forward(decoder) >= 0) {
        struct pt_packet packet;
        uint64_t offset;
        while (count < MOST_PACKETS && pt_pkt_get_offset(decoder, &offset) >= 0 &&
               pt_pkt_next(decoder, &packet, sizeof(packet)) >= 0)
            places[count++] = (struct place){offset, packet.size, packet.type};
    }
    pt_pkt_free_decoder(decoder);
    return count;
}

/* Puts `size` bytes in the place of `removed` ones at `offset`; nothing when there is no room. */
static void replace(struct change *change, size_t offset, size_t removed, const uint8_t *bytes,
                    size_t size)
{
    uint8_t copy[LONGEST];
    if (size > sizeof(copy) || change->size - removed + size > change->capacity)
        return;
    memcpy(copy, bytes, size); /* they may be part of the stream */
    memmove(change->bytes + offset + size, change->bytes + offset + removed,
            change->size - offset - removed);
    memcpy(change->bytes + offset, copy, size);
    change->size += size - removed;
}

static size_t make_ip(struct change *change, uint8_t *out)
{
    static const enum pt_ip_packet kinds[] = {PT_TIP, PT_TIP, PT_TIP_PGE, PT_TIP_PGD, PT_FUP};
    enum pt_ip_packet kind = kinds[below(change, sizeof(kinds) / sizeof(*kinds))];
    uint64_t ip = any_address(change);
    switch (below(change, 4)) {
    case 0:
        return pt_packet_ip_whole(out, kind, ip);
    case 1:
        return pt_packet_ip_suppressed(out, kind);
    case 2: /* eight bytes, as newer processors write */
        out[0] = (uint8_t)(kind | 6 << 5);
        memcpy(out + 1, &ip, sizeof(ip));
        return 1 + sizeof(ip);
    default:
        return pt_packet_ip(out, kind, ip, change->mutator->first_address);
    }
}

static size_t make_bits(struct change *change, uint8_t *out)
{
    unsigned count = 1 + (unsigned)below(change, PT_TNT_BITS);
    uint64_t marker = (uint64_t)1 << count;
    uint64_t bits = below(change, 3) ? next_random(change) : below(change, 2) ? UINT64_MAX : 0;
    return pt_packet_tnt(out, marker | (bits & (marker - 1)));
}

/* What begins a trace segment: PSB+ at an address. */
static size_t make_psb(struct change *change, uint8_t *out)
{
    size_t size = pt_packet_psb(out);
    if (below(change, 2))
        size += pt_packet_tsc(out + size, next_random(change));
    if (below(change, 2))
        size += pt_packet_mode_exec_64(out + size);
    if (below(change, 2))
        size += pt_packet_ip_whole(out + size, PT_FUP, any_address(change));
    return size + pt_packet_psbend(out + size);
}

/* The rest of SDM volume 3, "Packet Definitions", by first bytes and length; what follows is
 * random. */
static size_t make_other(struct change *change, uint8_t *out)
{
    static const struct {
        uint8_t head[3], head_size, size;
    } kinds[] = {
        {{0x00}, 1, 1},              /* PAD */
        {{0x99, 0x00}, 2, 2},        /* MODE.Exec, 16 bit */
        {{0x99, 0x02}, 2, 2},        /* MODE.Exec, 32 bit */
        {{0x99, 0x20}, 2, 2},        /* MODE.TSX, neither */
        {{0x99, 0x21}, 2, 2},        /* MODE.TSX, in a transaction */
        {{0x99, 0x22}, 2, 2},        /* MODE.TSX, aborted */
        {{0x59}, 1, 2},              /* MTC */
        {{0x19}, 1, 8},              /* TSC */
        {{0x02, 0x73}, 2, 7},        /* TMA */
        {{0x02, 0x03}, 2, 4},        /* CBR */
        {{0x02, 0x43}, 2, 8},        /* PIP */
        {{0x02, 0xc8}, 2, 7},        /* VMCS */
        {{0x02, 0xf3}, 2, 2},        /* OVF */
        {{0x02, 0x83}, 2, 2},        /* TraceStop */
        {{0x02, 0x23}, 2, 2},        /* PSBEND */
        {{0x02, 0xc3, 0x88}, 3, 11}, /* MNT */
        {{0x02, 0x12}, 2, 6},        /* PTWRITE, 4 bytes */
        {{0x02, 0xb2}, 2, 10},       /* PTWRITE, 8 bytes, FUP follows */
        {{0x02, 0x62}, 2, 2},        /* EXSTOP */
        {{0x02, 0xe2}, 2, 2},        /* EXSTOP, FUP follows */
        {{0x02, 0xc2}, 2, 10},       /* MWAIT */
        {{0x02, 0x22}, 2, 4},        /* PWRE */
        {{0x02, 0xa2}, 2, 7},        /* PWRX */
        {{0x02, 0x63}, 2, 3},        /* BBP */
        {{0x04}, 1, 9},              /* BIP, or a TNT */
        {{0x02, 0x33}, 2, 2},        /* BEP */
        {{0x02, 0x13}, 2, 4},        /* CFE */
        {{0x02, 0x53}, 2, 11},       /* EVD */
    };
    size_t number = below(change, sizeof(kinds) / sizeof(*kinds));
    for (size_t i = 0; i < kinds[number].size; i++)
        out[i] = (uint8_t)next_random(change);
    memcpy(out, kinds[number].head, kinds[number].head_size);
    return kinds[number].size;
}

static size_t make_packet(struct change *change, uint8_t *out)
{
    switch (below(change, 8)) {
    case 0:
    case 1:
        return make_bits(change, out);
    case 2:
    case 3:
        return make_ip(change, out);
    case 4:
        return make_psb(change, out);
    case 5:
        return pt_packet_cyc(out, next_random(change) >> below(change, 64));
    default:
        return make_other(change, out);
    }
}

/* Changes what a packet says and not what it is. */
static void alter(struct change *change, const struct place *place)
{
    uint8_t made[LONGEST];
    if (place->type == ppt_tnt_8 || place->type == ppt_tnt_64) {
        replace(change, place->offset, place->size, made, make_bits(change, made));
    } else if (place->type == ppt_tip || place->type == ppt_fup || place->type == ppt_tip_pge ||
               place->type == ppt_tip_pgd) {
        replace(change, place->offset, place->size, made, make_ip(change, made));
    } else if (place->size > 1) {
        change->bytes[place->offset + 1 + below(change, place->size - 1)] ^=
            (uint8_t)(1 << below(change, 8));
    }
}

size_t packet_mutator_change(const struct packet_mutator *mutator, uint8_t *bytes, size_t size,
                             size_t capacity, unsigned seed)
{
    struct change change = {mutator, bytes, size, capacity,
                            seed * UINT64_C(0x9e3779b97f4a7c15) + 1};
    struct place places[MOST_PACKETS];
    uint8_t made[LONGEST];
    size_t count = find_packets(&change, places);
    if (count == 0) {
        replace(&change, below(&change, size + 1), 0, made, make_psb(&change, made));
        return change.size;
    }
    const struct place *one = &places[below(&change, count)];
    const struct place *other = &places[below(&change, count)];
    switch (below(&change, 8)) {
    case 0:
        replace(&change, one->offset, one->size, made, 0);
        break;
    case 1: /* a copy somewhere else */
        replace(&change, one->offset, 0, bytes + other->offset, other->size);
        break;
    case 2:
        change.size = one->offset + below(&change, one->size + 1);
        break;
    case 3:
    case 4:
        alter(&change, one);
        break;
    default:
        replace(&change, one->offset, 0, made, make_packet(&change, made));
        break;
    }
    return change.size;
}
