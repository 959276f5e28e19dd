/* Packets that some processors get wrong: decoded as they were meant for those, and refused from
 * others. The errata by their texts in libipt's intel-pt.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "decode/pt/errata.h"
#include "fixture.h"

static const struct cpu_identity broadwell = {.family = 6, .model = 0x3d, .intel = true};
static const struct cpu_identity skylake = {.family = 6, .model = 0x4e, .intel = true};
static const struct cpu_identity goldmont = {.family = 6, .model = 0x5c, .intel = true};
static const struct cpu_identity goldmont_plus = {.family = 6, .model = 0x7a, .intel = true};
static const struct cpu_identity sapphire_rapids = {.family = 6, .model = 0x8f, .intel = true};
static const struct cpu_identity haswell = {.family = 6, .model = 0x3c, .intel = true};

static int begin(void **state)
{
    static struct fixture fixture;
    fixture_begin(&fixture);
    *state = &fixture;
    return 0;
}

static int end(void **state)
{
    fixture_free(*state);
    return 0;
}

static void decode(struct fixture *fixture, const struct cpu_identity *cpu)
{
    fixture->cpu = *cpu;
    fixture_decode(fixture);
}

/* GAP of an overflow, followed by RESUME at `ip`. */
static void expect_overflow(struct fixture *f, size_t index, uint64_t ip)
{
    assert_int_equal(fixture_event(f, index)->kind, FLOW_GAP);
    assert_int_equal(fixture_event(f, index)->gap, FLOW_GAP_OVERFLOW);
    expect_event(f, index + 1, FLOW_RESUME, 0, ip);
}

/* BDM70: "when a TIP.PGE packet is generated it may be preceded by a PSB+ that incorrectly includes
 * FUP and MODE.Exec packets". */

static void put_bdm70(struct packets *packets)
{
    packets_psb(packets, 1000, 0);
    packets_enable(packets, at("tail"));
    packets_disable(packets);
    packets_psb(packets, 2000, at("caller"));
    packets_enable(packets, at("tail_after_syscall"));
    packets_tip(packets, at("leaf"));
    packets_psb(packets, 3000, at("leaf"));
}

static void expect_no_execution_at_the_psb(struct fixture *f)
{
    expect_event(f, 1, FLOW_SYSCALL, at("tail_syscall"), 0);
    expect_event(f, 2, FLOW_RESUME, 0, at("tail_after_syscall"));
    expect_event(f, 3, FLOW_RETURN, at("tail_after_syscall"), at("leaf"));
    assert_int_equal(fixture_event(f, 2)->time.value, 2000);
    assert_int_equal(f->statistics.errors, 0);
}

static void bdm70_of_broadwell(void **state)
{
    put_bdm70(&((struct fixture *)*state)->packets);
    decode(*state, &broadwell);
    expect_no_execution_at_the_psb(*state);
}

static void bdm70_of_skylake(void **state)
{
    put_bdm70(&((struct fixture *)*state)->packets);
    decode(*state, &skylake);
    expect_no_execution_at_the_psb(*state);
}

static void bdm70_of_others(void **state)
{
    struct fixture *f = *state;
    put_bdm70(&f->packets);
    decode(f, &haswell);
    expect_event(f, 2, FLOW_RESUME, 0, at("caller"));
    assert_int_equal(fixture_event(f, 3)->kind, FLOW_GAP); /* TIP.PGE while tracing is on */
    assert_int_equal(f->statistics.errors, 1);
}

/* The same at the beginning of the data, with other packets in between. */
static void bdm70_at_the_beginning(void **state)
{
    static const uint8_t cbr_and_cyc[] = {0x02, 0x03, 26, 0, 0x0b};
    struct fixture *f = *state;
    packets_psb(&f->packets, 1000, at("caller"));
    packets_raw(&f->packets, cbr_and_cyc, sizeof(cbr_and_cyc));
    packets_enable(&f->packets, at("leaf"));
    packets_tip(&f->packets, at("tail"));
    decode(f, &skylake);
    expect_event(f, 0, FLOW_RESUME, 0, at("leaf"));
    expect_event(f, 1, FLOW_RETURN, at("leaf_return"), at("tail"));
    assert_int_equal(f->statistics.errors, 0);
}

