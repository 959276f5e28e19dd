#include "packet/packet_text.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

static unsigned bits(uint64_t value, unsigned lowest, unsigned count)
{
    return (unsigned)(value >> lowest & ((1u << count) - 1));
}

__attribute__((format(printf, 3, 4))) static void put(char *text, const struct pt_packet *packet,
                                                      const char *format, ...)
{
    int length = snprintf(text, PT_PACKET_TEXT_SIZE, "%s ", pt_packet_name(packet->kind));
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text + length, (size_t)(PT_PACKET_TEXT_SIZE - length), format, arguments);
    va_end(arguments);
}

static void put_branches(char *text, const struct pt_packet *packet)
{
    char branches[64];
    int count = 63 - __builtin_clzll(packet->payload);
    for (int i = 0; i < count; i++)
        branches[i] = packet->payload >> (count - 1 - i) & 1 ? 'T' : 'N';
    put(text, packet, "%.*s (%d)", count, branches, count);
}

static unsigned code_bits(const struct pt_packet *packet)
{
    if (packet->payload & PT_MODE_EXEC_CS_L)
        return 64;
    return packet->payload & PT_MODE_EXEC_CS_D ? 32 : 16;
}

static void put_trigger(char *text, const struct pt_packet *packet)
{
    char instructions[32] = "";
    if (packet->second & 0x200)
        snprintf(instructions, sizeof instructions, " Instructions %" PRIu64, packet->payload);
    put(text, packet, "IP:%d Triggers 0x%02x Several:%u%s", packet->has_ip,
        bits(packet->second, 0, 8), bits(packet->second, 8, 1), instructions);
}

const char *pt_packet_text(char text[PT_PACKET_TEXT_SIZE], const struct pt_packet *packet)
{
    uint64_t payload = packet->payload;
    switch ((enum pt_packet_kind)packet->kind) {
    case PT_PACKET_TNT:
        put_branches(text, packet);
        break;
    case PT_PACKET_TIP:
    case PT_PACKET_TIP_PGE:
    case PT_PACKET_TIP_PGD:
    case PT_PACKET_FUP:
        if (packet->ip_compression == 0)
            put(text, packet, "no ip");
        else
            put(text, packet, "0x%" PRIx64, payload);
        break;
    case PT_PACKET_CYC:
    case PT_PACKET_MTC:
    case PT_PACKET_MNT:
    case PT_PACKET_CBR:
    case PT_PACKET_TSC:
        put(text, packet, "0x%" PRIx64, payload);
        break;
    case PT_PACKET_VMCS:
        put(text, packet, "0x%" PRIx64, payload >> 12);
        break;
    case PT_PACKET_PIP:
        put(text, packet, "0x%" PRIx64 " (NR=%u)", payload >> 5, packet->second);
        break;
    case PT_PACKET_TMA:
        put(text, packet, "CTC 0x%x FC 0x%x", (unsigned)payload, packet->second);
        break;
    case PT_PACKET_MODE_EXEC:
        put(text, packet, "IF:%d %u", (payload & PT_MODE_EXEC_IF) != 0, code_bits(packet));
        break;
    case PT_PACKET_MODE_TSX:
        put(text, packet, "TXAbort:%d InTX:%d", (payload & PT_MODE_TSX_ABORT) != 0,
            (payload & PT_MODE_TSX_IN) != 0);
        break;
    case PT_PACKET_PTWRITE:
        put(text, packet, "0x%" PRIx64 " IP:%d", payload, packet->has_ip);
        break;
    case PT_PACKET_EXSTOP:
    case PT_PACKET_BEP:
        put(text, packet, "IP:%d", packet->has_ip);
        break;
    case PT_PACKET_MWAIT:
        put(text, packet, "0x%" PRIx64 " Hints 0x%x Extensions 0x%x", payload, bits(payload, 0, 8),
            bits(payload, 32, 2));
        break;
    case PT_PACKET_PWRE:
        put(text, packet, "0x%" PRIx64 " HW:%u CState:%u Sub-CState:%u", payload,
            bits(payload, 7, 1), bits(payload, 12, 4), bits(payload, 8, 4));
        break;
    case PT_PACKET_PWRX:
        put(text, packet, "0x%" PRIx64 " Last CState:%u Deepest CState:%u Wake Reason 0x%x",
            payload, bits(payload, 4, 4), bits(payload, 0, 4), bits(payload, 8, 4));
        break;
    case PT_PACKET_BBP:
        put(text, packet, "SZ %u-byte Type 0x%" PRIx64, packet->second, payload);
        break;
    case PT_PACKET_BIP:
        put(text, packet, "ID 0x%02x Value 0x%" PRIx64, packet->second, payload);
        break;
    case PT_PACKET_CFE:
        put(text, packet, "IP:%d Type 0x%02x Vector 0x%x", packet->has_ip, (unsigned)payload,
            packet->second);
        break;
    case PT_PACKET_EVD:
        put(text, packet, "Type 0x%02x Payload 0x%" PRIx64, packet->second, payload);
        break;
    case PT_PACKET_TRIG:
        put_trigger(text, packet);
        break;
    default: /* the name is all */
        snprintf(text, PT_PACKET_TEXT_SIZE, "%s", pt_packet_name(packet->kind));
        break;
    }
    return text;
}
