#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "packet/packet.h"
#include "packet/packet_decoder.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { LONGEST = 16, IP = 1 };

struct sample {
    uint8_t size;
    uint8_t bytes[LONGEST];
    enum pt_packet_kind kind;
    uint64_t payload;
    uint32_t second;
    uint8_t flags; /* IP, or the compression of an address */
    uint8_t item_size;
    uint8_t next_item_size;
};

#define PSB_BYTES 2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82

/* First the byte strings of perf's own test (Linux, tools/perf/arch/x86/tests/intel-pt-test.c),
 * with their meaning in our terms; then more of our own. */
static const struct sample samples[] = {
    {1, {0}, PT_PACKET_PAD, .payload = 0},
    {1, {0x04}, PT_PACKET_TNT, .payload = 0x2},
    {1, {0x06}, PT_PACKET_TNT, .payload = 0x3},
    {1, {0x80}, PT_PACKET_TNT, .payload = 0x40},
    {1, {0xfe}, PT_PACKET_TNT, .payload = 0x7f},
    {8, {0x02, 0xa3, 2}, PT_PACKET_TNT, .payload = 0x2},
    {8, {0x02, 0xa3, 3}, PT_PACKET_TNT, .payload = 0x3},
    {8, {0x02, 0xa3, 0, 0, 0, 0, 0, 0x80}, PT_PACKET_TNT, .payload = 0x800000000000},
    {8, {0x02, 0xa3, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}, PT_PACKET_TNT, .payload = 0xffffffffffff},
    {1, {0x0d}, PT_PACKET_TIP, .payload = 0},
    {3, {0x2d, 1, 2}, PT_PACKET_TIP, .payload = 0x201, .flags = 1},
    {5, {0x4d, 1, 2, 3, 4}, PT_PACKET_TIP, .payload = 0x4030201, .flags = 2},
    {7, {0x6d, 1, 2, 3, 4, 5, 6}, PT_PACKET_TIP, .payload = 0x60504030201, .flags = 3},
    {7, {0x8d, 1, 2, 3, 4, 5, 6}, PT_PACKET_TIP, .payload = 0x60504030201, .flags = 4},
    {9, {0xcd, 1, 2, 3, 4, 5, 6, 7, 8}, PT_PACKET_TIP, .payload = 0x807060504030201, .flags = 6},
    {1, {0x11}, PT_PACKET_TIP_PGE, .payload = 0},
    {3, {0x31, 1, 2}, PT_PACKET_TIP_PGE, .payload = 0x201, .flags = 1},
    {5, {0x51, 1, 2, 3, 4}, PT_PACKET_TIP_PGE, .payload = 0x4030201, .flags = 2},
    {7, {0x71, 1, 2, 3, 4, 5, 6}, PT_PACKET_TIP_PGE, .payload = 0x60504030201, .flags = 3},
    {7, {0x91, 1, 2, 3, 4, 5, 6}, PT_PACKET_TIP_PGE, .payload = 0x60504030201, .flags = 4},
    {9,
     {0xd1, 1, 2, 3, 4, 5, 6, 7, 8},
     PT_PACKET_TIP_PGE,
     .payload = 0x807060504030201,
     .flags = 6},
    {1, {0x01}, PT_PACKET_TIP_PGD, .payload = 0},
    {3, {0x21, 1, 2}, PT_PACKET_TIP_PGD, .payload = 0x201, .flags = 1},
    {5, {0x41, 1, 2, 3, 4}, PT_PACKET_TIP_PGD, .payload = 0x4030201, .flags = 2},
    {7, {0x61, 1, 2, 3, 4, 5, 6}, PT_PACKET_TIP_PGD, .payload = 0x60504030201, .flags = 3},
    {7, {0x81, 1, 2, 3, 4, 5, 6}, PT_PACKET_TIP_PGD, .payload = 0x60504030201, .flags = 4},
    {9,
     {0xc1, 1, 2, 3, 4, 5, 6, 7, 8},
     PT_PACKET_TIP_PGD,
     .payload = 0x807060504030201,
     .flags = 6},
    {1, {0x1d}, PT_PACKET_FUP, .payload = 0},
    {3, {0x3d, 1, 2}, PT_PACKET_FUP, .payload = 0x201, .flags = 1},
    {5, {0x5d, 1, 2, 3, 4}, PT_PACKET_FUP, .payload = 0x4030201, .flags = 2},
    {7, {0x7d, 1, 2, 3, 4, 5, 6}, PT_PACKET_FUP, .payload = 0x60504030201, .flags = 3},
    {7, {0x9d, 1, 2, 3, 4, 5, 6}, PT_PACKET_FUP, .payload = 0x60504030201, .flags = 4},
    {9, {0xdd, 1, 2, 3, 4, 5, 6, 7, 8}, PT_PACKET_FUP, .payload = 0x807060504030201, .flags = 6},
    {8, {0x02, 0x43, 2, 4, 6, 8, 10, 12}, PT_PACKET_PIP, .payload = 0x60504030201 << 5},
    {8,
     {0x02, 0x43, 3, 4, 6, 8, 10, 12},
     PT_PACKET_PIP,
     .payload = 0x60504030201 << 5,
     .second = 1},
    {2, {0x99, 0x00}, PT_PACKET_MODE_EXEC, .payload = 0},
    {2, {0x99, 0x01}, PT_PACKET_MODE_EXEC, .payload = PT_MODE_EXEC_CS_L},
    {2, {0x99, 0x02}, PT_PACKET_MODE_EXEC, .payload = PT_MODE_EXEC_CS_D},
    {2, {0x99, 0x04}, PT_PACKET_MODE_EXEC, .payload = PT_MODE_EXEC_IF},
    {2, {0x99, 0x05}, PT_PACKET_MODE_EXEC, .payload = PT_MODE_EXEC_IF | PT_MODE_EXEC_CS_L},
    {2, {0x99, 0x06}, PT_PACKET_MODE_EXEC, .payload = PT_MODE_EXEC_IF | PT_MODE_EXEC_CS_D},
    {2, {0x99, 0x20}, PT_PACKET_MODE_TSX, .payload = 0},
    {2, {0x99, 0x21}, PT_PACKET_MODE_TSX, .payload = PT_MODE_TSX_IN},
    {2, {0x99, 0x22}, PT_PACKET_MODE_TSX, .payload = PT_MODE_TSX_ABORT},
    {2, {0x02, 0x83}, PT_PACKET_TRACE_STOP, .payload = 0},
    {4, {0x02, 0x03, 0x12, 0}, PT_PACKET_CBR, .payload = 0x12},
    {8, {0x19, 1, 2, 3, 4, 5, 6, 7}, PT_PACKET_TSC, .payload = 0x7060504030201},
    {2, {0x59, 0x12}, PT_PACKET_MTC, .payload = 0x12},
    {7, {0x02, 0x73}, PT_PACKET_TMA, .payload = 0},
    {7, {0x02, 0x73, 1, 2}, PT_PACKET_TMA, .payload = 0x201},
    {7, {0x02, 0x73, 0, 0, 0, 0xff, 1}, PT_PACKET_TMA, .second = 0x1ff},
    {7, {0x02, 0x73, 0x80, 0xc0, 0, 0xff, 1}, PT_PACKET_TMA, .payload = 0xc080, .second = 0x1ff},
    {1, {0x03}, PT_PACKET_CYC, .payload = 0},
    {1, {0x0b}, PT_PACKET_CYC, .payload = 1},
    {1, {0xfb}, PT_PACKET_CYC, .payload = 0x1f},
    {2, {0x07, 2}, PT_PACKET_CYC, .payload = 0x20},
    {2, {0xff, 0xfe}, PT_PACKET_CYC, .payload = 0xfff},
    {3, {0x07, 1, 2}, PT_PACKET_CYC, .payload = 0x1000},
    {3, {0xff, 0xff, 0xfe}, PT_PACKET_CYC, .payload = 0x7ffff},
    {4, {0x07, 1, 1, 2}, PT_PACKET_CYC, .payload = 0x80000},
    {4, {0xff, 0xff, 0xff, 0xfe}, PT_PACKET_CYC, .payload = 0x3ffffff},
    {5, {0x07, 1, 1, 1, 2}, PT_PACKET_CYC, .payload = 0x4000000},
    {5, {0xff, 0xff, 0xff, 0xff, 0xfe}, PT_PACKET_CYC, .payload = 0x1ffffffff},
    {6, {0x07, 1, 1, 1, 1, 2}, PT_PACKET_CYC, .payload = 0x200000000},
    {6, {0xff, 0xff, 0xff, 0xff, 0xff, 0xfe}, PT_PACKET_CYC, .payload = 0xffffffffff},
    {7, {0x07, 1, 1, 1, 1, 1, 2}, PT_PACKET_CYC, .payload = 0x10000000000},
    {7, {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xfe}, PT_PACKET_CYC, .payload = 0x7fffffffffff},
    {8, {0x07, 1, 1, 1, 1, 1, 1, 2}, PT_PACKET_CYC, .payload = 0x800000000000},
    {8,
     {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xfe},
     PT_PACKET_CYC,
     .payload = 0x3fffffffffffff},
    {9, {0x07, 1, 1, 1, 1, 1, 1, 1, 2}, PT_PACKET_CYC, .payload = 0x40000000000000},
    {9,
     {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xfe},
     PT_PACKET_CYC,
     .payload = 0x1fffffffffffffff},
    {10, {0x07, 1, 1, 1, 1, 1, 1, 1, 1, 2}, PT_PACKET_CYC, .payload = 0x2000000000000000},
    {10,
     {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xe},
     PT_PACKET_CYC,
     .payload = 0xffffffffffffffff},
    {7, {0x02, 0xc8, 1, 2, 3, 4, 5}, PT_PACKET_VMCS, .payload = 0x504030201000},
    {2, {0x02, 0xf3}, PT_PACKET_OVF, .payload = 0},
    {2, {0x02, 0xf3}, PT_PACKET_OVF, .item_size = 4},
    {2, {0x02, 0xf3}, PT_PACKET_OVF, .item_size = 8},
    {16, {PSB_BYTES}, PT_PACKET_PSB, .payload = 0},
    {16, {PSB_BYTES}, PT_PACKET_PSB, .item_size = 4},
    {16, {PSB_BYTES}, PT_PACKET_PSB, .item_size = 8},
    {2, {0x02, 0x23}, PT_PACKET_PSBEND, .payload = 0},
    {11, {0x02, 0xc3, 0x88, 1, 2, 3, 4, 5, 6, 7}, PT_PACKET_MNT, .payload = 0x7060504030201},
    {6, {0x02, 0x12, 1, 2, 3, 4}, PT_PACKET_PTWRITE, .payload = 0x4030201, .second = 4},
    {10,
     {0x02, 0x32, 1, 2, 3, 4, 5, 6, 7, 8},
     PT_PACKET_PTWRITE,
     .payload = 0x807060504030201,
     .second = 8},
    {6,
     {0x02, 0x92, 1, 2, 3, 4},
     PT_PACKET_PTWRITE,
     .payload = 0x4030201,
     .second = 4,
     .flags = IP},
    {10,
     {0x02, 0xb2, 1, 2, 3, 4, 5, 6, 7, 8},
     PT_PACKET_PTWRITE,
     .payload = 0x807060504030201,
     .second = 8,
     .flags = IP},
    {2, {0x02, 0x62}, PT_PACKET_EXSTOP, .payload = 0},
    {2, {0x02, 0xe2}, PT_PACKET_EXSTOP, .flags = IP},
    {10, {0x02, 0xc2}, PT_PACKET_MWAIT, .payload = 0},
    {10, {0x02, 0xc2, 1, 2, 3, 4, 5, 6, 7, 8}, PT_PACKET_MWAIT, .payload = 0x807060504030201},
    {10, {0x02, 0xc2, 0xff, 2, 3, 4, 7, 6, 7, 8}, PT_PACKET_MWAIT, .payload = 0x8070607040302ff},
    {4, {0x02, 0x22}, PT_PACKET_PWRE, .payload = 0},
    {4, {0x02, 0x22, 1, 2}, PT_PACKET_PWRE, .payload = 0x0201},
    {4, {0x02, 0x22, 0x80, 0x34}, PT_PACKET_PWRE, .payload = 0x3480},
    {4, {0x02, 0x22, 0x00, 0x56}, PT_PACKET_PWRE, .payload = 0x5600},
    {7, {0x02, 0xa2}, PT_PACKET_PWRX, .payload = 0},
    {7, {0x02, 0xa2, 1, 2, 3, 4, 5}, PT_PACKET_PWRX, .payload = 0x504030201},
    {7, {0x02, 0xa2, 0xff, 0xff, 0xff, 0xff, 0xff}, PT_PACKET_PWRX, .payload = 0xffffffffff},
    {3, {0x02, 0x63, 0x00}, PT_PACKET_BBP, .second = 8, .next_item_size = 8},
    {3, {0x02, 0x63, 0x80}, PT_PACKET_BBP, .second = 4, .next_item_size = 4},
    {3, {0x02, 0x63, 0x1f}, PT_PACKET_BBP, .payload = 0x1f, .second = 8, .next_item_size = 8},
    {3, {0x02, 0x63, 0x9f}, PT_PACKET_BBP, .payload = 0x1f, .second = 4, .next_item_size = 4},
    {5, {0x04}, PT_PACKET_BIP, .item_size = 4, .next_item_size = 4},
    {5, {0xfc}, PT_PACKET_BIP, .second = 0x1f, .item_size = 4, .next_item_size = 4},
    {5,
     {0x04, 1, 2, 3, 4},
     PT_PACKET_BIP,
     .payload = 0x04030201,
     .item_size = 4,
     .next_item_size = 4},
    {5,
     {0xfc, 1, 2, 3, 4},
     PT_PACKET_BIP,
     .payload = 0x04030201,
     .second = 0x1f,
     .item_size = 4,
     .next_item_size = 4},
    {9, {0x04}, PT_PACKET_BIP, .item_size = 8, .next_item_size = 8},
    {9, {0xfc}, PT_PACKET_BIP, .second = 0x1f, .item_size = 8, .next_item_size = 8},
    {9,
     {0x04, 1, 2, 3, 4, 5, 6, 7, 8},
     PT_PACKET_BIP,
     .payload = 0x0807060504030201,
     .item_size = 8,
     .next_item_size = 8},
    {9,
     {0xfc, 1, 2, 3, 4, 5, 6, 7, 8},
     PT_PACKET_BIP,
     .payload = 0x0807060504030201,
     .second = 0x1f,
     .item_size = 8,
     .next_item_size = 8},
    {2, {0x02, 0x33}, PT_PACKET_BEP, .item_size = 4},
    {2, {0x02, 0xb3}, PT_PACKET_BEP, .flags = IP, .item_size = 4},
    {2, {0x02, 0x33}, PT_PACKET_BEP, .item_size = 8},
    {2, {0x02, 0xb3}, PT_PACKET_BEP, .flags = IP, .item_size = 8},
    {4, {0x02, 0x13, 0x01, 0x03}, PT_PACKET_CFE, .payload = 1, .second = 3},
    {4, {0x02, 0x13, 0x81, 0x03}, PT_PACKET_CFE, .payload = 1, .second = 3, .flags = IP},
    {4, {0x02, 0x13, 0x1f, 0x00}, PT_PACKET_CFE, .payload = 0x1f},
    {4, {0x02, 0x13, 0x9f, 0xff}, PT_PACKET_CFE, .payload = 0x1f, .second = 0xff, .flags = IP},
    {11,
     {0x02, 0x53, 0x09, 1, 2, 3, 4, 5, 6, 7},
     PT_PACKET_EVD,
     .payload = 0x7060504030201,
     .second = 0x09},
    {11,
     {0x02, 0x53, 0x3f, 2, 3, 4, 5, 6, 7, 8},
     PT_PACKET_EVD,
     .payload = 0x8070605040302,
     .second = 0x3f},

    /* Cycles that do not fit 64 bits. */
    {10,
     {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x10},
     PT_PACKET_CYC,
     .payload = UINT64_MAX},
    {12, {0x07, 1, 1, 1, 1, 1, 1, 1, 1, 1, 3, 2}, PT_PACKET_CYC, .payload = UINT64_MAX},
    {3, {0xd9, 0x80, 0x05}, PT_PACKET_TRIG, .second = 0x05, .flags = IP},
    {5, {0xd9, 0x60, 0x05, 1, 2}, PT_PACKET_TRIG, .payload = 0x201, .second = 0x305},
    /* An item's first byte outside of a block, and TNT within one. */
    {1, {0xfc}, PT_PACKET_TNT, .payload = 0x7e},
    {1, {0x06}, PT_PACKET_TNT, .payload = 0x3, .item_size = 8},
};