/* The code that is executed after it shows that its FUP is right. */
static void a_psb_before_other_packets_is_right(void **state)
{
    struct fixture *f = *state;
    packets_psb(&f->packets, 1000, at("caller"));
    packets_tnt(&f->packets, "TT");
    packets_tip(&f->packets, at("tail"));
    packets_disable(&f->packets);
    packets_enable(&f->packets, at("leaf"));
    decode(f, &skylake);
    expect_event(f, 0, FLOW_RESUME, 0, at("caller"));
    expect_event(f, 3, FLOW_JUMP, at("caller_jump"), at("tail"));
    expect_event(f, 5, FLOW_RESUME, 0, at("leaf"));
}

/* SKD007: "OVF may be issued after the first byte of a multi-byte CYC packet, instead of any
 * remaining bytes of the CYC". */

static void put_skd007(struct packets *packets, uint8_t cyc)
{
    packets_psb(packets, 1000, 0);
    packets_enable(packets, at("recursive"));
    packets_tnt(packets, "NN"); /* the second call is not known to have happened */
    packets_raw(packets, &cyc, 1);
    packets_overflow(packets, at("leaf"));
    packets_tip(packets, at("tail"));
    packets_disable(packets);
    packets_tsc(packets, 9000);
    packets_tsc(packets, 9000);
}

static void skd007_of_skylake(void **state)
{
    struct fixture *f = *state;
    put_skd007(&f->packets, 0x87); /* the OVF's first byte would be its last */
    decode(f, &skylake);
    expect_event(f, 1, FLOW_CALL, at("recursive_call"), at("recursive"));
    expect_overflow(f, 2, at("leaf"));
    expect_event(f, 4, FLOW_RETURN, at("leaf_return"), at("tail"));
    assert_int_equal(f->statistics.errors, 0);
}

static void skd007_where_no_fast_path_is_taken(void **state)
{
    struct fixture *f = *state;
    packets_psb(&f->packets, 1000, 0);
    packets_raw(&f->packets, (const uint8_t[]){0x87}, 1); /* tracing is off */
    packets_overflow(&f->packets, at("leaf"));
    packets_tip(&f->packets, at("tail"));
    decode(f, &skylake);
    expect_overflow(f, 0, at("leaf"));
    assert_int_equal(f->statistics.errors, 0);
}

/* CYC 0x87 0x02, CYC 0xf3, and an asynchronous event at the FUP. */
static void skd007_of_others(void **state)
{
    struct fixture *f = *state;
    put_skd007(&f->packets, 0x87);
    decode(f, &haswell);
    assert_int_equal(f->statistics.overflows, 0);
}

static void cycles_before_another_packet_are_no_skd007(void **state)
{
    struct fixture *f = *state;
    packets_psb(&f->packets, 1000, 0);
    packets_enable(&f->packets, at("leaf"));
    packets_raw(&f->packets, (const uint8_t[]){0x87, 0x02}, 2); /* 48 cycles */
    packets_tip(&f->packets, at("tail"));
    packets_disable(&f->packets);
    packets_tsc(&f->packets, 9000);
    packets_tsc(&f->packets, 9000);
    decode(f, &skylake);
    expect_event(f, 1, FLOW_RETURN, at("leaf_return"), at("tail"));
    assert_int_equal(fixture_event(f, 1)->time.value, 1048);
    assert_int_equal(f->statistics.overflows, 0);
}

/* SKD010: OVF "may not be followed by a FUP or TIP.PGE". */

static void put_skd010(struct packets *packets)
{
    packets_psb(packets, 1000, at("leaf"));
    packets_overflow(packets, 0);
    packets_tnt(packets, "TNT"); /* of unknown branches */
    packets_tip(packets, at("leaf"));
    packets_tip(packets, at("tail"));
    packets_disable(packets);
    packets_psb(packets, 2000, at("handler"));
}

static void skd010_of_skylake(void **state)
{
    struct fixture *f = *state;
    put_skd010(&f->packets);
    decode(f, &skylake);
    expect_overflow(f, 1, at("leaf"));
    expect_event(f, 3, FLOW_RETURN, at("leaf_return"), at("tail"));
    assert_int_equal(f->statistics.errors, 0);
}

