/* The bytes of Intel Processor Trace packets, written one at a time.
 *
 * Each function stores one packet at `out` and returns its length in bytes; none writes more than
 * PT_PACKET_LONGEST. encoder.h decides which packet may follow which.
 *
 * Source of every format: Intel SDM volume 3, chapter "Intel Processor Trace", section "Packet
 * Definitions".
 */
#ifndef MAGIC_TRACE_PACKET_PACKET_H
#define MAGIC_TRACE_PACKET_PACKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum {
    PT_PACKET_LONGEST = 16, /* bytes: PSB */
    PT_TNT_BITS = 47,       /* branches that one long TNT packet holds */
};

/* The low five bits of the packets that carry an address. */
enum pt_ip_packet {
    PT_TIP = 0x0d,
    PT_TIP_PGE = 0x11, /* tracing begins at this address */
    PT_TIP_PGD = 0x01, /* tracing ends */
    PT_FUP = 0x1d,     /* where an asynchronous event happened */
};

size_t pt_packet_psb(uint8_t *out);
size_t pt_packet_psbend(uint8_t *out);
size_t pt_packet_overflow(uint8_t *out);
size_t pt_packet_mode_exec_64(uint8_t *out);
size_t pt_packet_cbr(uint8_t *out, uint8_t ratio);

/* EXSTOP with the IP bit: execution stopped at the address in the FUP that follows. */
size_t pt_packet_stop_at_ip(uint8_t *out);

/* PTWRITE of eight bytes with the IP bit: written by the instruction at the address in the FUP that
 * follows. */
size_t pt_packet_ptwrite_at_ip(uint8_t *out, uint64_t value);
/* The same of four bytes. */
size_t pt_packet_ptwrite_short_at_ip(uint8_t *out, uint32_t value);

/* MNT, which carries eight bytes defined by the recorder. */
size_t pt_packet_mnt(uint8_t *out, uint64_t payload);

/* `ticks` of the time-stamp counter; the packet holds the low 56 bits. */
size_t pt_packet_tsc(uint8_t *out, uint64_t ticks);

/* Bits of the always-running crystal clock (CTC): those of one MTC period and above. */
size_t pt_packet_mtc(uint8_t *out, uint8_t periods);

/* Follows a TSC: the low 16 bits of the crystal clock at that time, and the TSC ticks since it
 * ticked, at most 511. */
size_t pt_packet_tma(uint8_t *out, uint16_t crystal_ticks, uint16_t fast_ticks);

/* Core cycles since the last CYC packet; at most ten bytes. */
size_t pt_packet_cyc(uint8_t *out, uint64_t cycles);

/* Conditional branches and compressed returns, oldest in the highest bit, under a leading 1: 0b1101
 * is taken, not taken, taken. At most PT_TNT_BITS branches and at least one. Up to six branches
 * take one byte. Writes eight bytes in any case. */
static inline size_t pt_packet_tnt(uint8_t *out, uint64_t marked_bits)
{
    bool is_short = marked_bits >> 7 == 0;
    uint64_t packet = is_short ? marked_bits << 1 : marked_bits << 16 | 0xa302;
    memcpy(out, &packet, 8);
    return is_short ? 1 : 8;
}

/* An address in full (six bytes, sign-extended), for decoders that have no last address. */
size_t pt_packet_ip_whole(uint8_t *out, enum pt_ip_packet kind, uint64_t ip);

/* An address, sent as the difference to the address of the packet before (`last_ip`): its low 16, 32 or 48
 * bits, where IPBytes is 1, 2 or 3. Writes eight bytes in any case. */
static inline size_t pt_packet_ip(uint8_t *out, enum pt_ip_packet kind, uint64_t ip,
                                  uint64_t last_ip)
{
    uint64_t difference = ip ^ last_ip;
    if (ip >> 47 != 0)
        return pt_packet_ip_whole(out, kind, ip);
    unsigned words = difference >> 16 == 0 ? 1 : difference >> 32 == 0 ? 2 : 3;
    uint64_t packet = ip << 8 | words << 5 | (unsigned)kind;
    memcpy(out, &packet, 8);
    return 1 + 2 * words;
}

/* Without an address, for a destination that must not be recorded. */
size_t pt_packet_ip_suppressed(uint8_t *out, enum pt_ip_packet kind);

#endif
