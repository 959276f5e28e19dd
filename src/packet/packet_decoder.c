#include "packet/packet_decoder.h"

#include <string.h>

enum {
    EXTENDED = 0x02, /* the first byte of packets whose kind the second byte determines */
    PSB_SIZE = 16,
    CYC_LONGEST = 15,
};

static const uint8_t psb_bytes[PSB_SIZE] = {0x02, 0x82, 0x02, 0x82, 0x02, 0x82, 0x02, 0x82,
                                            0x02, 0x82, 0x02, 0x82, 0x02, 0x82, 0x02, 0x82};

/* All callers pass a constant `count`, so it becomes one or two loads. */
static inline uint64_t load(const uint8_t *bytes, size_t count)
{
    uint64_t value = 0;
    memcpy(&value, bytes, count);
    return value;
}

static inline enum pt_packet_status say(struct pt_packet *packet, enum pt_packet_kind kind,
                                        size_t size, uint64_t payload, uint32_t second)
{
    *packet = (struct pt_packet){
        .kind = (uint8_t)kind,
        .size = (uint8_t)size,
        .payload = payload,
        .second = second,
    };
    return PT_PACKET_OK;
}

static inline enum pt_packet_status say_with_ip_flag(struct pt_packet *packet,
                                                     enum pt_packet_kind kind, size_t size,
                                                     bool has_ip, uint64_t payload, uint32_t second)
{
    say(packet, kind, size, payload, second);
    packet->has_ip = has_ip;
    return PT_PACKET_OK;
}

static enum pt_packet_status decode_ip(struct pt_packet *packet, enum pt_packet_kind kind,
                                       const uint8_t *bytes, size_t size)
{
    /* By IPBytes, bits 7..5 of the first byte; 0 stands for none. */
    static const uint8_t sizes[8] = {1, 3, 5, 7, 7, 0, 9, 0};
    uint8_t compression = bytes[0] >> 5;
    size_t whole = sizes[compression];
    if (whole == 0)
        return PT_PACKET_BAD;
    if (size < whole)
        return PT_PACKET_CUT;
    uint64_t payload = 0;
    switch (whole) {
    case 3:
        payload = load(bytes + 1, 2);
        break;
    case 5:
        payload = load(bytes + 1, 4);
        break;
    case 7:
        payload = load(bytes + 1, 6);
        break;
    case 9:
        payload = load(bytes + 1, 8);
        break;
    }
    say(packet, kind, whole, payload, 0);
    packet->ip_compression = compression;
    return PT_PACKET_OK;
}

static uint64_t add_cycles(uint64_t cycles, uint64_t more, unsigned shift)
{
    if (more == 0)
        return cycles;
    if (shift >= 64 || more << shift >> shift != more)
        return UINT64_MAX;
    return cycles | more << shift;
}

static enum pt_packet_status decode_cyc(struct pt_packet *packet, const uint8_t *bytes, size_t size)
{
    uint64_t cycles = bytes[0] >> 3;
    bool more = bytes[0] & 0x04;
    unsigned shift = 5;
    size_t at = 1;
    for (; more; at++, shift += 7) {
        if (at == CYC_LONGEST)
            return PT_PACKET_BAD;
        if (at == size)
            return PT_PACKET_CUT;
        cycles = add_cycles(cycles, bytes[at] >> 1, shift);
        more = bytes[at] & 0x01;
    }
    return say(packet, PT_PACKET_CYC, at, cycles, 0);
}

static enum pt_packet_status decode_mode(struct pt_packet *packet, const uint8_t *bytes,
                                         size_t size)
{
    enum { EXEC = 0, TSX = 1, BOTH = 3 };
    if (size < 2)
        return PT_PACKET_CUT;
    uint8_t leaf = bytes[1] >> 5, bits = bytes[1] & 0x1f;
    if (leaf > TSX || (bits & BOTH) == BOTH)
        return PT_PACKET_BAD;
    return say(packet, leaf == EXEC ? PT_PACKET_MODE_EXEC : PT_PACKET_MODE_TSX, 2, bits, 0);
}