static void skd010_of_others(void **state)
{
    struct fixture *f = *state;
    put_skd010(&f->packets);
    decode(f, &goldmont);
    expect_overflow(f, 1, at("handler"));
}

/* The FUP is missing, and the first packet after the OVF is the end of tracing. */
static void skd010_at_the_end_of_tracing(void **state)
{
    struct fixture *f = *state;
    packets_psb(&f->packets, 1000, at("leaf"));
    packets_overflow(&f->packets, 0);
    packets_disable(&f->packets);
    packets_enable(&f->packets, at("tail"));
    packets_disable(&f->packets);
    decode(f, &skylake);
    expect_overflow(f, 1, at("tail"));
    expect_event(f, 3, FLOW_SYSCALL, at("tail_syscall"), 0);
    assert_int_equal(f->statistics.errors, 0);
}

/* APL11: "the OVF may be followed by a TIP.PGD packet" of tracing that ended with it. */

static void put_apl11(struct packets *packets)
{
    packets_psb(packets, 1000, at("leaf"));
    packets_overflow(packets, 0);
    packets_disable(packets);
    packets_enable(packets, at("tail"));
    packets_disable(packets);
    packets_psb(packets, 2000, at("handler"));
}

static void apl11_of_goldmont_plus(void **state)
{
    struct fixture *f = *state;
    put_apl11(&f->packets);
    decode(f, &goldmont_plus);
    expect_overflow(f, 1, at("tail"));
    expect_event(f, 3, FLOW_SYSCALL, at("tail_syscall"), 0);
    assert_int_equal(f->statistics.errors, 0);
}

static void apl11_of_others(void **state)
{
    struct fixture *f = *state;
    put_apl11(&f->packets);
    decode(f, &broadwell);
    expect_overflow(f, 1, at("handler"));
}

/* APL12: outside of TIP.PGE and TIP.PGD "an OVF packet may be unexpectedly followed by a FUP". */

static void put_apl12(struct packets *packets)
{
    packets_psb(packets, 1000, 0);
    packets_overflow(packets, at("caller"));
    packets_enable(packets, at("tail"));
    packets_disable(packets);
    packets_psb(packets, 2000, at("handler"));
}

static void apl12_of_goldmont(void **state)
{
    struct fixture *f = *state;
    put_apl12(&f->packets);
    decode(f, &goldmont);
    expect_overflow(f, 0, at("tail"));
    expect_event(f, 2, FLOW_SYSCALL, at("tail_syscall"), 0);
    assert_int_equal(f->statistics.errors, 0);
}

static void apl12_of_others(void **state)
{
    struct fixture *f = *state;
    put_apl12(&f->packets);
    decode(f, &goldmont_plus);
    expect_overflow(f, 0, at("handler"));
}

/* The same with a PSB in between that says tracing is off. */
static void put_apl12_before_a_psb(struct packets *packets)
{
    packets_psb(packets, 1000, at("leaf"));
    packets_overflow(packets, at("caller"));
    packets_psb(packets, 2000, 0);
    packets_enable(packets, at("tail"));
}

static void apl12_before_a_psb(void **state)
{
    struct fixture *f = *state;
    put_apl12_before_a_psb(&f->packets);
    decode(f, &goldmont);
    expect_overflow(f, 1, at("tail"));
}

static void apl12_before_a_psb_of_others(void **state)
{
    struct fixture *f = *state;
    put_apl12_before_a_psb(&f->packets);
    decode(f, &goldmont_plus);
    expect_overflow(f, 1, at("caller"));
    expect_event(f, 3, FLOW_STOP, 0, 0); /* nothing has run */
    expect_event(f, 4, FLOW_RESUME, 0, at("tail"));
}

static void a_fup_that_tracing_continues_from_is_no_apl12(void **state)
{
    struct fixture *f = *state;
    packets_psb(&f->packets, 1000, 0);
    packets_overflow(&f->packets, at("leaf"));
    packets_tip(&f->packets, at("tail"));
    packets_disable(&f->packets);
    packets_enable(&f->packets, at("handler"));
    decode(f, &goldmont);
    expect_overflow(f, 0, at("leaf"));
    expect_event(f, 2, FLOW_RETURN, at("leaf_return"), at("tail"));
}

