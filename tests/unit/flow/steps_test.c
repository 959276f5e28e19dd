#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "fixture.h"

struct steps {
    struct fixture fixture;
    struct flow_observer observer;
    struct array steps; /* struct flow_step, without instructions */
    uint64_t instructions;
    size_t next; /* to be expected */
};

static void keep_step(void *context, const struct flow_step *step)
{
    struct steps *steps = context;
    if (step->kind == STEP_INSTRUCTION)
        steps->instructions++;
    else
        *(struct flow_step *)array_add(&steps->steps) = *step;
}

static int begin(void **state)
{
    static struct steps steps;
    steps = (struct steps){.steps = array_of(sizeof(struct flow_step))};
    fixture_begin(&steps.fixture);
    steps.observer = (struct flow_observer){&steps, true, keep_step};
    steps.fixture.observer = &steps.observer;
    *state = &steps;
    return 0;
}

static int end(void **state)
{
    struct steps *steps = *state;
    array_free(&steps->steps);
    fixture_free(&steps->fixture);
    return 0;
}

static const struct flow_step *expect(struct steps *steps, enum flow_step_kind kind, uint64_t from,
                                      uint64_t to)
{
    assert_true(steps->next < steps->steps.count);
    const struct flow_step *step = array_at(&steps->steps, steps->next++);
    assert_string_equal(flow_step_name(step->kind), flow_step_name(kind));
    assert_int_equal(step->kind, kind);
    assert_int_equal(step->from, from);
    assert_int_equal(step->to, to);
    return step;
}

static void expect_no_more(const struct steps *steps)
{
    assert_int_equal(steps->next, steps->steps.count);
}

static void every_branch_is_a_step(void **state)
{
    struct steps *s = *state;
    struct packets *p = &s->fixture.packets;
    packets_psb(p, 1000, 0);
    packets_enable(p, at("caller"));
    packets_tnt(p, "TT"); /* compressed return from leaf; jz taken */
    packets_tip(p, at("caller_after_call"));
    packets_tnt(p, "N");
    packets_tip(p, at("tail"));
    packets_disable(p);
    fixture_decode(&s->fixture);
    assert_int_equal(expect(s, STEP_START, 0, at("caller"))->thread->tid, PROGRAM_TID);
    expect(s, STEP_CALL, at("caller_call"), at("leaf"));
    expect(s, STEP_RETURN, at("leaf_return"), at("caller_after_call"));
    expect(s, STEP_TAKEN, at("caller_after_call"), at("caller_jump"));
    expect(s, STEP_JUMP, at("caller_jump"), at("caller_after_call"));
    expect(s, STEP_NOT_TAKEN, at("caller_after_call"), at("caller_jump") - 1);
    expect(s, STEP_JUMP, at("caller_jump"), at("tail"));
    expect(s, STEP_CALL, at("tail"), at("tail") + 5); /* of itself, to read its own address */
    expect(s, STEP_END, at("tail_syscall"), 0);
    expect_no_more(s);
    assert_int_equal(s->instructions, 11);
    assert_int_equal(s->instructions, s->fixture.statistics.instructions);
}

static void an_error_names_its_packet(void **state)
{
    struct steps *s = *state;
    struct packets *p = &s->fixture.packets;
    packets_psb(p, 1000, 0);
    packets_enable(p, at("indirect"));
    size_t offset = packets_size(p);
    packets_raw(p, (const uint8_t[]){0xc9}, 1);
    packets_psb(p, 2000, at("caller"));
    fixture_decode(&s->fixture);
    expect(s, STEP_START, 0, at("indirect"));
    const struct flow_step *error = expect(s, STEP_ERROR, at("indirect"), 0);
    assert_int_equal(error->error, DECODE_BAD_PACKET);
    assert_int_equal(error->offset, offset);
    expect(s, STEP_START, 0, at("caller"));
}

static void overflows_and_aborts_are_steps(void **state)
{
    struct steps *s = *state;
    struct packets *p = &s->fixture.packets;
    packets_psb(p, 1000, 0);
    packets_enable(p, at("leaf"));
    packets_transaction(p, true, at("leaf_return"));
    packets_abort(p, at("leaf_return"), at("caller"));
    packets_overflow(p, at("leaf"));
    packets_divert(p, at("leaf_return"), at("tail"));
    fixture_decode(&s->fixture);
    expect(s, STEP_START, 0, at("leaf"));
    expect(s, STEP_ABORT, at("leaf_return"), at("caller"));
    expect(s, STEP_OVERFLOW, 0, 0);
    expect(s, STEP_START, 0, at("leaf"));
    expect(s, STEP_INTERRUPT, at("leaf_return"), at("tail"));
}

/* Errata. */

static const struct cpu_identity skylake = {.family = 6, .model = 0x4e, .intel = true};
static const struct cpu_identity goldmont = {.family = 6, .model = 0x5c, .intel = true};

/* An overflow's FUP, then a PSB+ that says tracing is off, then TIP.PGE. */
static void packets_of_apl12(struct packets *packets)
{
    packets_psb(packets, 1000, at("leaf"));
    packets_overflow(packets, at("caller"));
    packets_psb(packets, 2000, 0);
    packets_enable(packets, at("tail"));
}

static void an_overflow_of_apl12_does_not_begin_tracing(void **state)
{
    struct steps *s = *state;
    s->fixture.cpu = goldmont;
    packets_of_apl12(&s->fixture.packets);
    fixture_decode(&s->fixture);
    expect(s, STEP_START, 0, at("leaf"));
    expect(s, STEP_OVERFLOW, 0, 0);
    expect(s, STEP_START, 0, at("tail"));
}

static void an_overflow_of_others_does(void **state)
{
    struct steps *s = *state;
    packets_of_apl12(&s->fixture.packets);
    fixture_decode(&s->fixture);
    expect(s, STEP_START, 0, at("leaf"));
    expect(s, STEP_OVERFLOW, 0, 0);
    expect(s, STEP_START, 0, at("caller"));
    expect(s, STEP_END, 0, 0); /* nothing has run */
    expect(s, STEP_START, 0, at("tail"));
}

/* The first byte of a CYC packet of several, then OVF (SKD007), before PSBEND. */
static void an_overflow_within_a_header_may_cut_a_packet(void **state)
{
    static const uint8_t cut[] = {0x02, 0x82, 0x02, 0x82, 0x02, 0x82, 0x02, 0x82, 0x02, 0x82, 0x02,
                                  0x82, 0x02, 0x82, 0x02, 0x82, 0x99, 0x01, 0xf7, 0x02, 0xf3};
    struct steps *s = *state;
    s->fixture.cpu = skylake;
    packets_raw(&s->fixture.packets, cut, sizeof(cut));
    packets_enable(&s->fixture.packets, at("tail"));
    fixture_decode(&s->fixture);
    expect(s, STEP_OVERFLOW, 0, 0);
    expect(s, STEP_START, 0, at("tail"));
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(every_branch_is_a_step),         TEST(an_error_names_its_packet),
        TEST(overflows_and_aborts_are_steps), TEST(an_overflow_of_apl12_does_not_begin_tracing),
        TEST(an_overflow_of_others_does),     TEST(an_overflow_within_a_header_may_cut_a_packet),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
