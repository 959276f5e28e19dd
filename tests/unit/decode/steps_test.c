#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "fixture.h"

#include <inttypes.h>
#include <stdio.h>

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
    steps.observer =
        (struct flow_observer){.context = &steps, .instructions = true, .step = keep_step};
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

/* The program was ended, or the recording was, while it ran: no packet says that tracing stopped.
 */
static void the_end_of_the_packets_is_no_step(void **state)
{
    struct steps *s = *state;
    struct packets *p = &s->fixture.packets;
    packets_psb(p, 1000, 0);
    packets_enable(p, at("caller"));
    packets_tnt(p, "TT");
    packets_tip(p, at("caller_after_call"));
    fixture_decode(&s->fixture);
    expect(s, STEP_START, 0, at("caller"));
    expect(s, STEP_CALL, at("caller_call"), at("leaf"));
    expect(s, STEP_RETURN, at("leaf_return"), at("caller_after_call"));
    expect(s, STEP_TAKEN, at("caller_after_call"), at("caller_jump"));
    expect(s, STEP_JUMP, at("caller_jump"), at("caller_after_call"));
    expect_no_more(s);
}

static void an_error_names_its_packet(void **state)
{
    struct steps *s = *state;
    struct packets *p = &s->fixture.packets;
    packets_psb(p, 1000, 0);
    packets_enable(p, at("indirect"));
    size_t offset = packets_size(p);
    packets_raw(p, (const uint8_t[]){0xc9}, 1);
    packets_psb(p, 2000, at("leaf"));
    packets_divert(p, at("leaf_return"), at("tail"));
    fixture_decode(&s->fixture);
    expect(s, STEP_START, 0, at("indirect"));
    const struct flow_step *error = expect(s, STEP_ERROR, at("indirect"), 0);
    assert_int_equal(error->error, DECODE_BAD_PACKET);
    assert_int_equal(error->offset, offset);
    /* Where tracing becomes known again no packet says that it begins. */
    expect(s, STEP_INTERRUPT, at("leaf_return"), at("tail"));
    expect_no_more(s);
}

/* The fallback of the transaction is not traced. */
static void an_abort_may_end_tracing(void **state)
{
    struct steps *s = *state;
    struct packets *p = &s->fixture.packets;
    packets_psb(p, 1000, 0);
    packets_enable(p, at("leaf"));
    packets_transaction(p, true, at("leaf"));
    packets_abort_out(p, at("leaf_return"), at("caller"));
    packets_enable(p, at("leaf"));
    packets_transaction(p, true, at("leaf"));
    packets_abort_out(p, at("leaf_return"), 0);
    fixture_decode(&s->fixture);
    expect(s, STEP_START, 0, at("leaf"));
    expect(s, STEP_ABORT, at("leaf_return"), at("caller"));
    expect(s, STEP_END, 0, 0);
    expect(s, STEP_START, 0, at("leaf"));
    expect(s, STEP_ABORT, at("leaf_return"), 0);
    expect(s, STEP_END, 0, 0);
    expect_no_more(s);
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
    expect(s, STEP_INTERRUPT, at("leaf_return"), at("tail"));
    expect_no_more(s);
}

/* Address filters. */

/* The program leaves `jumps_away`, whose addresses in its file `filters` may name. */
static void decode_with_filters(struct steps *s, const char *filters)
{
    const struct sideband_record *mapping = array_at(&s->fixture.records, 1);
    uint64_t offset = at("jumps_away") - mapping->mapping.start + mapping->mapping.file_offset;
    char text[1024];
    if (filters) {
        snprintf(text, sizeof(text), filters, offset, mapping->mapping.path);
        s->fixture.setup.filters = text;
    }
    packets_psb(&s->fixture.packets, 1000, at("jumps_away"));
    packets_disable(&s->fixture.packets);
    fixture_decode(&s->fixture);
}

static void expect_left_by_the_jump(struct steps *s, const char *filters)
{
    decode_with_filters(s, filters);
    expect(s, STEP_END, at("jumps_away_jump"), 0);
    expect_no_more(s);
}

static void expect_left_by_the_return(struct steps *s, const char *filters)
{
    decode_with_filters(s, filters);
    expect(s, STEP_JUMP, at("jumps_away_jump"), at("leaf"));
    expect(s, STEP_END, at("leaf_return"), 0);
}

static void a_direct_jump_out_of_what_is_traced_may_end_tracing(void **state)
{
    expect_left_by_the_jump(*state, "filter 0x%" PRIx64 "/0x5@%s");
}

static void one_of_several_filters_is_enough(void **state)
{
    expect_left_by_the_jump(*state, "filter 0xffffffff81000000/0x100,filter 0x0/0xffffff@/x,y,"
                                    "filter 0x%" PRIx64 "/0x5@%s");
}

static void tracing_may_stop_at_what_is_not_to_be_traced(void **state)
{
    expect_left_by_the_jump(*state, "stop 0x0/0x%" PRIx64 "@%s");
}

static void a_jump_within_what_is_traced_does_not_end_tracing(void **state)
{
    expect_left_by_the_return(*state, "filter 0x0/0x1%" PRIx64 "@%s");
}

static void a_stop_elsewhere_does_not_end_tracing(void **state)
{
    expect_left_by_the_return(*state, "stop 0x1%" PRIx64 "/0x10@%s");
}