/* SKZ84: under a hypervisor "any TMA packet generated will have corrupted values in the CTC and
 * FastCounter fields. Additionally, the corrupted TMA packet will be followed by a bogus data
 * byte". It shows where reserved bits are set. */

static const uint8_t bad_tma[] = {0x02, 0x73, 0x01, 0x01, 0x01, 0x01, 0x00, 0xc9};

static void put_skz84(struct packets *packets)
{
    packets_psb(packets, 1000, at("leaf"));
    packets_raw(packets, bad_tma, sizeof(bad_tma));
    packets_tip(packets, at("tail"));
    packets_disable(packets);
    packets_psb(packets, 2000, at("handler"));
}

static void skz84_of_sapphire_rapids(void **state)
{
    struct fixture *f = *state;
    put_skz84(&f->packets);
    decode(f, &sapphire_rapids);
    expect_event(f, 1, FLOW_RETURN, at("leaf_return"), at("tail"));
    assert_int_equal(f->statistics.errors, 0);
}

static void skz84_of_others(void **state)
{
    struct fixture *f = *state;
    put_skz84(&f->packets);
    decode(f, &skylake);
    assert_int_equal(fixture_event(f, 1)->gap, FLOW_GAP_ERROR);
    expect_event(f, 2, FLOW_RESUME, 0, at("handler"));
}

static void skz84_after_a_psb(void **state)
{
    static const uint8_t psb_end[] = {0x02, 0x23};
    struct fixture *f = *state;
    packets_psb(&f->packets, 1000, at("leaf"));
    pt_enc_sync_set(f->packets.encoder, packets_size(&f->packets) - sizeof(psb_end));
    packets_raw(&f->packets, bad_tma, sizeof(bad_tma));
    packets_raw(&f->packets, psb_end, sizeof(psb_end));
    packets_tip(&f->packets, at("tail"));
    decode(f, &sapphire_rapids);
    expect_event(f, 0, FLOW_RESUME, 0, at("leaf"));
    expect_event(f, 1, FLOW_RETURN, at("leaf_return"), at("tail"));
    assert_int_equal(f->statistics.errors, 0);
}

static void skz84_at_the_end_of_the_data(void **state)
{
    struct fixture *f = *state;
    packets_psb(&f->packets, 1000, at("leaf"));
    packets_raw(&f->packets, bad_tma, sizeof(bad_tma) - 1);
    decode(f, &sapphire_rapids);
    expect_event(f, 0, FLOW_RESUME, 0, at("leaf"));
    assert_int_equal(f->statistics.errors, 0);
}

/* Processors. */

static void others_have_no_errata(void **state)
{
    static const struct errata none;
    struct cpu_identity cpu = {0};
    struct errata errata = errata_of(&cpu);
    assert_memory_equal(&errata, &none, sizeof(none));
    cpu = skylake;
    cpu.intel = false;
    errata = errata_of(&cpu);
    assert_memory_equal(&errata, &none, sizeof(none));
    cpu = skylake;
    cpu.family = 15;
    errata = errata_of(&cpu);
    assert_memory_equal(&errata, &none, sizeof(none));
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(bdm70_of_broadwell),
        TEST(bdm70_of_skylake),
        TEST(bdm70_of_others),
        TEST(bdm70_at_the_beginning),
        TEST(a_psb_before_other_packets_is_right),
        TEST(skd007_of_skylake),
        TEST(skd007_where_no_fast_path_is_taken),
        TEST(skd007_of_others),
        TEST(cycles_before_another_packet_are_no_skd007),
        TEST(skd010_of_skylake),
        TEST(skd010_of_others),
        TEST(skd010_at_the_end_of_tracing),
        TEST(apl11_of_goldmont_plus),
        TEST(apl11_of_others),
        TEST(apl12_of_goldmont),
        TEST(apl12_of_others),
        TEST(apl12_before_a_psb),
        TEST(apl12_before_a_psb_of_others),
        TEST(a_fup_that_tracing_continues_from_is_no_apl12),
        TEST(skz84_of_sapphire_rapids),
        TEST(skz84_of_others),
        TEST(skz84_after_a_psb),
        TEST(skz84_at_the_end_of_the_data),
        cmocka_unit_test(others_have_no_errata),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
