#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "packet/packet.h"

#include <intel-pt.h>
#include <string.h>

static uint8_t out[64];

static void expect(size_t size, const uint8_t *bytes, size_t expected_size)
{
    assert_int_equal(size, expected_size);
    assert_memory_equal(out, bytes, expected_size);
}

#define EXPECT(written, ...)                                                                       \
    expect((written), (const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__}))

/* The packet at the start of `out`, as libipt reads it. */
static struct pt_packet read_back(size_t size)
{
    struct pt_config config;
    struct pt_packet packet;
    pt_config_init(&config);
    config.begin = out;
    config.end = out + size;
    struct pt_packet_decoder *decoder = pt_pkt_alloc_decoder(&config);
    assert_non_null(decoder);
    assert_int_equal(pt_pkt_sync_set(decoder, 0), 0);
    assert_int_equal(pt_pkt_next(decoder, &packet, sizeof packet), size);
    pt_pkt_free_decoder(decoder);
    return packet;
}

static void packets_without_payload(void **state)
{
    EXPECT(pt_packet_psb(out), 0x02, 0x82, 0x02, 0x82, 0x02, 0x82, 0x02, 0x82, 0x02, 0x82, 0x02,
           0x82, 0x02, 0x82, 0x02, 0x82);
    EXPECT(pt_packet_psbend(out), 0x02, 0x23);
    EXPECT(pt_packet_overflow(out), 0x02, 0xf3);
    EXPECT(pt_packet_mode_exec_64(out), 0x99, 0x01);
    struct pt_packet stop = read_back(pt_packet_stop_at_ip(out));
    assert_int_equal(stop.type, ppt_exstop);
    assert_int_equal(stop.payload.exstop.ip, 1);
}

static void cbr_carries_the_ratio(void **state)
{
    EXPECT(pt_packet_cbr(out, 26), 0x02, 0x03, 26, 0x00);
}

static void tsc_carries_seven_bytes(void **state)
{
    EXPECT(pt_packet_tsc(out, 0xff01020304050607), 0x19, 0x07, 0x06, 0x05, 0x04, 0x03, 0x02, 0x01);
}

static void cyc_grows_with_its_value(void **state)
{
    EXPECT(pt_packet_cyc(out, 0), 0x03);
    EXPECT(pt_packet_cyc(out, 31), 0xfb);
    EXPECT(pt_packet_cyc(out, 32), 0x07, 0x02);
    EXPECT(pt_packet_cyc(out, 0xfff), 0xff, 0xfe);
    EXPECT(pt_packet_cyc(out, 0x1000), 0x07, 0x01, 0x02);
    for (unsigned bit = 0; bit < 60; bit++) {
        struct pt_packet packet = read_back(pt_packet_cyc(out, (uint64_t)1 << bit));
        assert_int_equal(packet.type, ppt_cyc);
        assert_int_equal(packet.payload.cyc.value, (uint64_t)1 << bit);
    }
}

static void tnt_is_short_up_to_six_branches(void **state)
{
    EXPECT(pt_packet_tnt(out, 0x3), 0x06);  /* taken */
    EXPECT(pt_packet_tnt(out, 0x2), 0x04);  /* not taken */
    EXPECT(pt_packet_tnt(out, 0x6d), 0xda); /* six */
    EXPECT(pt_packet_tnt(out, 0x80), 0x02, 0xa3, 0x80, 0, 0, 0, 0, 0);
    for (unsigned bits = 1; bits <= PT_TNT_BITS; bits++) {
        uint64_t branches = 0x5a5a96a5c3cull & (((uint64_t)1 << bits) - 1);
        struct pt_packet packet = read_back(pt_packet_tnt(out, (uint64_t)1 << bits | branches));
        assert_int_equal(packet.type, bits <= 6 ? ppt_tnt_8 : ppt_tnt_64);
        assert_int_equal(packet.payload.tnt.bit_size, bits);
        assert_int_equal(packet.payload.tnt.payload, branches);
    }
}

static void addresses_are_sent_as_what_differs(void **state)
{
    EXPECT(pt_packet_ip(out, PT_TIP, 0x401234, 0x405678), 0x2d, 0x34, 0x12);
    EXPECT(pt_packet_ip(out, PT_TIP_PGE, 0x561234, 0x405678), 0x51, 0x34, 0x12, 0x56, 0x00);
    EXPECT(pt_packet_ip(out, PT_FUP, 0x4000401234, 0x405678), 0x7d, 0x34, 0x12, 0x40, 0x00, 0x40,
           0x00);
    EXPECT(pt_packet_ip_whole(out, PT_TIP, 0x401234), 0x6d, 0x34, 0x12, 0x40, 0, 0, 0);
    EXPECT(pt_packet_ip_suppressed(out, PT_TIP_PGD), 0x01);
}

static void kernel_addresses_are_sign_extended(void **state)
{
    struct pt_packet packet =
        read_back(pt_packet_ip_whole(out, PT_TIP, (uint64_t)0xffffffffff600000));
    assert_int_equal(packet.type, ppt_tip);
    assert_int_equal(packet.payload.ip.ipc, pt_ipc_sext_48);
}

static void an_address_that_is_not_canonical_is_sent_whole(void **state)
{
    struct pt_packet packet = read_back(pt_packet_ip_whole(out, PT_FUP, 0x1234567812345678));
    assert_int_equal(packet.type, ppt_fup);
    assert_int_equal(packet.payload.ip.ipc, pt_ipc_full);
    assert_int_equal(packet.payload.ip.ip, 0x1234567812345678);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(packets_without_payload),
        cmocka_unit_test(cbr_carries_the_ratio),
        cmocka_unit_test(tsc_carries_seven_bytes),
        cmocka_unit_test(cyc_grows_with_its_value),
        cmocka_unit_test(tnt_is_short_up_to_six_branches),
        cmocka_unit_test(addresses_are_sent_as_what_differs),
        cmocka_unit_test(kernel_addresses_are_sign_extended),
        cmocka_unit_test(an_address_that_is_not_canonical_is_sent_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