static enum pt_packet_status decode_trig(struct pt_packet *packet, const uint8_t *bytes,
                                         size_t size)
{
    enum { SEVERAL = 1 << 5, COUNTED = 1 << 6, IP = 1 << 7 };
    if (size < 3)
        return PT_PACKET_CUT;
    size_t whole = bytes[1] & COUNTED ? 5 : 3;
    if (size < whole)
        return PT_PACKET_CUT;
    uint32_t triggers =
        bytes[2] | (bytes[1] & SEVERAL ? 0x100u : 0) | (bytes[1] & COUNTED ? 0x200u : 0);
    uint64_t instructions = whole == 5 ? load(bytes + 3, 2) : 0;
    return say_with_ip_flag(packet, PT_PACKET_TRIG, whole, bytes[1] & IP, instructions, triggers);
}

static enum pt_packet_status decode_long_tnt(struct pt_packet *packet, const uint8_t *bytes)
{
    uint64_t marked = load(bytes + 2, 6);
    if (marked <= 1)
        return PT_PACKET_BAD; /* no branch, or not even the leading 1 */
    return say(packet, PT_PACKET_TNT, 8, marked, 0);
}

static enum pt_packet_status decode_tma(struct pt_packet *packet, const uint8_t *bytes)
{
    uint32_t fast = (uint32_t)load(bytes + 5, 2);
    if (bytes[4] != 0 || fast >> 9 != 0)
        return PT_PACKET_BAD;
    return say(packet, PT_PACKET_TMA, 7, load(bytes + 2, 2), fast);
}

static enum pt_packet_status decode_ptwrite(struct pt_packet *packet, const uint8_t *bytes,
                                            size_t size)
{
    unsigned length = bytes[1] >> 5 & 3;
    if (length > 1)
        return PT_PACKET_BAD;
    size_t operand = length == 1 ? 8 : 4;
    if (size < 2 + operand)
        return PT_PACKET_CUT;
    uint64_t value = length == 1 ? load(bytes + 2, 8) : load(bytes + 2, 4);
    return say_with_ip_flag(packet, PT_PACKET_PTWRITE, 2 + operand, bytes[1] & 0x80, value,
                            (uint32_t)operand);
}

static enum pt_packet_status decode_psb(struct pt_packet *packet, const uint8_t *bytes)
{
    if (memcmp(bytes, psb_bytes, PSB_SIZE) != 0)
        return PT_PACKET_BAD;
    return say(packet, PT_PACKET_PSB, PSB_SIZE, 0, 0);
}

static enum pt_packet_status decode_mnt(struct pt_packet *packet, const uint8_t *bytes, size_t size)
{
    enum { MNT = 0x88 };
    if (size < 3)
        return PT_PACKET_CUT;
    if (bytes[2] != MNT)
        return PT_PACKET_UNKNOWN;
    if (size < 11)
        return PT_PACKET_CUT;
    return say(packet, PT_PACKET_MNT, 11, load(bytes + 3, 8), 0);
}

static enum pt_packet_status decode_bip(struct pt_packet *packet, const uint8_t *bytes, size_t size,
                                        unsigned item_size)
{
    if (size < 1 + item_size)
        return PT_PACKET_CUT;
    uint64_t item = item_size == 4 ? load(bytes + 1, 4) : load(bytes + 1, 8);
    return say(packet, PT_PACKET_BIP, 1 + item_size, item, bytes[0] >> 3);
}

/* The size of an extended packet by its second byte; 0 if there is no such packet. Where the size
 * depends on more bytes, as many as determine it. */
static size_t extended_size(uint8_t second)
{
    switch (second) {
    case 0x82: /* PSB */
        return PSB_SIZE;
    case 0x53: /* EVD */
        return 11;
    case 0xc2: /* MWAIT */
        return 10;
    case 0xa3: /* long TNT */
    case 0x43: /* PIP */
        return 8;
    case 0x73: /* TMA */
    case 0xc8: /* VMCS */
    case 0xa2: /* PWRX */
        return 7;
    case 0x03: /* CBR */
    case 0x22: /* PWRE */
    case 0x13: /* CFE */
        return 4;
    case 0x63: /* BBP */
        return 3;
    case 0x23: /* PSBEND */
    case 0xf3: /* OVF */
    case 0x83: /* TraceStop */
    case 0x62: /* EXSTOP */
    case 0xe2:
    case 0x33: /* BEP */
    case 0xb3:
    case 0xc3: /* the third byte determines the size */
        return 2;
    default:
        return (second & 0x1f) == 0x12 ? 2 : 0; /* PTWRITE */
    }
}