enum { SAMPLES = sizeof samples / sizeof samples[0] };

static bool has_address(enum pt_packet_kind kind)
{
    return kind == PT_PACKET_TIP || kind == PT_PACKET_TIP_PGE || kind == PT_PACKET_TIP_PGD ||
           kind == PT_PACKET_FUP;
}

/* `bytes` at the end of memory: reading beyond it faults. */
static uint8_t *at_the_end(const uint8_t *bytes, size_t size)
{
    static uint8_t *pages;
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    if (pages == NULL) {
        pages = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        assert_ptr_not_equal(pages, MAP_FAILED);
        assert_int_equal(mprotect(pages + page, page, PROT_NONE), 0);
    }
    return memcpy(pages + page - size, bytes, size);
}

static enum pt_packet_status decode(struct pt_packet *packet, const uint8_t *bytes, size_t size,
                                    unsigned item_size)
{
    return pt_packet_decode(packet, at_the_end(bytes, size), size, item_size);
}

static void every_kind_of_packet(void **state)
{
    bool seen[PT_PACKET_KINDS] = {false};
    for (size_t i = 0; i < SAMPLES; i++) {
        const struct sample *sample = &samples[i];
        struct pt_packet packet;
        assert_int_equal(decode(&packet, sample->bytes, sample->size, sample->item_size),
                         PT_PACKET_OK);
        assert_int_equal(packet.kind, sample->kind);
        assert_int_equal(packet.size, sample->size);
        assert_int_equal(packet.payload, sample->payload);
        assert_int_equal(packet.second, sample->second);
        bool address = has_address(sample->kind);
        assert_int_equal(packet.ip_compression, address ? sample->flags : 0);
        assert_int_equal(packet.has_ip, !address && sample->flags == IP);
        assert_int_equal(pt_packet_next_item_size(&packet, sample->item_size),
                         sample->next_item_size);
        seen[sample->kind] = true;
    }
    for (int kind = 0; kind < PT_PACKET_KINDS; kind++) {
        assert_true(seen[kind]);
        assert_non_null(pt_packet_name(kind));
    }
}

