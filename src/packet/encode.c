#include "packet/packet.h"

#include <string.h>

static size_t put(uint8_t *out, const void *bytes, size_t size)
{
    memcpy(out, bytes, size);
    return size;
}

size_t pt_packet_psb(uint8_t *out)
{
    for (size_t i = 0; i < 16; i += 2) {
        out[i] = 0x02;
        out[i + 1] = 0x82;
    }
    return 16;
}

size_t pt_packet_psbend(uint8_t *out)
{
    return put(out, (const uint8_t[]){0x02, 0x23}, 2);
}

size_t pt_packet_overflow(uint8_t *out)
{
    return put(out, (const uint8_t[]){0x02, 0xf3}, 2);
}

size_t pt_packet_mode_exec_64(uint8_t *out)
{
    return put(out, (const uint8_t[]){0x99, 0x01}, 2); /* leaf 0 (Exec), CS.L = 1, CS.D = 0 */
}

size_t pt_packet_cbr(uint8_t *out, uint8_t ratio)
{
    return put(out, (const uint8_t[]){0x02, 0x03, ratio, 0x00}, 4);
}

size_t pt_packet_stop_at_ip(uint8_t *out)
{
    return put(out, (const uint8_t[]){0x02, 0xe2}, 2);
}

enum { PTWRITE = 0x12, PTWRITE_IP = 1 << 7, PTWRITE_EIGHT_BYTES = 1 << 5 };

size_t pt_packet_ptwrite_at_ip(uint8_t *out, uint64_t value)
{
    size_t size = put(out, (const uint8_t[]){0x02, PTWRITE_IP | PTWRITE_EIGHT_BYTES | PTWRITE}, 2);
    return size + put(out + size, &value, sizeof value);
}

size_t pt_packet_ptwrite_short_at_ip(uint8_t *out, uint32_t value)
{
    size_t size = put(out, (const uint8_t[]){0x02, PTWRITE_IP | PTWRITE}, 2);
    return size + put(out + size, &value, sizeof value);
}

size_t pt_packet_mnt(uint8_t *out, uint64_t payload)
{
    size_t size = put(out, (const uint8_t[]){0x02, 0xc3, 0x88}, 3);
    return size + put(out + size, &payload, sizeof payload);
}

size_t pt_packet_tsc(uint8_t *out, uint64_t ticks)
{
    uint64_t packet = ticks << 8 | 0x19;
    return put(out, &packet, 8);
}

size_t pt_packet_mtc(uint8_t *out, uint8_t periods)
{
    return put(out, (const uint8_t[]){0x59, periods}, 2);
}

size_t pt_packet_tma(uint8_t *out, uint16_t crystal_ticks, uint16_t fast_ticks)
{
    return put(out,
               (const uint8_t[]){0x02, 0x73, (uint8_t)crystal_ticks, (uint8_t)(crystal_ticks >> 8),
                                 0x00, (uint8_t)fast_ticks, (uint8_t)(fast_ticks >> 8 & 1)},
               7);
}

size_t pt_packet_cyc(uint8_t *out, uint64_t cycles)
{
    size_t size = 1;
    uint64_t rest = cycles >> 5;
    out[0] = (uint8_t)((cycles & 0x1f) << 3 | (rest ? 0x07 : 0x03));
    while (rest) {
        uint64_t more = rest >> 7;
        out[size++] = (uint8_t)((rest & 0x7f) << 1 | (more ? 1 : 0));
        rest = more;
    }
    return size;
}

/* The values of IPBytes, in bits 7:5 of the header. */
enum { IP_SUPPRESSED = 0, IP_SIGN_EXTENDED_48 = 3, IP_ALL_64 = 6 };

static size_t put_ip(uint8_t *out, enum pt_ip_packet kind, unsigned ip_bytes, uint64_t ip,
                     size_t size)
{
    out[0] = (uint8_t)(ip_bytes << 5 | kind);
    memcpy(out + 1, &ip, size);
    return 1 + size;
}

size_t pt_packet_ip_whole(uint8_t *out, enum pt_ip_packet kind, uint64_t ip)
{
    uint64_t sign_extended = (uint64_t)((int64_t)(ip << 16) >> 16);
    if (sign_extended == ip)
        return put_ip(out, kind, IP_SIGN_EXTENDED_48, ip, 6);
    return put_ip(out, kind, IP_ALL_64, ip, 8);
}

size_t pt_packet_ip_suppressed(uint8_t *out, enum pt_ip_packet kind)
{
    return put_ip(out, kind, IP_SUPPRESSED, 0, 0);
}