static void filters_that_are_not_understood_are_none(void **state)
{
    expect_left_by_the_return(*state, "filter 0x%" PRIx64 "/0x5@%s,start 0x1");
}

static void without_filters_no_direct_jump_ends_tracing(void **state)
{
    expect_left_by_the_return(*state, NULL);
}

/* Event tracing. */

static const uint8_t mode_64[] = {0x99, 0x01}, mode_64_if[] = {0x99, 0x05};

/* The FUP says where the interrupt flag changed, and nothing about the flow. */
static void a_mode_with_an_address_is_no_interrupt(void **state)
{
    struct steps *s = *state;
    struct packets *p = &s->fixture.packets;
    packets_psb(p, 1000, at("leaf"));
    packets_raw(p, mode_64_if, sizeof(mode_64_if));
    packets_fup(p, at("leaf_return"));
    packets_raw(p, mode_64, sizeof(mode_64));
    packets_tip(p, at("leaf"));
    packets_divert(p, at("leaf_return"), at("tail"));
    fixture_decode(&s->fixture);
    expect(s, STEP_RETURN, at("leaf_return"), at("leaf"));
    expect(s, STEP_INTERRUPT, at("leaf_return"), at("tail"));
}

/* The data of EVD packets (SDM, "Event Data") belong to the event that the CFE after them names. */
static void put_event(struct packets *packets, const uint8_t *data, unsigned data_count,
                      uint8_t event)
{
    for (unsigned i = 0; i < data_count; i++)
        packets_raw(packets, (const uint8_t[11]){0x02, 0x53, data[i]}, 11);
    packets_raw(packets, (const uint8_t[4]){0x02, 0x13, event}, 4);
    packets_divert(packets, at("leaf_return"), at("tail"));
}

enum { PAGE_FAULT_ADDRESS, EXIT_QUALIFICATION, EXIT_REASON };
enum { INTERRUPT = 1, IRET = 2, VM_EXIT = 8 };

static void expect_event_data(struct steps *s, const uint8_t *data, unsigned count, uint8_t event,
                              bool fits)
{
    struct packets *p = &s->fixture.packets;
    packets_psb(p, 1000, at("leaf"));
    put_event(p, data, count, event);
    packets_psb(p, 2000, at("caller"));
    fixture_decode(&s->fixture);
    if (fits)
        expect(s, STEP_INTERRUPT, at("leaf_return"), at("tail"));
    else
        assert_int_equal(expect(s, STEP_ERROR, at("leaf"), 0)->error, DECODE_MISPLACED_PACKET);
}

static void a_page_fault_may_have_its_address(void **state)
{
    expect_event_data(*state, (const uint8_t[]){PAGE_FAULT_ADDRESS}, 1, INTERRUPT, true);
}

static void a_vm_exit_may_have_its_reason_and_more(void **state)
{
    expect_event_data(*state, (const uint8_t[]){EXIT_REASON, EXIT_QUALIFICATION}, 2, VM_EXIT, true);
}

static void an_address_of_a_page_fault_is_of_no_other_event(void **state)
{
    expect_event_data(*state, (const uint8_t[]){PAGE_FAULT_ADDRESS}, 1, IRET, false);
}

static void data_of_a_vm_exit_is_of_no_other_event(void **state)
{
    expect_event_data(*state, (const uint8_t[]){EXIT_REASON}, 1, INTERRUPT, false);
}

static void data_of_two_events_does_not_mix(void **state)
{
    expect_event_data(*state, (const uint8_t[]){PAGE_FAULT_ADDRESS, EXIT_REASON}, 2, VM_EXIT,
                      false);
}

static void data_of_an_event_is_not_reported_twice(void **state)
{
    expect_event_data(*state, (const uint8_t[]){EXIT_REASON, EXIT_REASON}, 2, VM_EXIT, false);
}

static void data_of_unknown_kind_is_passed_over(void **state)
{
    expect_event_data(*state, (const uint8_t[]){0x3f}, 1, INTERRUPT, true);
}

/* Errata. */

static const struct cpu_identity skylake = {.family = 6, .model = 0x4e, .intel = true};

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
        TEST(every_branch_is_a_step),
        TEST(the_end_of_the_packets_is_no_step),
        TEST(an_error_names_its_packet),
        TEST(overflows_and_aborts_are_steps),
        TEST(an_abort_may_end_tracing),
        TEST(a_direct_jump_out_of_what_is_traced_may_end_tracing),
        TEST(one_of_several_filters_is_enough),
        TEST(tracing_may_stop_at_what_is_not_to_be_traced),
        TEST(a_jump_within_what_is_traced_does_not_end_tracing),
        TEST(a_stop_elsewhere_does_not_end_tracing),
        TEST(filters_that_are_not_understood_are_none),
        TEST(without_filters_no_direct_jump_ends_tracing),
        TEST(a_mode_with_an_address_is_no_interrupt),
        TEST(a_page_fault_may_have_its_address),
        TEST(a_vm_exit_may_have_its_reason_and_more),
        TEST(an_address_of_a_page_fault_is_of_no_other_event),
        TEST(data_of_a_vm_exit_is_of_no_other_event),
        TEST(data_of_two_events_does_not_mix),
        TEST(data_of_an_event_is_not_reported_twice),
        TEST(data_of_unknown_kind_is_passed_over),
        TEST(an_overflow_within_a_header_may_cut_a_packet),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