static void what_follows_does_not_matter(void **state)
{
    for (size_t i = 0; i < SAMPLES; i++) {
        const struct sample *sample = &samples[i];
        uint8_t bytes[2 * LONGEST];
        memset(bytes, 0xff, sizeof bytes);
        memcpy(bytes, sample->bytes, sample->size);
        struct pt_packet packet;
        assert_int_equal(decode(&packet, bytes, sizeof bytes, sample->item_size), PT_PACKET_OK);
        assert_int_equal(packet.size, sample->size);
        assert_int_equal(packet.payload, sample->payload);
        assert_int_equal(packet.second, sample->second);
    }
}

static void cut_packets(void **state)
{
    for (size_t i = 0; i < SAMPLES; i++)
        for (size_t size = 0; size < samples[i].size; size++) {
            struct pt_packet packet;
            assert_int_equal(decode(&packet, samples[i].bytes, size, samples[i].item_size),
                             PT_PACKET_CUT);
        }
}

static void malformed_packets(void **state)
{
    static const struct {
        uint8_t bytes[LONGEST];
        enum pt_packet_status status;
    } malformed[] = {
        {{0x05}, PT_PACKET_UNKNOWN},
        {{0x39}, PT_PACKET_UNKNOWN},
        {{0xf9}, PT_PACKET_UNKNOWN},
        {{0x02, 0x00}, PT_PACKET_UNKNOWN},
        {{0x02, 0xc3, 0x00}, PT_PACKET_UNKNOWN},
        {{0xad}, PT_PACKET_BAD}, /* reserved compression */
        {{0xfd}, PT_PACKET_BAD}, /* reserved compression */
        {{0x02, 0x82, 2, 0x82, 2, 0x83}, PT_PACKET_BAD},
        {{0x02, 0xa3}, PT_PACKET_BAD},                /* no branch */
        {{0x02, 0xa3, 1}, PT_PACKET_BAD},             /* no branch */
        {{0x99, 0x03}, PT_PACKET_BAD},                /* CS.L and CS.D */
        {{0x99, 0x23}, PT_PACKET_BAD},                /* in a transaction and aborted */
        {{0x99, 0x40}, PT_PACKET_BAD},                /* reserved leaf */
        {{0x02, 0x73, 0, 0, 1}, PT_PACKET_BAD},       /* reserved byte */
        {{0x02, 0x73, 0, 0, 0, 0, 2}, PT_PACKET_BAD}, /* reserved bit */
        {{0x02, 0x52}, PT_PACKET_BAD},                /* reserved size of PTWRITE */
        {{7, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0}, PT_PACKET_BAD}, /* endless CYC */
    };
    for (size_t i = 0; i < sizeof malformed / sizeof malformed[0]; i++) {
        struct pt_packet packet;
        assert_int_equal(decode(&packet, malformed[i].bytes, LONGEST, 0), malformed[i].status);
    }
}

