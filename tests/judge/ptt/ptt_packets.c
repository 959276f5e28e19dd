/* The packets of a file, printed as libipt's ptdump does: what `.exp(ptdump)` of its .ptt tests
 * expect.
 *
 *     ptt_packets [OPTIONS OF PTDUMP] FILE.pt
 *
 * Columns are one blank apart; whoever compares squeezes blanks. Options about time change nothing:
 * it is estimated elsewhere (decode/pt/packet_time.h). Unknown options end it with status 77: it
 * cannot judge the case. The words are those of libipt 2.1.2, ptdump/src/ptdump.c.
 */
#include "base/file.h"
#include "packet/packet_decoder.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CANNOT_KNOW = 77 };

struct options {
    bool no_sync, no_pad, no_timing, no_cyc, no_offset, raw, last_ip, mode, quiet;
    const char *path;
};

struct dump {
    struct options options;
    const uint8_t *bytes;
    size_t size;
    uint64_t last_ip;
    bool suppressed; /* the newest address */
};

static void print_address(struct dump *dump, const struct pt_packet *packet)
{
    static const int digits[] = {0, 4, 8, 0, 12};
    unsigned compression = packet->ip_compression;
    uint64_t ip = 0;
    pt_last_ip_update(&ip, (uint8_t)compression, packet->payload);
    if (compression == 3 || compression == 6)
        printf(" %u: %016" PRIx64, compression, ip);
    else if (compression == 0)
        printf(" 0: ????????????????");
    else
        printf(" %u: %.*s%0*" PRIx64, compression, 16 - digits[compression], "????????????????",
               digits[compression], packet->payload);
    dump->suppressed = compression == 0;
    pt_last_ip_update(&dump->last_ip, packet->ip_compression, packet->payload);
    if (!dump->options.last_ip)
        return;
    if (dump->suppressed)
        printf(" ip <suppressed>");
    else
        printf(" ip %016" PRIx64, dump->last_ip);
}

static void print_branches(uint64_t marked)
{
    putchar(' ');
    for (int bit = 62 - __builtin_clzll(marked); bit >= 0; bit--)
        putchar(marked >> bit & 1 ? '!' : '.');
}

/* `words`: in the order of the bits of `payload`, from bit 0 on. */
static void print_flags(uint64_t payload, const char *const *words, size_t count)
{
    const char *separator = " ";
    for (size_t i = 0; i < count; i++) {
        if (!(payload >> i & 1))
            continue;
        printf("%s%s", separator, words[i]);
        separator = ", ";
    }
}

static void print_mode(const struct dump *dump, const struct pt_packet *packet)
{
    bool is_64 = packet->payload & PT_MODE_EXEC_CS_L, is_32 = packet->payload & PT_MODE_EXEC_CS_D;
    print_flags(packet->payload, (const char *const[]){"cs.l", "cs.d", "if"}, 3);
    if (dump->options.mode)
        printf(" em %s-bit", is_64 ? "64" : is_32 ? "32" : "16");
}

static unsigned c_state(uint64_t payload, unsigned shift)
{
    return (unsigned)((payload >> shift) + 1) & 0xf;
}

static void print_wake(uint64_t payload)
{
    unsigned reasons = payload >> 8 & 0xd;
    const char *reason = reasons == 1 ? "int" : reasons == 4 ? "st" : reasons == 8 ? "hw" : "bad";
    printf(" %s: c%u, c%u", reason, c_state(payload, 4), c_state(payload, 0));
}

/* The vector where the event has one; 0x5, that of the start-up IPI, is an address. */
static void print_control_flow_event(const struct pt_packet *packet)
{
    enum { INTERRUPT = 1, START_UP = 5, VM_EXIT_BY_INTERRUPT = 9, USER_INTERRUPT = 12 };
    unsigned type = (unsigned)packet->payload;
    printf(" %u", type);
    if (type == INTERRUPT || type == VM_EXIT_BY_INTERRUPT || type == USER_INTERRUPT)
        printf(": %u", packet->second);
    else if (type == START_UP)
        printf(": %x", packet->second);
    if (packet->has_ip)
        printf(", ip");
}