static enum pt_packet_status decode_extended(struct pt_packet *packet, const uint8_t *bytes,
                                             size_t size)
{
    if (size < 2)
        return PT_PACKET_CUT;
    size_t whole = extended_size(bytes[1]);
    if (whole == 0)
        return PT_PACKET_UNKNOWN;
    if (size < whole)
        return PT_PACKET_CUT;
    bool has_ip = bytes[1] & 0x80; /* of the kinds that can */
    switch (bytes[1]) {
    case 0x82:
        return decode_psb(packet, bytes);
    case 0x23:
        return say(packet, PT_PACKET_PSBEND, whole, 0, 0);
    case 0xf3:
        return say(packet, PT_PACKET_OVF, whole, 0, 0);
    case 0x83:
        return say(packet, PT_PACKET_TRACE_STOP, whole, 0, 0);
    case 0xa3:
        return decode_long_tnt(packet, bytes);
    case 0x43:
        return say(packet, PT_PACKET_PIP, whole, load(bytes + 2, 6) >> 1 << 5, bytes[2] & 1);
    case 0xc8:
        return say(packet, PT_PACKET_VMCS, whole, load(bytes + 2, 5) << 12, 0);
    case 0x03:
        return say(packet, PT_PACKET_CBR, whole, bytes[2], 0);
    case 0x73:
        return decode_tma(packet, bytes);
    case 0xc2:
        return say(packet, PT_PACKET_MWAIT, whole, load(bytes + 2, 8), 0);
    case 0x22:
        return say(packet, PT_PACKET_PWRE, whole, load(bytes + 2, 2), 0);
    case 0xa2:
        return say(packet, PT_PACKET_PWRX, whole, load(bytes + 2, 5), 0);
    case 0x62:
    case 0xe2:
        return say_with_ip_flag(packet, PT_PACKET_EXSTOP, whole, has_ip, 0, 0);
    case 0x63:
        return say(packet, PT_PACKET_BBP, whole, bytes[2] & 0x1f, bytes[2] & 0x80 ? 4 : 8);
    case 0x33:
    case 0xb3:
        return say_with_ip_flag(packet, PT_PACKET_BEP, whole, has_ip, 0, 0);
    case 0x13:
        return say_with_ip_flag(packet, PT_PACKET_CFE, whole, bytes[2] & 0x80, bytes[2] & 0x1f,
                                bytes[3]);
    case 0x53:
        return say(packet, PT_PACKET_EVD, whole, load(bytes + 3, 8), bytes[2] & 0x3f);
    case 0xc3:
        return decode_mnt(packet, bytes, size);
    default:
        return decode_ptwrite(packet, bytes, size);
    }
}

/* All packets except TNT and those that the first byte alone determines. */
static enum pt_packet_status decode_odd(struct pt_packet *packet, const uint8_t *bytes, size_t size)
{
    switch (bytes[0] & 0x1f) {
    case 0x0d:
        return decode_ip(packet, PT_PACKET_TIP, bytes, size);
    case 0x11:
        return decode_ip(packet, PT_PACKET_TIP_PGE, bytes, size);
    case 0x01:
        return decode_ip(packet, PT_PACKET_TIP_PGD, bytes, size);
    case 0x1d:
        return decode_ip(packet, PT_PACKET_FUP, bytes, size);
    default:
        return (bytes[0] & 3) == 3 ? decode_cyc(packet, bytes, size) : PT_PACKET_UNKNOWN;
    }
}