/* The first two bytes determine nearly everything; every string of two gets an answer, whatever
 * follows. */
static void every_two_bytes_have_an_answer(void **state)
{
    static const uint8_t fills[] = {0x00, 0x01, 0x82, 0xff};
    static const unsigned item_sizes[] = {0, 4, 8};
    for (unsigned word = 0; word < 0x10000; word++)
        for (size_t fill = 0; fill < sizeof fills; fill++)
            for (size_t item = 0; item < 3; item++) {
                uint8_t bytes[LONGEST];
                memset(bytes, fills[fill], sizeof bytes);
                bytes[0] = (uint8_t)word;
                bytes[1] = (uint8_t)(word >> 8);
                struct pt_packet packet;
                enum pt_packet_status status =
                    pt_packet_decode(&packet, bytes, sizeof bytes, item_sizes[item]);
                assert_int_not_equal(status, PT_PACKET_CUT);
                if (status == PT_PACKET_OK)
                    assert_in_range(packet.size, 1, LONGEST);
            }
}

static void reads_what_the_encoder_writes(void **state)
{
    for (unsigned bit = 0; bit < 64; bit++) {
        uint8_t bytes[PT_PACKET_LONGEST];
        uint64_t value = (uint64_t)0x9e3779b97f4a7c15 >> bit;
        struct pt_packet packet;
        size_t size = pt_packet_cyc(bytes, value);
        assert_int_equal(decode(&packet, bytes, size, 0), PT_PACKET_OK);
        assert_int_equal(packet.kind, PT_PACKET_CYC);
        assert_int_equal(packet.payload, value);
        uint64_t last_ip = 0x7f1234567890, decoded_ip = last_ip;
        size = pt_packet_ip(bytes, PT_TIP, value, last_ip);
        assert_int_equal(decode(&packet, bytes, size, 0), PT_PACKET_OK);
        assert_int_equal(packet.size, size);
        assert_true(pt_last_ip_update(&decoded_ip, packet.ip_compression, packet.payload));
        assert_int_equal(decoded_ip, value);
    }
}