static void print_payload(struct dump *dump, const struct pt_packet *packet)
{
    uint64_t payload = packet->payload;
    switch ((enum pt_packet_kind)packet->kind) {
    case PT_PACKET_TIP:
    case PT_PACKET_TIP_PGE:
    case PT_PACKET_TIP_PGD:
    case PT_PACKET_FUP:
        print_address(dump, packet);
        break;
    case PT_PACKET_TNT:
        print_branches(payload);
        break;
    case PT_PACKET_PIP:
        printf(" %" PRIx64 "%s cr3 %016" PRIx64, payload, packet->second ? ", nr" : "", payload);
        break;
    case PT_PACKET_VMCS:
        printf(" %" PRIx64 " vmcs %016" PRIx64, payload, payload);
        break;
    case PT_PACKET_MODE_EXEC:
        print_mode(dump, packet);
        break;
    case PT_PACKET_MODE_TSX:
        print_flags(payload, (const char *const[]){"intx", "abrt"}, 2);
        break;
    case PT_PACKET_TMA:
        printf(" %" PRIx64 ", %x", payload, packet->second);
        break;
    case PT_PACKET_TSC:
    case PT_PACKET_CBR:
    case PT_PACKET_MTC:
    case PT_PACKET_CYC:
    case PT_PACKET_MNT:
        printf(" %" PRIx64, payload);
        break;
    case PT_PACKET_EXSTOP:
        printf("%s", packet->has_ip ? " ip" : "");
        break;
    case PT_PACKET_MWAIT:
        printf(" %08x, %08x", (unsigned)payload, (unsigned)(payload >> 32));
        break;
    case PT_PACKET_PWRE: /* "hw": bit 7 in the SDM, bit 3 in libipt and its tests */
        printf(" c%u.%u%s", c_state(payload, 12), c_state(payload, 8),
               payload & 0x88 ? ", hw" : "");
        break;
    case PT_PACKET_CFE:
        print_control_flow_event(packet);
        break;
    case PT_PACKET_EVD:
        printf(" %u: %" PRIx64, packet->second, payload);
        break;
    case PT_PACKET_PWRX:
        print_wake(payload);
        break;
    case PT_PACKET_PTWRITE:
        printf(" %d: %" PRIx64 "%s", packet->second == 8, payload, packet->has_ip ? ", ip" : "");
        break;
    default:
        break;
    }
}

/* As ptdump calls the kind. */
static const char *name_of(const struct pt_packet *packet)
{
    static const char *const names[PT_PACKET_KINDS] = {
        [PT_PACKET_PAD] = "pad",           [PT_PACKET_TIP] = "tip",
        [PT_PACKET_TIP_PGE] = "tip.pge",   [PT_PACKET_TIP_PGD] = "tip.pgd",
        [PT_PACKET_FUP] = "fup",           [PT_PACKET_PIP] = "pip",
        [PT_PACKET_VMCS] = "vmcs",         [PT_PACKET_MODE_EXEC] = "mode.exec",
        [PT_PACKET_MODE_TSX] = "mode.tsx", [PT_PACKET_TRACE_STOP] = "stop",
        [PT_PACKET_CBR] = "cbr",           [PT_PACKET_TSC] = "tsc",
        [PT_PACKET_TMA] = "tma",           [PT_PACKET_MTC] = "mtc",
        [PT_PACKET_CYC] = "cyc",           [PT_PACKET_OVF] = "ovf",
        [PT_PACKET_PSB] = "psb",           [PT_PACKET_PSBEND] = "psbend",
        [PT_PACKET_PTWRITE] = "ptw",       [PT_PACKET_EXSTOP] = "exstop",
        [PT_PACKET_MWAIT] = "mwait",       [PT_PACKET_PWRE] = "pwre",
        [PT_PACKET_PWRX] = "pwrx",         [PT_PACKET_MNT] = "mnt",
        [PT_PACKET_CFE] = "cfe",           [PT_PACKET_EVD] = "evd",
    };
    if (packet->kind == PT_PACKET_TNT)
        return packet->size == 1 ? "tnt.8" : "tnt.64";
    return names[packet->kind] ? names[packet->kind] : "<unknown>";
}

