#include "packets.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

enum { BUS_RATIO = 26 };

void packets_begin(struct packets *packets)
{
    struct pt_config config;
    packets->bytes = memory_allocate_zeroed(PACKETS_CAPACITY);
    pt_config_init(&config);
    config.begin = packets->bytes;
    config.end = packets->bytes + PACKETS_CAPACITY;
    packets->encoder = pt_alloc_encoder(&config);
}

void packets_free(struct packets *packets)
{
    pt_free_encoder(packets->encoder);
    free(packets->bytes);
}

size_t packets_size(struct packets *packets)
{
    uint64_t offset = 0;
    pt_enc_get_offset(packets->encoder, &offset);
    return offset;
}

static void put(struct packets *packets, const struct pt_packet *packet)
{
    if (pt_enc_next(packets->encoder, packet) < 0)
        abort();
}

static void put_plain(struct packets *packets, enum pt_packet_type type)
{
    put(packets, &(struct pt_packet){.type = type});
}

static void put_ip(struct packets *packets, enum pt_packet_type type, uint64_t ip)
{
    struct pt_packet packet = {.type = type};
    packet.payload.ip.ipc = ip ? pt_ipc_full : pt_ipc_suppressed;
    packet.payload.ip.ip = ip;
    put(packets, &packet);
}

void packets_tsc(struct packets *packets, uint64_t tsc)
{
    struct pt_packet packet = {.type = ppt_tsc};
    packet.payload.tsc.tsc = tsc;
    put(packets, &packet);
}

void packets_psb(struct packets *packets, uint64_t tsc, uint64_t ip)
{
    struct pt_packet cbr = {.type = ppt_cbr}, mode = {.type = ppt_mode};
    cbr.payload.cbr.ratio = BUS_RATIO;
    mode.payload.mode.leaf = pt_mol_exec;
    mode.payload.mode.bits.exec = pt_set_exec_mode(ptem_64bit);
    put_plain(packets, ppt_psb);
    packets_tsc(packets, tsc);
    put(packets, &cbr);
    put(packets, &mode);
    if (ip)
        put_ip(packets, ppt_fup, ip);
    put_plain(packets, ppt_psbend);
}

void packets_cyc(struct packets *packets, uint64_t cycles)
{
    struct pt_packet packet = {.type = ppt_cyc};
    packet.payload.cyc.value = cycles;
    put(packets, &packet);
}

void packets_tnt(struct packets *packets, const char *bits)
{
    struct pt_packet packet = {.type = strlen(bits) > 6 ? ppt_tnt_64 : ppt_tnt_8};
    for (const char *bit = bits; *bit; bit++) {
        packet.payload.tnt.payload = packet.payload.tnt.payload << 1 | (*bit == 'T');
        packet.payload.tnt.bit_size++;
    }
    put(packets, &packet);
}

void packets_tip(struct packets *packets, uint64_t ip)
{
    put_ip(packets, ppt_tip, ip);
}

void packets_fup(struct packets *packets, uint64_t ip)
{
    put_ip(packets, ppt_fup, ip);
}

void packets_enable(struct packets *packets, uint64_t ip)
{
    put_ip(packets, ppt_tip_pge, ip);
}

void packets_disable(struct packets *packets)
{
    put_ip(packets, ppt_tip_pgd, 0);
}

void packets_interrupt(struct packets *packets, uint64_t ip)
{
    put_ip(packets, ppt_fup, ip);
    put_ip(packets, ppt_tip_pgd, 0);
}

void packets_stop(struct packets *packets, uint64_t ip)
{
    put(packets, &(struct pt_packet){.type = ppt_exstop, .payload.exstop.ip = 1});
    put_ip(packets, ppt_fup, ip);
}

void packets_ptwrite(struct packets *packets, uint64_t value, uint64_t ip)
{
    put(packets,
        &(struct pt_packet){.type = ppt_ptw,
                            .payload.ptw = {.payload = value, .plc = 1 /* 8 bytes */, .ip = 1}});
    put_ip(packets, ppt_fup, ip);
}

void packets_mnt(struct packets *packets, uint64_t payload)
{
    put(packets, &(struct pt_packet){.type = ppt_mnt, .payload.mnt.payload = payload});
}

void packets_divert(struct packets *packets, uint64_t from, uint64_t to)
{
    put_ip(packets, ppt_fup, from);
    put_ip(packets, ppt_tip, to);
}

static void put_transaction(struct packets *packets, struct pt_packet_mode_tsx state)
{
    put(packets, &(struct pt_packet){.type = ppt_mode,
                                     .payload.mode = {.leaf = pt_mol_tsx, .bits.tsx = state}});
}

void packets_transaction(struct packets *packets, bool begins, uint64_t ip)
{
    put_transaction(packets, (struct pt_packet_mode_tsx){.intx = begins});
    put_ip(packets, ppt_fup, ip);
}

void packets_abort(struct packets *packets, uint64_t from, uint64_t to)
{
    put_transaction(packets, (struct pt_packet_mode_tsx){.abrt = 1});
    packets_divert(packets, from, to);
}

void packets_abort_out(struct packets *packets, uint64_t from, uint64_t to)
{
    put_transaction(packets, (struct pt_packet_mode_tsx){.abrt = 1});
    put_ip(packets, ppt_fup, from);
    put_ip(packets, ppt_tip_pgd, to);
}

void packets_overflow(struct packets *packets, uint64_t ip)
{
    put_plain(packets, ppt_ovf);
    if (ip)
        put_ip(packets, ppt_fup, ip);
}

void packets_raw(struct packets *packets, const void *bytes, size_t size)
{
    size_t offset = packets_size(packets);
    memcpy(packets->bytes + offset, bytes, size);
    pt_enc_sync_set(packets->encoder, offset + size);
}