enum pt_packet_status pt_packet_decode(struct pt_packet *packet, const uint8_t *bytes, size_t size,
                                       unsigned item_size)
{
    if (size == 0)
        return PT_PACKET_CUT;
    if (item_size != 0 && (bytes[0] & 7) == 4)
        return decode_bip(packet, bytes, size, item_size);
    switch (bytes[0]) {
    case 0x00:
        return say(packet, PT_PACKET_PAD, 1, 0, 0);
    case EXTENDED:
        return decode_extended(packet, bytes, size);
    case 0x19:
        if (size < 8)
            return PT_PACKET_CUT;
        return say(packet, PT_PACKET_TSC, 8, load(bytes + 1, 7), 0);
    case 0x59:
        if (size < 2)
            return PT_PACKET_CUT;
        return say(packet, PT_PACKET_MTC, 2, bytes[1], 0);
    case 0x99:
        return decode_mode(packet, bytes, size);
    case 0xd9:
        return decode_trig(packet, bytes, size);
    default:
        if (bytes[0] & 1)
            return decode_odd(packet, bytes, size);
        return say(packet, PT_PACKET_TNT, 1, bytes[0] >> 1, 0);
    }
}

unsigned pt_packet_next_item_size(const struct pt_packet *packet, unsigned item_size)
{
    switch ((enum pt_packet_kind)packet->kind) {
    case PT_PACKET_BBP:
        return packet->second;
    case PT_PACKET_PAD:
    case PT_PACKET_FUP:
    case PT_PACKET_CBR:
    case PT_PACKET_TSC:
    case PT_PACKET_TMA:
    case PT_PACKET_MTC:
    case PT_PACKET_CYC:
    case PT_PACKET_EXSTOP:
    case PT_PACKET_PWRE:
    case PT_PACKET_PWRX:
    case PT_PACKET_BIP:
    case PT_PACKET_MNT:
        return item_size;
    default:
        return 0;
    }
}

size_t pt_packet_find_psb(const uint8_t *bytes, size_t size, size_t from)
{
    if (from >= size)
        return size;
    const uint8_t *found = memmem(bytes + from, size - from, psb_bytes, PSB_SIZE);
    return found == NULL ? size : (size_t)(found - bytes);
}

size_t pt_packet_find_psb_after(const uint8_t *bytes, size_t size, size_t place)
{
    return pt_packet_find_psb(bytes, size, place < PSB_SIZE ? 0 : place - PSB_SIZE + 1);
}

const char *pt_packet_name(enum pt_packet_kind kind)
{
    static const char *const names[PT_PACKET_KINDS] = {
        [PT_PACKET_PAD] = "PAD",
        [PT_PACKET_TNT] = "TNT",
        [PT_PACKET_TIP] = "TIP",
        [PT_PACKET_TIP_PGE] = "TIP.PGE",
        [PT_PACKET_TIP_PGD] = "TIP.PGD",
        [PT_PACKET_FUP] = "FUP",
        [PT_PACKET_PIP] = "PIP",
        [PT_PACKET_VMCS] = "VMCS",
        [PT_PACKET_MODE_EXEC] = "MODE.Exec",
        [PT_PACKET_MODE_TSX] = "MODE.TSX",
        [PT_PACKET_TRACE_STOP] = "TraceSTOP",
        [PT_PACKET_CBR] = "CBR",
        [PT_PACKET_TSC] = "TSC",
        [PT_PACKET_TMA] = "TMA",
        [PT_PACKET_MTC] = "MTC",
        [PT_PACKET_CYC] = "CYC",
        [PT_PACKET_OVF] = "OVF",
        [PT_PACKET_PSB] = "PSB",
        [PT_PACKET_PSBEND] = "PSBEND",
        [PT_PACKET_PTWRITE] = "PTWRITE",
        [PT_PACKET_EXSTOP] = "EXSTOP",
        [PT_PACKET_MWAIT] = "MWAIT",
        [PT_PACKET_PWRE] = "PWRE",
        [PT_PACKET_PWRX] = "PWRX",
        [PT_PACKET_BBP] = "BBP",
        [PT_PACKET_BIP] = "BIP",
        [PT_PACKET_BEP] = "BEP",
        [PT_PACKET_CFE] = "CFE",
        [PT_PACKET_EVD] = "EVD",
        [PT_PACKET_MNT] = "MNT",
        [PT_PACKET_TRIG] = "TRIG",
    };
    return names[kind];
}
