/* Reads Intel PT packets, one at a time.
 *
 * Knows the layout of packets, not what they mean together: that is for decode/, which parses the
 * few kinds that make up nearly all of a trace by itself and calls this for all others. Also called
 * by `dump -packets` and the tests.
 *
 * Source of every format: Intel SDM volume 3, chapter "Intel Processor Trace", section "Packet
 * Definitions"; MNT and TRIG: libipt's intel-pt.h and pt_opcodes.h. Where peers disagree about what
 * is malformed (libipt's pt_packet.c, perf's intel-pt-pkt-decoder.c), what either refuses is
 * refused, except CYC packets of ten bytes and more, which libipt refuses.
 */
#ifndef MAGIC_TRACE_PACKET_PACKET_DECODER_H
#define MAGIC_TRACE_PACKET_PACKET_DECODER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum pt_packet_kind {
    PT_PACKET_PAD,
    PT_PACKET_TNT, /* short and long */
    PT_PACKET_TIP,
    PT_PACKET_TIP_PGE,
    PT_PACKET_TIP_PGD,
    PT_PACKET_FUP,
    PT_PACKET_PIP,
    PT_PACKET_VMCS,
    PT_PACKET_MODE_EXEC,
    PT_PACKET_MODE_TSX,
    PT_PACKET_TRACE_STOP,
    PT_PACKET_CBR,
    PT_PACKET_TSC,
    PT_PACKET_TMA,
    PT_PACKET_MTC,
    PT_PACKET_CYC,
    PT_PACKET_OVF,
    PT_PACKET_PSB,
    PT_PACKET_PSBEND,
    PT_PACKET_PTWRITE,
    PT_PACKET_EXSTOP,
    PT_PACKET_MWAIT,
    PT_PACKET_PWRE,
    PT_PACKET_PWRX,
    PT_PACKET_BBP,
    PT_PACKET_BIP,
    PT_PACKET_BEP,
    PT_PACKET_CFE,
    PT_PACKET_EVD,
    PT_PACKET_MNT,
    PT_PACKET_TRIG,
    PT_PACKET_KINDS,
};

/* Bits of MODE packets, as the packets hold them. */
enum {
    PT_MODE_EXEC_CS_L = 1,
    PT_MODE_EXEC_CS_D = 2,
    PT_MODE_EXEC_IF = 4, /* interrupts are enabled */
    PT_MODE_TSX_IN = 1,
    PT_MODE_TSX_ABORT = 2,
};

struct pt_packet {
    uint8_t kind; /* enum pt_packet_kind */
    uint8_t size; /* bytes, all of the packet */
    /* Of TIP, TIP_PGE, TIP_PGD, FUP: the IPBytes field, 0 (no address) to 4 and 6. */
    uint8_t ip_compression;
    /* Of PTWRITE, EXSTOP, BEP, CFE, TRIG: a FUP follows that belongs to it. */
    bool has_ip;
    /* What the packet says, by kind:
     * - TNT: the branches, oldest in the highest bit, under a leading 1 (as pt_packet_tnt)
     * - TIP..., FUP: the address bytes as they stand, to be put together by pt_last_ip_update
     * - PIP: CR3, bits 51..5 in place; `second`: the non-root bit
     * - VMCS: the VMCS pointer, bits 51..12 in place
     * - MODE_*: the mode's bits, 4..0
     * - CBR: the ratio
     * - TSC: 56 bits
     * - TMA: CTC, 16 bits; `second`: the fast counter, 9 bits
     * - MTC: CTC, 8 bits
     * - CYC: cycles; UINT64_MAX if there were more
     * - PTWRITE: 4 or 8 bytes; `second`: how many
     * - MWAIT: 8 bytes as they stand: hints in bits 7..0, extensions in bits 33..32
     * - PWRE: 2 bytes as they stand: by hardware in bit 7, sub C-state in bits 11..8, C-state in
     *   bits 15..12
     * - PWRX: 5 bytes as they stand: deepest core C-state in bits 3..0, last in bits 7..4, wake
     *   reason in bits 11..8
     * - BBP: type, 5 bits; `second`: bytes of each item, 4 or 8
     * - BIP: the item; `second`: its id, 5 bits
     * - CFE: type, 5 bits; `second`: vector
     * - EVD: payload; `second`: type, 6 bits
     * - MNT: payload
     * - TRIG: instructions since the trigger, 16 bits; `second`: the triggers, 8 bits, 0x100 when
     *   there were several, 0x200 when it counts instructions */
    uint64_t payload;
    uint32_t second;
};

enum pt_packet_status {
    PT_PACKET_OK,
    PT_PACKET_CUT,     /* the data ends within the packet */
    PT_PACKET_UNKNOWN, /* no packet begins with these bytes */
    PT_PACKET_BAD,     /* its reserved bits or fields have values that are not allowed */
};

/* Reads the packet whose first of `size` bytes is at `bytes`. `item_size`: inside a block (after
 * BBP, before BEP) the size of its items, 4 or 8; else 0: only this distinguishes BIP packets from
 * TNT packets. */
enum pt_packet_status pt_packet_decode(struct pt_packet *packet, const uint8_t *bytes, size_t size,
                                       unsigned item_size);

/* The `item_size` for the packet after `packet`, which was read with `item_size`. Blocks also end
 * without BEP. */
unsigned pt_packet_next_item_size(const struct pt_packet *packet, unsigned item_size);

/* The offset of the first PSB at or after `from`; `size` if not found. */
size_t pt_packet_find_psb(const uint8_t *bytes, size_t size, size_t from);

/* The offset of the first PSB that ends after `place`, where decoding failed: a packet that was cut
 * off before the PSB may seem to reach into it. `size` if not found. */
size_t pt_packet_find_psb_after(const uint8_t *bytes, size_t size, size_t place);

/* What a packet is called by `perf script -D`: "TIP.PGE". */
const char *pt_packet_name(enum pt_packet_kind kind);

/* The address of a packet with one, given that of the packet before it. Packets without an address
 * (compression 0) do not change `last_ip`; a PSB sets it to 0. False when the compression is
 * reserved. */
static inline bool pt_last_ip_update(uint64_t *last_ip, uint8_t compression, uint64_t payload)
{
    /* How many low bits the packet replaces; the others stay. A table, not branches: the next
     * compression is hard to predict. */
    static const uint8_t bits[] = {64, 16, 32, 48, 48, 64, 64};
    static const uint64_t kept[] = {UINT64_MAX, ~UINT64_C(0xffff),         ~UINT64_C(0xffffffff),
                                    0,          ~UINT64_C(0xffffffffffff), UINT64_MAX,
                                    0};
    if (compression == 5 || compression > 6)
        return false;
    unsigned unused = 64u - bits[compression];
    uint64_t extended = (uint64_t)((int64_t)(payload << unused) >> unused);
    *last_ip = (*last_ip & kept[compression]) | (extended & ~kept[compression]);
    return true;
}

#endif