static bool is_left_out(const struct options *options, const struct pt_packet *packet)
{
    bool is_cyc = packet->kind == PT_PACKET_CYC;
    bool is_time = is_cyc || packet->kind == PT_PACKET_TSC || packet->kind == PT_PACKET_CBR ||
                   packet->kind == PT_PACKET_TMA || packet->kind == PT_PACKET_MTC;
    return options->quiet || (options->no_pad && packet->kind == PT_PACKET_PAD) ||
           (options->no_timing && is_time) || (options->no_cyc && is_cyc);
}

static void print_packet(struct dump *dump, size_t offset, const struct pt_packet *packet)
{
    const char *separator = "";
    if (!dump->options.no_offset) {
        printf("%016zx", offset);
        separator = " ";
    }
    if (dump->options.raw) {
        printf("%s", separator);
        for (size_t i = 0; i < packet->size; i++)
            printf("%02x", dump->bytes[offset + i]);
        separator = " ";
    }
    printf("%s%s", separator, name_of(packet));
    print_payload(dump, packet);
    putchar('\n');
}

/* Prints packets from *offset on, up to the end or to the first that is none; false then. */
static bool print_packets(struct dump *dump, size_t *offset)
{
    while (*offset < dump->size) {
        struct pt_packet packet;
        enum pt_packet_status status =
            pt_packet_decode(&packet, dump->bytes + *offset, dump->size - *offset, 0);
        if (status == PT_PACKET_CUT)
            break;
        if (status != PT_PACKET_OK) {
            printf("[%zx: error decoding packet: %s]\n", *offset,
                   status == PT_PACKET_UNKNOWN ? "unknown opcode" : "unknown packet");
            return false;
        }
        if (!is_left_out(&dump->options, &packet))
            print_packet(dump, *offset, &packet);
        *offset += packet.size;
    }
    return true;
}

static void print_all(struct dump *dump)
{
    size_t offset = 0;
    if (!dump->options.no_sync)
        offset = pt_packet_find_psb(dump->bytes, dump->size, 0);
    while (!print_packets(dump, &offset)) {
        offset = pt_packet_find_psb_after(dump->bytes, dump->size, offset);
        dump->suppressed = false;
        dump->last_ip = 0;
    }
}

static bool read_flag(struct options *options, const char *argument)
{
    const struct {
        const char *name;
        bool *flag;
    } flags[] = {
        {"--no-sync", &options->no_sync},     {"--no-pad", &options->no_pad},
        {"--no-timing", &options->no_timing}, {"--no-cyc", &options->no_cyc},
        {"--no-offset", &options->no_offset}, {"--raw", &options->raw},
        {"--lastip", &options->last_ip},      {"--exec-mode", &options->mode},
        {"--quiet", &options->quiet},
    };
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) {
        if (strcmp(argument, flags[i].name) != 0)
            continue;
        *flags[i].flag = true;
        return true;
    }
    return false;
}

/* How many words an option takes whose effect is not on the packets; 0: it is none. */
static int words_without_effect(const char *argument)
{
    static const char *const alone[] = {"--time",    "--time-delta",    "--tcal",
                                        "--no-tcal", "--no-wall-clock", "--keep-tcal-on-ovf"};
    static const char *const with_value[] = {"--cpu", "--mtc-freq", "--nom-freq",
                                             "--cpuid-0x15.eax", "--cpuid-0x15.ebx"};
    for (size_t i = 0; i < sizeof alone / sizeof *alone; i++)
        if (strcmp(argument, alone[i]) == 0)
            return 1;
    for (size_t i = 0; i < sizeof with_value / sizeof *with_value; i++)
        if (strcmp(argument, with_value[i]) == 0)
            return 2;
    return 0;
}

static bool read_options(struct options *options, int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        int words = words_without_effect(argv[i]);
        if (read_flag(options, argv[i]))
            continue;
        if (words > 0)
            i += words - 1;
        else if (*argv[i] == '-')
            return false;
        else
            options->path = argv[i];
    }
    return options->path;
}

int main(int argc, char **argv)
{
    struct dump dump = {0};
    if (!read_options(&dump.options, argc, argv))
        return CANNOT_KNOW;
    struct error error;
    size_t size;
    char *bytes = file_read(dump.options.path, &size, &error);
    if (!bytes) {
        fprintf(stderr, "%s\n", error.text);
        return EXIT_FAILURE;
    }
    dump.bytes = (const uint8_t *)bytes;
    dump.size = size;
    print_all(&dump);
    free(bytes);
    return EXIT_SUCCESS;
}
