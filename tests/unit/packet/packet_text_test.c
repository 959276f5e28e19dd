#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "packet/packet_text.h"
#include "packet/packet_walk.h"

#include <string.h>

struct line {
    size_t offset;
    const char *text;
};

/* The text of the packets in `bytes` is `lines`. */
static void expect_lines(const uint8_t *bytes, size_t size, const struct line *lines, size_t count)
{
    struct pt_packet_walk walk = {.bytes = bytes, .size = size};
    struct pt_walked_packet walked;
    for (size_t i = 0; i < count; i++) {
        char text[PT_PACKET_TEXT_SIZE];
        assert_true(pt_packet_walk_next(&walk, &walked));
        assert_int_equal(walked.offset, lines[i].offset);
        if (walked.status == PT_PACKET_OK)
            assert_string_equal(pt_packet_text(text, &walked.packet), lines[i].text);
        else
            assert_string_equal(PT_NO_PACKET_TEXT, lines[i].text);
    }
    assert_false(pt_packet_walk_next(&walk, &walked));
}

static void expect_text(const char *text, const uint8_t *bytes, size_t size)
{
    expect_lines(bytes, size, &(struct line){0, text}, 1);
}

#define EXPECT(text, ...)                                                                          \
    expect_text(text, (const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__}))

/* The text of perf 6.1 for the same bytes. */
static void every_kind(void **state)
{
    EXPECT("PAD", 0);
    EXPECT("TNT TTNT (4)", 0x3a);
    EXPECT("TNT N (1)", 0x04);
    EXPECT("TNT TNTNTNTNTNTNTNTNTNTNTNTNTNTNTNTNTNTNTNTNTNTNTNT (47)", 0x02, 0xa3, 0x55, 0x55, 0x55,
           0x55, 0x55, 0xd5);
    EXPECT("TIP no ip", 0x0d);
    EXPECT("TIP.PGE 0x201", 0x31, 1, 2);
    EXPECT("TIP.PGD 0x4030201", 0x41, 1, 2, 3, 4);
    EXPECT("FUP 0xffffb960d300", 0x7d, 0x00, 0xd3, 0x60, 0xb9, 0xff, 0xff);
    EXPECT("PIP 0x1fea1a00 (NR=0)", 0x02, 0x43, 0x00, 0x34, 0xd4, 0x3f, 0, 0);
    EXPECT("PIP 0x60504030201 (NR=1)", 0x02, 0x43, 3, 4, 6, 8, 10, 12);
    EXPECT("VMCS 0x504030201", 0x02, 0xc8, 1, 2, 3, 4, 5);
    EXPECT("MODE.Exec IF:0 16", 0x99, 0x00);
    EXPECT("MODE.Exec IF:1 64", 0x99, 0x05);
    EXPECT("MODE.Exec IF:0 32", 0x99, 0x02);
    EXPECT("MODE.TSX TXAbort:0 InTX:1", 0x99, 0x21);
    EXPECT("MODE.TSX TXAbort:1 InTX:0", 0x99, 0x22);
    EXPECT("TraceSTOP", 0x02, 0x83);
    EXPECT("CBR 0x1d", 0x02, 0x03, 0x1d, 0);
    EXPECT("TSC 0xbc4cd2cfe8", 0x19, 0xe8, 0xcf, 0xd2, 0x4c, 0xbc, 0, 0);
    EXPECT("TMA CTC 0xb23c FC 0x30", 0x02, 0x73, 0x3c, 0xb2, 0, 0x30, 0);
    EXPECT("MTC 0x48", 0x59, 0x48);
    EXPECT("CYC 0x20", 0x07, 2);
    EXPECT("OVF", 0x02, 0xf3);
    EXPECT("PSBEND", 0x02, 0x23);
    EXPECT("PTWRITE 0x4030201 IP:0", 0x02, 0x12, 1, 2, 3, 4);
    EXPECT("PTWRITE 0x807060504030201 IP:1", 0x02, 0xb2, 1, 2, 3, 4, 5, 6, 7, 8);
    EXPECT("EXSTOP IP:1", 0x02, 0xe2);
    EXPECT("MWAIT 0x8070607040302ff Hints 0xff Extensions 0x3", 0x02, 0xc2, 0xff, 2, 3, 4, 7, 6, 7,
           8);
    EXPECT("PWRE 0x3480 HW:1 CState:3 Sub-CState:4", 0x02, 0x22, 0x80, 0x34);
    EXPECT("PWRX 0x504030241 Last CState:4 Deepest CState:1 Wake Reason 0x2", 0x02, 0xa2, 0x41, 2,
           3, 4, 5);
    EXPECT("CFE IP:1 Type 0x01 Vector 0x3", 0x02, 0x13, 0x81, 0x03);
    EXPECT("EVD Type 0x09 Payload 0x7060504030201", 0x02, 0x53, 0x09, 1, 2, 3, 4, 5, 6, 7, 0);
    EXPECT("MNT 0x7060504030201", 0x02, 0xc3, 0x88, 1, 2, 3, 4, 5, 6, 7, 0);
    EXPECT("TRIG IP:1 Triggers 0x05 Several:0", 0xd9, 0x80, 0x05);
    EXPECT("TRIG IP:0 Triggers 0x05 Several:1 Instructions 513", 0xd9, 0x60, 0x05, 1, 2);
}

static void blocks_know_their_items(void **state)
{
    static const uint8_t bytes[] = {0x02, 0x63, 0x84, 0x04, 1, 2,    3,    4,
                                    0xfc, 1,    2,    3,    4, 0x02, 0xb3, 0x04};
    static const struct line lines[] = {
        {0, "BBP SZ 4-byte Type 0x4"},
        {3, "BIP ID 0x00 Value 0x4030201"},
        {8, "BIP ID 0x1f Value 0x4030201"},
        {13, "BEP IP:1"},
        {15, "TNT N (1)"},
    };
    expect_lines(bytes, sizeof bytes, lines, sizeof lines / sizeof lines[0]);
}

static void what_is_no_packet_is_passed_over(void **state)
{
    static const uint8_t bytes[] = {0x05, 0x06, 0x02, 0x05, 0x0d, 0x19, 0x04};
    static const struct line lines[] = {
        {0, PT_NO_PACKET_TEXT}, {1, "TNT T (1)"}, {2, PT_NO_PACKET_TEXT},
        {3, PT_NO_PACKET_TEXT}, {4, "TIP no ip"}, {5, PT_NO_PACKET_TEXT},
        {6, "TNT N (1)"},
    };
    expect_lines(bytes, sizeof bytes, lines, sizeof lines / sizeof lines[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind),
        cmocka_unit_test(blocks_know_their_items),
        cmocka_unit_test(what_is_no_packet_is_passed_over),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