static void finds_a_psb_whose_beginning_was_swallowed(void **state)
{
    uint8_t bytes[64] = {0};
    pt_packet_psb(bytes + 5);
    pt_packet_psb(bytes + 40);
    assert_int_equal(pt_packet_find_psb_after(bytes, sizeof bytes, 0), 5);
    assert_int_equal(pt_packet_find_psb_after(bytes, sizeof bytes, 20), 5);
    assert_int_equal(pt_packet_find_psb_after(bytes, sizeof bytes, 21), 40);
    assert_int_equal(pt_packet_find_psb_after(bytes, sizeof bytes, 55), 40);
    assert_int_equal(pt_packet_find_psb_after(bytes, sizeof bytes, 56), sizeof bytes);
    assert_int_equal(pt_packet_find_psb_after(bytes, 0, 0), 0);
}

static void finds_psbs(void **state)
{
    uint8_t bytes[64] = {0};
    assert_int_equal(pt_packet_find_psb(bytes, sizeof bytes, 0), sizeof bytes);
    pt_packet_psb(bytes + 5);
    pt_packet_psb(bytes + 40);
    assert_int_equal(pt_packet_find_psb(bytes, sizeof bytes, 0), 5);
    assert_int_equal(pt_packet_find_psb(bytes, sizeof bytes, 5), 5);
    assert_int_equal(pt_packet_find_psb(bytes, sizeof bytes, 6), 40);
    assert_int_equal(pt_packet_find_psb(bytes, 55, 6), 55);
    assert_int_equal(pt_packet_find_psb(bytes, sizeof bytes, 99), sizeof bytes);
    assert_int_equal(pt_packet_find_psb(bytes, 0, 0), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_of_packet),
        cmocka_unit_test(what_follows_does_not_matter),
        cmocka_unit_test(cut_packets),
        cmocka_unit_test(malformed_packets),
        cmocka_unit_test(every_two_bytes_have_an_answer),
        cmocka_unit_test(reads_what_the_encoder_writes),
        cmocka_unit_test(finds_psbs),
        cmocka_unit_test(finds_a_psb_whose_beginning_was_swallowed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
