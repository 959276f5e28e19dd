#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "fixture.h"
#include "packet/callchain_snapshot.h"

#include <string.h>

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

/* Calls, returns, jumps. */

static void calls_returns_and_tail_calls_are_events(void **state)
{
    struct fixture *f = *state;
    struct packets *p = &f->packets;
    packets_psb(p, 1000, 0);
    packets_tsc(p, 1000);
    packets_enable(p, at("caller"));
    packets_tnt(p, "TT"); /* compressed return from leaf; jz taken */
    packets_tip(p, at("tail"));
    packets_disable(p);
    packets_tsc(p, 5000);
    packets_enable(p, at("tail_after_syscall"));
    packets_tip(p, at("leaf"));
    fixture_decode(f);
    expect_event(f, 0, FLOW_RESUME, 0, at("caller"));
    expect_event(f, 1, FLOW_CALL, at("caller_call"), at("leaf"));
    assert_int_equal(fixture_event(f, 1)->next, at("caller_after_call"));
    expect_event(f, 2, FLOW_RETURN, at("leaf_return"), at("caller_after_call"));
    expect_event(f, 3, FLOW_JUMP, at("caller_jump"), at("tail"));
    assert_false(fixture_event(f, 3)->flags & FLOW_DIRECT);
    expect_event(f, 4, FLOW_SYSCALL, at("tail_syscall"), 0);
    assert_int_equal(fixture_event(f, 4)->next, at("tail_after_syscall"));
    expect_event(f, 5, FLOW_RESUME, 0, at("tail_after_syscall"));
    expect_event(f, 6, FLOW_RETURN, at("tail_after_syscall"), at("leaf"));
    expect_event(f, 7, FLOW_STOP, at("tail_after_syscall"), 0);
    assert_int_equal(fixture_event_count(f), 8);
    expect_function(f, 0, "caller");
    expect_function(f, 1, "leaf");
    expect_function(f, 2, "caller");
    expect_function(f, 3, "tail");
    expect_function(f, 4, "tail");
    assert_int_equal(f->statistics.errors, 0);
}

static void indirect_calls_have_a_return_address(void **state)
{
    struct fixture *f = *state;
    struct packets *p = &f->packets;
    packets_psb(p, 1000, 0);
    packets_enable(p, at("indirect"));
    packets_tip(p, at("leaf"));
    packets_tip(p, at("indirect_after_call"));
    packets_tip(p, at("handler"));
    fixture_decode(f);
    expect_event(f, 1, FLOW_CALL, at("indirect_call"), at("leaf"));
    assert_int_equal(fixture_event(f, 1)->next, at("indirect_after_call"));
    expect_event(f, 2, FLOW_RETURN, at("leaf_return"), at("indirect_after_call"));
    expect_event(f, 3, FLOW_RETURN, at("indirect_after_call"), at("handler"));
}

static void direct_recursion_is_kept(void **state)
{
    struct fixture *f = *state;
    struct packets *p = &f->packets;
    packets_psb(p, 1000, 0);
    packets_enable(p, at("recursive"));
    packets_tnt(p, "NNTTT"); /* two calls, jz taken at the bottom, two compressed returns */
    fixture_decode(f);
    expect_event(f, 1, FLOW_CALL, at("recursive_call"), at("recursive"));
    expect_event(f, 2, FLOW_CALL, at("recursive_call"), at("recursive"));
    expect_event(f, 3, FLOW_RETURN, at("recursive_return"), at("recursive_after_call"));
    expect_event(f, 4, FLOW_RETURN, at("recursive_return"), at("recursive_after_call"));
}

static void a_call_to_read_its_own_address_is_no_call(void **state)
{
    struct fixture *f = *state;
    packets_psb(&f->packets, 1000, 0);
    packets_enable(&f->packets, at("tail"));
    packets_disable(&f->packets);
    fixture_decode(f);
    expect_event(f, 0, FLOW_RESUME, 0, at("tail"));
    expect_event(f, 1, FLOW_SYSCALL, at("tail_syscall"), 0);
    assert_int_equal(fixture_event_count(f), 2);
}

static void running_on_into_the_next_function_is_a_jump(void **state)
{
    struct fixture *f = *state;
    packets_psb(&f->packets, 1000, 0);
    packets_enable(&f->packets, at("falls"));
    packets_tip(&f->packets, at("leaf"));
    fixture_decode(f);
    expect_event(f, 1, FLOW_JUMP, at("falls_last"), at("fallen_into"));
    assert_true(fixture_event(f, 1)->flags & FLOW_DIRECT);
    expect_function(f, 1, "fallen_into");
    expect_event(f, 2, FLOW_RETURN, at("fallen_return"), at("leaf"));
}

static void a_direct_jump_into_another_function_is_an_event(void **state)
{
    struct fixture *f = *state;
    packets_psb(&f->packets, 1000, 0);
    packets_enable(&f->packets, at("jumps_away"));
    packets_tip(&f->packets, at("caller"));
    fixture_decode(f);
    expect_event(f, 1, FLOW_JUMP, at("jumps_away_jump"), at("leaf"));
    assert_true(fixture_event(f, 1)->flags & FLOW_DIRECT);
    expect_event(f, 2, FLOW_RETURN, at("leaf_return"), at("caller"));
}

static void a_jump_to_the_cold_part_of_a_function_is_no_event(void **state)
{
    struct fixture *f = *state;
    packets_psb(&f->packets, 1000, 0);
    packets_enable(&f->packets, at("half"));
    packets_tnt(&f->packets, "T");
    packets_tip(&f->packets, at("caller"));
    fixture_decode(f);
    expect_event(f, 1, FLOW_RETURN, at("half_cold_return"), at("caller"));
}

/* Jumps to another place in the stack. */

/* Two jumps within one function, the first of which loads the stack pointer. */
static void expect_one_jump_that_loads_the_stack_pointer(struct fixture *f)
{
    expect_event(f, 1, FLOW_JUMP, at("stack_loader_jump"), at("stack_loader_target"));
    assert_true(fixture_event(f, 1)->flags & FLOW_LOADS_STACK);
    expect_event(f, 2, FLOW_RETURN, at("stack_loader_target"), at("stack_loader_jump"));
    expect_event(f, 3, FLOW_RETURN, at("stack_loader_target"), at("caller"));
}

static void a_jump_that_loads_the_stack_pointer_is_always_an_event(void **state)
{
    struct fixture *f = *state;
    packets_psb(&f->packets, 1000, 0);
    packets_enable(&f->packets, at("stack_loader"));
    packets_tip(&f->packets, at("stack_loader_target"));
    packets_tip(&f->packets, at("stack_loader_jump")); /* a block of its own, without the load */
    packets_tip(&f->packets, at("stack_loader_target"));
    packets_tip(&f->packets, at("caller"));
    fixture_decode(f);
    expect_one_jump_that_loads_the_stack_pointer(f);
}

/* The PSB says where control is: between the load and the jump. */
static void a_psb_within_a_block_does_not_hide_that_it_loads_the_stack_pointer(void **state)
{
    struct fixture *f = *state;
    packets_psb(&f->packets, 1000, 0);
    packets_enable(&f->packets, at("stack_loader"));
    packets_psb(&f->packets, 2000, at("stack_loader_jump"));
    packets_tip(&f->packets, at("stack_loader_target"));
    packets_tip(&f->packets, at("stack_loader_jump"));
    packets_psb(&f->packets, 3000, at("stack_loader_jump"));
    packets_tip(&f->packets, at("stack_loader_target")); /* without the load */
    packets_tip(&f->packets, at("caller"));
    fixture_decode(f);
    expect_one_jump_that_loads_the_stack_pointer(f);
}

/* More packets than a PSB segment has. */
static void fill_psb_segment(struct fixture *f)
{
    static const uint8_t padding[1 << 16];
    packets_raw(&f->packets, padding, sizeof padding);
}

static void a_psb_segment_that_begins_after_the_load_has_it(void **state)
{
    struct fixture *f = *state;
    packets_psb(&f->packets, 1000, 0);
    packets_enable(&f->packets, at("stack_loader"));
    fill_psb_segment(f);
    packets_psb(&f->packets, 2000, at("stack_loader_jump"));
    packets_tip(&f->packets, at("stack_loader_target"));
    packets_tip(&f->packets, at("stack_loader_jump"));
    packets_tip(&f->packets, at("stack_loader_target")); /* without the load */
    packets_tip(&f->packets, at("caller"));
    fixture_decode(f);
    expect_one_jump_that_loads_the_stack_pointer(f);
}

static void a_psb_segment_that_begins_within_a_push_of_a_handler_has_it_once(void **state)
{
    struct fixture *f = *state;
    packets_psb(&f->packets, 1000, 0);
    packets_enable(&f->packets, at("caml_start_program"));
    fill_psb_segment(f);
    packets_psb(&f->packets, 2000, at("traps_push"));
    fill_psb_segment(f);
    packets_psb(&f->packets, 3000, at("traps_call"));
    packets_tip(&f->packets, at("leaf"));
    fixture_decode(f);
    expect_event(f, 1, FLOW_TRAP_PUSH, at("traps_push"), at("traps_handler"));
    expect_event(f, 2, FLOW_CALL, at("traps_call"), at("leaf"));
}

static void a_psb_within_a_push_of_a_handler_does_not_hide_it(void **state)
{
    struct fixture *f = *state;
    packets_psb(&f->packets, 1000, 0);
    packets_enable(&f->packets, at("caml_start_program"));
    packets_psb(&f->packets, 2000, at("traps_push"));
    packets_psb(&f->packets, 3000, at("traps_call"));
    packets_tip(&f->packets, at("leaf"));
    fixture_decode(f);
    expect_event(f, 1, FLOW_TRAP_PUSH, at("traps_push"), at("traps_handler"));
    expect_event(f, 2, FLOW_CALL, at("traps_call"), at("leaf"));
}

static void a_jump_that_loads_the_stack_pointer_and_is_interrupted_is_one_jump(void **state)
{
    struct fixture *f = *state;
    packets_psb(&f->packets, 1000, 0);
    packets_enable(&f->packets, at("stack_loader"));
    packets_tip(&f->packets, at("stack_loader_target"));
    packets_interrupt(&f->packets, at("stack_loader_target"));
    packets_enable(&f->packets, at("handler"));
    packets_disable(&f->packets);
    fixture_decode(f);
    expect_event(f, 1, FLOW_JUMP, at("stack_loader_jump"), at("stack_loader_target"));
    expect_event(f, 2, FLOW_INTERRUPT, at("stack_loader_target"), 0);
    expect_event(f, 3, FLOW_RESUME, 0, at("handler"));
    assert_int_equal(fixture_event(f, 4)->kind, FLOW_STOP);
}

/* Callchain snapshots and stack pointers that the qemu engine records. */

static void the_stack_pointer_after_a_return_is_reported_with_it(void **state)
{
    struct fixture *f = *state;
    packets_psb(&f->packets, 1000, 0);
    packets_enable(&f->packets, at("leaf"));
    packets_ptwrite(&f->packets, 0x7000, at("leaf_return"));
    packets_tip(&f->packets, at("caller_after_call"));
    packets_tnt(&f->packets, "T");
    packets_ptwrite(&f->packets, 0x8000, at("caller_jump"));
    packets_tip(&f->packets, at("leaf"));
    fixture_decode(f);
    expect_event(f, 1, FLOW_RETURN, at("leaf_return"), at("caller_after_call"));
    assert_int_equal(fixture_event(f, 1)->next, 0x7000);
    expect_event(f, 2, FLOW_JUMP, at("caller_jump"), at("leaf"));
    assert_int_equal(fixture_event(f, 2)->next, 0x8000);
}

static void the_stack_pointer_elsewhere_is_an_event(void **state)
{
    struct fixture *f = *state;
    packets_psb(&f->packets, 1000, 0);
    packets_enable(&f->packets, at("leaf"));
    packets_ptwrite(&f->packets, 0x7000, at("leaf"));
    packets_tip(&f->packets, at("caller_after_call"));
    fixture_decode(f);
    expect_event(f, 1, FLOW_STACK, at("leaf"), 0x7000);
    expect_event(f, 2, FLOW_RETURN, at("leaf_return"), at("caller_after_call"));
    assert_int_equal(fixture_event(f, 2)->next, 0);
}

static void an_addition_to_the_stack_pointer_before_a_call_is_an_event(void **state)
{
    struct fixture *f = *state;
    packets_psb(&f->packets, 1000, 0);
    packets_enable(&f->packets, at("copier"));
    packets_tip(&f->packets, at("copier_after_call"));
    packets_tnt(&f->packets, "N");
    packets_tip(&f->packets, at("caller"));
    fixture_decode(f);
    expect_event(f, 1, FLOW_COPY, at("copier_add"), at("copier_added"));
    expect_function(f, 1, "copier");
    assert_int_equal(fixture_event(f, 1)->next, 0);
    expect_event(f, 2, FLOW_CALL, at("copier_call"), at("leaf"));
    expect_event(f, 3, FLOW_RETURN, at("leaf_return"), at("copier_after_call"));
    expect_event(f, 4, FLOW_RETURN, at("copier_return"), at("caller"));
}

static void the_pointer_after_an_addition_belongs_to_its_event(void **state)
{
    struct fixture *f = *state;
    packets_psb(&f->packets, 1000, 0);
    packets_enable(&f->packets, at("copier"));
    packets_ptwrite(&f->packets, 0x7000, at("copier"));
    packets_ptwrite(&f->packets, 0x8000, at("copier_add"));
    packets_tip(&f->packets, at("copier_after_call"));
    fixture_decode(f);
    expect_event(f, 1, FLOW_STACK, at("copier"), 0x7000);
    expect_event(f, 2, FLOW_COPY, at("copier_add"), at("copier_added"));
    assert_int_equal(fixture_event(f, 2)->next, 0x8000);
    expect_event(f, 3, FLOW_CALL, at("copier_call"), at("leaf"));
}

static void callers_are_reported_after_a_psb(void **state)
{
    struct fixture *f = *state;
    packets_psb(&f->packets, 1000, at("leaf"));
    packets_mnt(&f->packets, callchain_header(3, true));
    packets_mnt(&f->packets, at("caller_after_call"));
    packets_mnt(&f->packets, at("recursive_after_call") | (uint64_t)1 << CALLCHAIN_REPEATED_SHIFT);
    packets_mnt(&f->packets, at("half") | CALLCHAIN_INTERRUPTED);
    packets_tip(&f->packets, at("caller_after_call"));
    fixture_decode(f);
    expect_event(f, 0, FLOW_RESUME, 0, at("leaf"));
    expect_event(f, 1, FLOW_CALLER, 0, at("caller_after_call"));
    expect_function(f, 1, "caller");
    assert_false(fixture_event(f, 1)->flags & FLOW_INTERRUPTED);
    expect_event(f, 2, FLOW_CALLER, 0, at("recursive_after_call"));
    expect_event(f, 3, FLOW_CALLER, 0, at("recursive_after_call"));
    expect_event(f, 4, FLOW_CALLER, 0, at("half"));
    assert_true(fixture_event(f, 4)->flags & FLOW_INTERRUPTED);
    expect_event(f, 5, FLOW_CALLER, 0, 0);
    expect_event(f, 6, FLOW_RETURN, at("leaf_return"), at("caller_after_call"));
}

static void callers_that_are_reported_twice_are_there_once(void **state)
{
    struct fixture *f = *state;
    for (unsigned times = 0; times < 2; times++) {
        packets_psb(&f->packets, 1000 + times, at("leaf"));
        packets_mnt(&f->packets, callchain_header(1, false));
        packets_mnt(&f->packets, at("caller_after_call"));
    }
    packets_tip(&f->packets, at("caller_after_call"));
    fixture_decode(f);
    assert_int_equal(fixture_event(f, 0)->kind, FLOW_RESUME);
    assert_int_equal(fixture_event(f, 1)->kind, FLOW_CALLER);
    assert_int_equal(fixture_event(f, 2)->kind, FLOW_RETURN);
}

static void callers_further_out_may_not_be_reported(void **state)
{
    struct fixture *f = *state;
    packets_psb(&f->packets, 1000, at("leaf"));
    packets_mnt(&f->packets, callchain_header(1, false));
    packets_mnt(&f->packets, at("caller_after_call"));
    packets_tip(&f->packets, at("caller_after_call"));
    fixture_decode(f);
    expect_event(f, 1, FLOW_CALLER, 0, at("caller_after_call"));
    expect_event(f, 2, FLOW_RETURN, at("leaf_return"), at("caller_after_call"));
}

static void callers_that_are_not_all_reported_are_none(void **state)
{
    struct fixture *f = *state;
    packets_psb(&f->packets, 1000, at("leaf"));
    packets_mnt(&f->packets, callchain_header(2, true));
    packets_mnt(&f->packets, at("caller_after_call"));
    packets_tip(&f->packets, at("caller_after_call"));
    fixture_decode(f);
    expect_event(f, 1, FLOW_RETURN, at("leaf_return"), at("caller_after_call"));
}

static void mnt_packets_of_other_recorders_are_ignored(void **state)
{
    struct fixture *f = *state;
    packets_psb(&f->packets, 1000, at("leaf"));
    packets_mnt(&f->packets, 0x1234);
    packets_mnt(&f->packets, (uint64_t)CALLCHAIN_MARK << 32 | UINT32_MAX);
    packets_mnt(&f->packets, at("caller_after_call"));
    packets_tip(&f->packets, at("caller_after_call"));
    fixture_decode(f);
    expect_event(f, 1, FLOW_RETURN, at("leaf_return"), at("caller_after_call"));
}

/* OCaml's exception handlers. */

static void handlers_come_and_go(void **state)
{
    struct fixture *f = *state;
    packets_psb(&f->packets, 1000, 0);
    packets_enable(&f->packets, at("caml_start_program"));
    packets_tip(&f->packets, at("leaf"));
    packets_tip(&f->packets, at("traps_pop"));
    packets_tip(&f->packets, at("caller"));
    packets_disable(&f->packets);
    fixture_decode(f);
    expect_event(f, 0, FLOW_RESUME, 0, at("caml_start_program"));
    expect_event(f, 1, FLOW_TRAP_PUSH, at("traps_push"), at("traps_handler"));
    expect_function(f, 1, "caml_start_program");
    expect_event(f, 2, FLOW_CALL, at("traps_call"), at("leaf"));
    expect_event(f, 3, FLOW_RETURN, at("leaf_return"), at("traps_pop"));
    expect_event(f, 4, FLOW_TRAP_POP, at("traps_pop"), 0);
    expect_event(f, 5, FLOW_RETURN, at("traps_return"), at("caller"));
}

static void notes_describe_handlers_too(void **state)
{
    struct fixture *f = *state;
    packets_psb(&f->packets, 1000, 0);
    packets_enable(&f->packets, at("noted"));
    packets_tip(&f->packets, at("caller"));
    packets_disable(&f->packets);
    fixture_decode(f);
    expect_event(f, 1, FLOW_TRAP_PUSH, at("noted_push"), at("noted_handler"));
    expect_event(f, 2, FLOW_TRAP_POP, at("noted_pop"), 0);
    expect_event(f, 3, FLOW_RETURN, at("noted_return"), at("caller"));
}

/* The jump stays in one function, but may end activations of it. */
static void a_raise_is_always_an_event(void **state)
{
    struct fixture *f = *state;
    packets_psb(&f->packets, 1000, 0);
    packets_enable(&f->packets, at("traps_handler"));
    packets_tip(&f->packets, at("traps_handler"));
    packets_tip(&f->packets, at("handler"));
    fixture_decode(f);
    for (size_t i = 1; i <= 2; i++) {
        expect_event(f, i, FLOW_JUMP, at("traps_raise"), at(i == 1 ? "traps_handler" : "handler"));
        assert_true(fixture_event(f, i)->flags & FLOW_LOADS_STACK);
        assert_false(fixture_event(f, i)->flags & FLOW_DIRECT);
    }
}

/* Wherever a signal interrupts it, the handler is pushed once, by the instruction that does it. */
static void an_interrupted_push_is_one_push(void **state)
{
    struct fixture *f = *state;
    struct packets *p = &f->packets;
    packets_psb(p, 1000, 0);
    packets_enable(p, at("caml_start_program"));
    packets_interrupt(p, at("traps_push"));
    packets_enable(p, at("traps_push"));
    packets_interrupt(p, at("traps_call"));
    packets_enable(p, at("traps_call"));
    packets_tip(p, at("leaf"));
    fixture_decode(f);
    expect_event(f, 1, FLOW_INTERRUPT, at("traps_push"), 0);
    expect_event(f, 2, FLOW_RESUME, 0, at("traps_push"));
    expect_event(f, 3, FLOW_TRAP_PUSH, at("traps_push"), at("traps_handler"));
    expect_event(f, 4, FLOW_INTERRUPT, at("traps_call"), 0);
    expect_event(f, 5, FLOW_RESUME, 0, at("traps_call"));
    expect_event(f, 6, FLOW_CALL, at("traps_call"), at("leaf"));
}

/* Interrupts. */

static void an_asynchronous_stop_is_an_interrupt(void **state)
{
    struct fixture *f = *state;
    struct packets *p = &f->packets;
    packets_psb(p, 1000, 0);
    packets_enable(p, at("caller"));
    packets_interrupt(p, at("leaf_return"));
    packets_tsc(p, 2000);
    packets_enable(p, at("handler"));
    packets_tip(p, at("leaf_return"));
    fixture_decode(f);
    expect_event(f, 1, FLOW_CALL, at("caller_call"), at("leaf"));
    expect_event(f, 2, FLOW_INTERRUPT, at("leaf_return"), 0);
    expect_function(f, 2, "leaf");
    assert_true(fixture_event(f, 2)->time.value < 2000);
    expect_event(f, 3, FLOW_RESUME, 0, at("handler"));
    assert_int_equal(fixture_event(f, 3)->time.value, 2000);
}

static void an_interrupt_at_a_branch_target_completes_the_branch(void **state)
{
    struct fixture *f = *state;
    packets_psb(&f->packets, 1000, 0);
    packets_enable(&f->packets, at("caller"));
    packets_interrupt(&f->packets, at("leaf"));
    packets_enable(&f->packets, at("handler"));
    packets_disable(&f->packets);
    fixture_decode(f);
    expect_event(f, 1, FLOW_CALL, at("caller_call"), at("leaf"));
    expect_event(f, 2, FLOW_INTERRUPT, at("leaf"), 0);
}

static void an_interrupt_at_the_end_of_the_data_is_a_stop(void **state)
{
    struct fixture *f = *state;
    packets_psb(&f->packets, 1000, 0);
    packets_enable(&f->packets, at("leaf"));
    packets_interrupt(&f->packets, at("leaf_return"));
    fixture_decode(f);
    expect_event(f, 1, FLOW_STOP, at("leaf_return"), 0);
    assert_int_equal(fixture_event_count(f), 2);
}

static void a_traced_interrupt_has_its_handler(void **state)
{
    struct fixture *f = *state;
    packets_psb(&f->packets, 1000, 0);
    packets_enable(&f->packets, at("leaf"));
    packets_divert(&f->packets, at("leaf_return"), at("handler"));
    packets_tip(&f->packets, at("leaf_return"));
    packets_tip(&f->packets, at("caller"));
    fixture_decode(f);
    expect_event(f, 1, FLOW_INTERRUPT, at("leaf_return"), at("handler"));
    expect_function(f, 1, "handler");
    expect_event(f, 2, FLOW_RETURN, at("handler") + 1, at("leaf_return"));
    expect_event(f, 3, FLOW_RETURN, at("leaf_return"), at("caller"));
}

static void a_transaction_that_fails_is_an_abort(void **state)
{
    struct fixture *f = *state;
    packets_psb(&f->packets, 1000, 0);
    packets_enable(&f->packets, at("leaf"));
    packets_transaction(&f->packets, true, at("leaf_return"));
    packets_tip(&f->packets, at("handler"));
    packets_abort(&f->packets, at("handler"), at("leaf_return"));
    packets_divert(&f->packets, at("leaf_return"), at("handler"));
    packets_tip(&f->packets, at("leaf_return"));
    packets_tip(&f->packets, at("caller"));
    fixture_decode(f);
    expect_event(f, 1, FLOW_RETURN, at("leaf_return"), at("handler"));
    assert_true(fixture_event(f, 1)->flags & FLOW_TRANSACTION);
    expect_event(f, 2, FLOW_ABORT, at("handler"), at("leaf_return"));
    expect_function(f, 2, "leaf");
    expect_event(f, 3, FLOW_INTERRUPT, at("leaf_return"), at("handler"));
    expect_event(f, 5, FLOW_RETURN, at("leaf_return"), at("caller"));
    assert_false(fixture_event(f, 5)->flags & FLOW_TRANSACTION);
}

/* No packet records the call, only the abort after it. */
static void what_a_failed_transaction_has_called_last_belongs_to_it(void **state)
{
    struct fixture *f = *state;
    packets_psb(&f->packets, 1000, at("caller"));
    packets_transaction(&f->packets, true, at("caller"));
    packets_abort(&f->packets, at("leaf"), at("caller_after_call"));
    fixture_decode(f);
    expect_event(f, 1, FLOW_CALL, at("caller_call"), at("leaf"));
    assert_true(fixture_event(f, 1)->flags & FLOW_TRANSACTION);
    expect_event(f, 2, FLOW_ABORT, at("leaf"), at("caller_after_call"));
}

static void a_transaction_that_succeeds_changes_nothing(void **state)
{
    struct fixture *f = *state;
    packets_psb(&f->packets, 1000, 0);
    packets_enable(&f->packets, at("leaf"));
    packets_transaction(&f->packets, true, at("leaf_return"));
    packets_transaction(&f->packets, false, at("leaf_return"));
    packets_divert(&f->packets, at("leaf_return"), at("handler"));
    packets_tip(&f->packets, at("caller"));
    fixture_decode(f);
    expect_event(f, 1, FLOW_INTERRUPT, at("leaf_return"), at("handler"));
    expect_event(f, 2, FLOW_RETURN, at("handler") + 1, at("caller"));
}

static void a_traced_syscall_has_its_target(void **state)
{
    struct fixture *f = *state;
    packets_psb(&f->packets, 1000, 0);
    packets_enable(&f->packets, at("tail"));
    packets_tip(&f->packets, at("handler"));
    packets_tip(&f->packets, at("tail_after_syscall"));
    fixture_decode(f);
    expect_event(f, 1, FLOW_SYSCALL, at("tail_syscall"), at("handler"));
    assert_int_equal(fixture_event(f, 1)->next, at("tail_after_syscall"));
}

/* Lost and damaged data. */

static void an_overflow_is_a_gap_and_a_resume(void **state)
{
    struct fixture *f = *state;
    packets_psb(&f->packets, 1000, 0);
    packets_enable(&f->packets, at("indirect"));
    packets_tip(&f->packets, at("leaf"));
    packets_tip(&f->packets, at("indirect_after_call"));
    packets_overflow(&f->packets, at("handler"));
    packets_tip(&f->packets, at("caller"));
    fixture_decode(f);
    expect_event(f, 1, FLOW_CALL, at("indirect_call"), at("leaf"));
    expect_event(f, 2, FLOW_RETURN, at("leaf_return"), at("indirect_after_call"));
    expect_event(f, 3, FLOW_GAP, 0, 0);
    assert_int_equal(fixture_event(f, 3)->gap, FLOW_GAP_OVERFLOW);
    assert_int_equal(fixture_event(f, 3)->flags & FLOW_TIME_LOST, FLOW_TIME_LOST);
    expect_event(f, 4, FLOW_RESUME, 0, at("handler"));
    expect_event(f, 5, FLOW_RETURN, at("handler") + 1, at("caller"));
    assert_int_equal(f->statistics.overflows, 1);
}

static void damage_is_a_gap_up_to_the_next_psb(void **state)
{
    struct fixture *f = *state;
    struct packets *p = &f->packets;
    packets_psb(p, 1000, 0);
    packets_enable(p, at("indirect"));
    packets_tip(p, at("leaf"));
    packets_tip(p, at("indirect_after_call"));
    packets_raw(p, "\x02\xff\xff\xff", 4); /* no packet begins like this */
    packets_psb(p, 9000, at("handler"));
    packets_tip(p, at("caller"));
    fixture_decode(f);
    size_t gap = 3;
    expect_event(f, 1, FLOW_CALL, at("indirect_call"), at("leaf"));
    assert_int_equal(fixture_event(f, gap)->kind, FLOW_GAP);
    assert_int_equal(fixture_event(f, gap)->gap, FLOW_GAP_ERROR);
    assert_int_not_equal(fixture_event(f, gap)->error, 0);
    assert_int_equal(fixture_event(f, gap)->time.value, 1000);
    expect_event(f, gap + 1, FLOW_RESUME, 0, at("handler"));
    assert_int_equal(fixture_event(f, gap + 1)->time.value, 9000);
    assert_int_equal(f->statistics.errors, 1);
}

/* The packet before the PSB was cut off, and seems to reach into it. */
static void a_psb_that_seems_to_begin_within_a_packet_is_found(void **state)
{
    struct fixture *f = *state;
    packets_psb(&f->packets, 1000, at("leaf"));
    packets_raw(&f->packets, (const uint8_t[]){0x02, 0xc3, 0x88}, 3); /* MNT, of 11 bytes */
    packets_psb(&f->packets, 9000, at("handler"));
    packets_tip(&f->packets, at("caller"));
    fixture_decode(f);
    assert_int_equal(fixture_event(f, 1)->gap, FLOW_GAP_ERROR);
    expect_event(f, 2, FLOW_RESUME, 0, at("handler"));
    assert_int_equal(fixture_event(f, 2)->time.value, 9000);
}

static void code_without_image_is_one_gap_however_often_it_runs(void **state)
{
    struct fixture *f = *state;
    struct packets *p = &f->packets;
    packets_psb(p, 1000, 0);
    packets_enable(p, at("indirect"));
    packets_tip(p, 0x7000000000);
    for (int i = 0; i < 10; i++) {
        packets_psb(p, 2000 + (uint64_t)i, 0x7000000000);
        packets_tnt(p, "TTNTN");
        packets_disable(p);
        packets_enable(p, 0x7000000100);
    }
    packets_psb(p, 3000, at("handler"));
    packets_tip(p, at("caller"));
    fixture_decode(f);
    expect_event(f, 1, FLOW_CALL, at("indirect_call"), 0x7000000000);
    expect_event(f, 2, FLOW_GAP, 0x7000000000, 0);
    assert_int_equal(fixture_event(f, 2)->gap, FLOW_GAP_NO_IMAGE);
    expect_event(f, 3, FLOW_RESUME, 0, at("handler"));
    assert_int_equal(f->statistics.errors, 1);
}

static void a_loop_that_no_packet_ends_is_given_up(void **state)
{
    struct fixture *f = *state;
    packets_psb(&f->packets, 1000, 0);
    packets_enable(&f->packets, at("spins"));
    packets_interrupt(&f->packets, at("leaf"));
    packets_enable(&f->packets, at("leaf"));
    packets_psb(&f->packets, 2000, at("leaf"));
    packets_tip(&f->packets, at("caller"));
    fixture_decode(f);
    expect_event(f, 0, FLOW_RESUME, 0, at("spins"));
    assert_int_equal(fixture_event(f, 1)->kind, FLOW_GAP);
    expect_event(f, 2, FLOW_RESUME, 0, at("leaf"));
}

static void an_endless_loop_at_the_end_of_the_data_ends(void **state)
{
    struct fixture *f = *state;
    packets_psb(&f->packets, 1000, 0);
    packets_enable(&f->packets, at("spins"));
    fixture_decode(f);
    expect_event(f, 0, FLOW_RESUME, 0, at("spins"));
    assert_int_equal(fixture_event(f, 1)->kind, FLOW_STOP);
}

static void a_ring_may_begin_and_end_inside_a_packet(void **state)
{
    struct fixture *f = *state;
    struct packets *p = &f->packets;
    packets_raw(p, "\x12\x34\x56\x78\x9a\xbc", 6);
    packets_psb(p, 1000, at("leaf"));
    packets_tip(p, at("tail"));
    packets_disable(p);
    packets_raw(p, "\x7d\x12\x34", 3); /* of a FUP */
    fixture_decode(f);
    expect_event(f, 0, FLOW_RESUME, 0, at("leaf"));
    expect_event(f, 1, FLOW_RETURN, at("leaf_return"), at("tail"));
    expect_event(f, 2, FLOW_SYSCALL, at("tail_syscall"), 0);
    assert_int_equal(fixture_event_count(f), 3);
    assert_int_equal(f->statistics.errors, 0);
}

/* The last byte of a ring that was copied while it was written may be stale. Whether it is, or
 * packets before it are missing, cannot be known. */
static void a_branch_while_tracing_is_off_is_an_error_at_the_end_of_the_ring_too(void **state)
{
    struct fixture *f = *state;
    struct packets *p = &f->packets;
    packets_psb(p, 1000, at("leaf"));
    packets_tip(p, at("tail"));
    packets_disable(p);
    packets_tnt(p, "T");
    fixture_decode(f);
    expect_event(f, 2, FLOW_SYSCALL, at("tail_syscall"), 0);
    expect_event(f, 3, FLOW_GAP, 0, 0);
    assert_int_equal(fixture_event(f, 3)->gap, FLOW_GAP_ERROR);
    assert_int_equal(f->statistics.errors, 1);
}

/* PSB, MODE.Exec of 64 bits, MODE.TSX in a transaction, FUP, PSBEND. */
static void a_psb_in_a_transaction_continues_it(void **state)
{
    struct fixture *f = *state;
    struct packets *p = &f->packets;
    uint64_t ip = at("leaf");
    uint8_t fup[7] = {0x7d};
    memcpy(fup + 1, &ip, 6);
    packets_raw(p, "\x02\x82\x02\x82\x02\x82\x02\x82\x02\x82\x02\x82\x02\x82\x02\x82", 16);
    packets_raw(p, "\x99\x01\x99\x21", 4);
    packets_raw(p, fup, sizeof fup);
    packets_raw(p, "\x02\x23", 2);
    packets_tip(p, at("caller"));
    fixture_decode(f);
    expect_event(f, 1, FLOW_RETURN, at("leaf_return"), at("caller"));
    assert_true(fixture_event(f, 1)->flags & FLOW_TRANSACTION);
}

static void packets_without_any_psb_give_nothing(void **state)
{
    struct fixture *f = *state;
    packets_tnt(&f->packets, "TNT");
    packets_tip(&f->packets, at("leaf"));
    fixture_decode(f);
    assert_int_equal(fixture_event_count(f), 0);
}

/* Time. */

static void times_between_packets_follow_the_instructions(void **state)
{
    struct fixture *f = *state;
    struct packets *p = &f->packets;
    packets_psb(p, 1000, 0);
    packets_tsc(p, 1000);
    packets_enable(p, at("caller"));
    packets_cyc(p,
                60); /* written when the packet after it was full: at jz, the fourth instruction */
    packets_tnt(p, "TT");
    packets_cyc(p, 40);
    packets_tip(p, at("tail"));
    packets_cyc(p, 100);
    packets_disable(p);
    fixture_decode(f);
    expect_event(f, 1, FLOW_CALL, at("caller_call"), at("leaf"));
    assert_int_equal(fixture_event(f, 0)->time.value, 1000);
    assert_int_equal(fixture_event(f, 1)->time.value, 1015); /* first of four instructions */
    assert_int_equal(fixture_event(f, 2)->time.value, 1045); /* third */
    assert_int_equal(fixture_event(f, 3)->time.value, 1100); /* a packet of its own */
    assert_int_equal(fixture_event(f, 4)->time.value, 1200);
    assert_int_equal(fixture_event(f, 1)->flags & FLOW_TIME_EXACT, 0);
    assert_int_equal(fixture_event(f, 3)->flags & FLOW_TIME_EXACT, FLOW_TIME_EXACT);
    assert_int_equal(fixture_event(f, 4)->flags & FLOW_TIME_EXACT, FLOW_TIME_EXACT);
}

/* The CYC packet belongs to the TNT packet, that is to its last branch. */
static void a_deferred_address_has_no_time_of_its_own(void **state)
{
    struct fixture *f = *state;
    struct packets *p = &f->packets;
    packets_psb(p, 1000, 0);
    packets_enable(p, at("caller"));
    packets_cyc(p, 60);
    packets_tnt(p, "TTNNNN"); /* calls follow the jump */
    packets_tip(p, at("recursive"));
    packets_tsc(p, 2000);
    fixture_decode(f);
    expect_event(f, 3, FLOW_JUMP, at("caller_jump"), at("recursive"));
    assert_false(fixture_event(f, 3)->flags & FLOW_TIME_EXACT);
    expect_event(f, 6, FLOW_CALL, at("recursive_call"), at("recursive"));
    assert_true(fixture_event(f, 3)->time.value < fixture_event(f, 6)->time.value);
    assert_true(fixture_event(f, 6)->time.value < 1060);
    assert_int_equal(f->statistics.errors, 0);
}

static void a_packet_that_a_later_one_forced_out_has_its_time(void **state)
{
    struct fixture *f = *state;
    struct packets *p = &f->packets;
    packets_psb(p, 1000, 0);
    packets_tsc(p, 1000);
    packets_enable(p, at("caller"));
    packets_cyc(p, 50); /* of the jump whose target the TIP gives: the fifth instruction */
    packets_tnt(p, "TT");
    packets_tip(p, at("recursive"));
    packets_cyc(p, 100); /* of the stop at the end */
    packets_tnt(p, "T");
    packets_interrupt(p, at("recursive_return"));
    packets_enable(p, at("leaf"));
    fixture_decode(f);
    assert_int_equal(fixture_event(f, 1)->time.value, 1010);
    expect_event(f, 3, FLOW_JUMP, at("caller_jump"), at("recursive"));
    assert_int_equal(fixture_event(f, 3)->time.value, 1050);
    expect_event(f, 4, FLOW_INTERRUPT, at("recursive_return"), 0);
    assert_int_equal(fixture_event(f, 4)->time.value, 1150);
    assert_int_equal(fixture_event(f, 4)->flags & FLOW_TIME_EXACT, FLOW_TIME_EXACT);
}

static void a_stop_at_an_address_reports_when_it_was_reached(void **state)
{
    struct fixture *f = *state;
    struct packets *p = &f->packets;
    packets_psb(p, 1000, 0);
    packets_tsc(p, 1000);
    packets_enable(p, at("caller"));
    packets_cyc(p, 50);
    packets_stop(p, at("leaf")); /* after the first of four instructions up to jz */
    packets_cyc(p, 30);
    packets_tnt(p, "TT");
    packets_cyc(p, 100);
    packets_tip(p, at("tail"));
    fixture_decode(f);
    expect_event(f, 1, FLOW_CALL, at("caller_call"), at("leaf"));
    assert_int_equal(fixture_event(f, 1)->time.value, 1050);
    expect_event(f, 2, FLOW_RETURN, at("leaf_return"), at("caller_after_call"));
    assert_int_equal(fixture_event(f, 2)->time.value, 1070);
    expect_event(f, 3, FLOW_JUMP, at("caller_jump"), at("tail"));
    assert_int_equal(fixture_event(f, 3)->time.value, 1180);
}

static void a_resume_has_the_exact_time_and_nothing_precedes_it(void **state)
{
    struct fixture *f = *state;
    struct packets *p = &f->packets;
    packets_psb(p, 1000, 0);
    packets_enable(p, at("tail"));
    packets_disable(p);
    packets_tsc(p, 7000);
    packets_enable(p, at("indirect"));
    packets_cyc(p, 10);
    packets_tip(p, at("leaf"));
    fixture_decode(f);
    expect_event(f, 2, FLOW_RESUME, 0, at("indirect"));
    assert_int_equal(fixture_event(f, 2)->time.value, 7000);
    assert_int_equal(fixture_event(f, 2)->flags & FLOW_TIME_EXACT, FLOW_TIME_EXACT);
    assert_true(fixture_event(f, 1)->time.value <= 1000);
    assert_int_equal(fixture_event(f, 3)->time.value, 7010);
}

static void time_never_goes_back_even_if_packets_do(void **state)
{
    struct fixture *f = *state;
    struct packets *p = &f->packets;
    packets_psb(p, 5000, 0);
    packets_enable(p, at("tail"));
    packets_disable(p);
    packets_tsc(p, 3000);
    packets_enable(p, at("tail"));
    packets_disable(p);
    fixture_decode(f); /* the fixture compares the times */
    assert_int_equal(fixture_event(f, 3)->time.value, 5000);
}

static void without_timing_packets_events_are_not_held_for_ever(void **state)
{
    struct fixture *f = *state;
    struct packets *p = &f->packets;
    packets_psb(p, 1000, 0);
    packets_enable(p, at("recursive"));
    for (int i = 0; i < 3000; i++)
        packets_tnt(p, "NNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNN");
    fixture_decode(f);
    assert_int_equal(fixture_event_count(f), 1 + 3000 * 47);
}

/* Code that changes. */

static void a_page_that_is_replaced_is_decoded_as_it_was_at_the_time(void **state)
{
    struct fixture *f = *state;
    struct packets *p = &f->packets;
    fixture_patch(f, 2000);
    packets_psb(p, 1000, 0);
    for (uint64_t time = 1500; time <= 2500; time += 1000) {
        packets_tsc(p, time);
        packets_enable(p, at("indirect"));
        packets_tip(p, at("patched"));
        packets_tip(p, at("tail"));
        packets_disable(p);
    }
    fixture_decode(f);
    expect_event(f, 2, FLOW_JUMP, at("patched_jump"), at("tail"));
    expect_event(f, 6, FLOW_RETURN, at("patched") + 3, at("tail"));
    expect_function(f, 5, "patched_replacement");
    assert_int_equal(f->statistics.errors, 0);
}

static void after_exec_the_old_code_is_gone(void **state)
{
    struct fixture *f = *state;
    struct packets *p = &f->packets;
    struct sideband_record *exec = fixture_add_record(f, SIDEBAND_NAME, 2000, PROGRAM_TID);
    exec->name.name = "other";
    exec->name.exec = true;
    packets_psb(p, 1000, 0);
    packets_enable(p, at("tail"));
    packets_disable(p);
    packets_tsc(p, 3000);
    packets_enable(p, at("tail"));
    packets_disable(p);
    fixture_decode(f);
    expect_event(f, 2, FLOW_RESUME, 0, at("tail"));
    expect_event(f, 3, FLOW_GAP, at("tail"), 0);
    assert_int_equal(fixture_event(f, 3)->gap, FLOW_GAP_NO_IMAGE);
}

static void code_runs_on_until_its_own_exec(void **state)
{
    struct fixture *f = *state;
    struct packets *p = &f->packets;
    struct sideband_record *exec = fixture_add_record(f, SIDEBAND_NAME, 1060, PROGRAM_TID);
    exec->name.name = "other";
    exec->name.exec = true;
    packets_psb(p, 1000, 0);
    packets_enable(p, at("caller"));
    packets_cyc(p, 60); /* the time of the exec, and of branches before it */
    packets_tnt(p, "TT");
    packets_tip(p, at("tail"));
    packets_disable(p);
    fixture_decode(f);
    expect_event(f, 4, FLOW_SYSCALL, at("tail_syscall"), 0);
    assert_int_equal(f->statistics.errors, 0);
}

/* Rings and threads. */

static void add_chunk(struct fixture *f, uint32_t tid, uint32_t cpu, uint32_t index,
                      uint64_t offset, size_t start, size_t end)
{
    struct aux_chunk *chunk = array_add(&f->chunks);
    *chunk = (struct aux_chunk){.tid = tid,
                                .cpu = cpu,
                                .index = index,
                                .offset = offset,
                                .bytes = f->packets.bytes + start,
                                .size = end - start};
}

static void a_packet_may_lie_in_two_chunks(void **state)
{
    struct fixture *f = *state;
    struct packets *p = &f->packets;
    packets_psb(p, 1000, 0);
    packets_enable(p, at("indirect"));
    size_t middle = packets_size(p) + 3;
    packets_tip(p, at("leaf"));
    packets_tip(p, at("tail"));
    packets_disable(p);
    add_chunk(f, PROGRAM_TID, UINT32_MAX, 0, 0, 0, middle);
    add_chunk(f, PROGRAM_TID, UINT32_MAX, 0, middle, middle, packets_size(p));
    fixture_decode(f);
    expect_event(f, 1, FLOW_CALL, at("indirect_call"), at("leaf"));
    expect_event(f, 3, FLOW_SYSCALL, at("tail_syscall"), 0);
    assert_int_equal(fixture_event_count(f), 4);
}

static void a_hole_between_chunks_is_a_gap(void **state)
{
    struct fixture *f = *state;
    struct packets *p = &f->packets;
    packets_psb(p, 1000, 0);
    packets_enable(p, at("leaf"));
    size_t middle = packets_size(p);
    packets_psb(p, 2000, at("leaf"));
    packets_tip(p, at("tail"));
    packets_disable(p);
    add_chunk(f, PROGRAM_TID, UINT32_MAX, 0, 0, 0, middle);
    add_chunk(f, PROGRAM_TID, UINT32_MAX, 0, middle + 100, middle, packets_size(p));
    fixture_decode(f);
    expect_event(f, 0, FLOW_RESUME, 0, at("leaf"));
    expect_event(f, 1, FLOW_GAP, 0, 0);
    assert_int_equal(fixture_event(f, 1)->gap, FLOW_GAP_LOST);
    expect_event(f, 2, FLOW_RESUME, 0, at("leaf"));
}

/* As a recording of several snapshots has them: each part is cut off in the middle of a packet, and
 * begins in the middle of one, before its first PSB. */
static void parts_that_were_kept_are_decoded_each_for_itself(void **state)
{
    enum { PARTS = 5, HOLE = 4096 };
    struct fixture *f = *state;
    struct packets *p = &f->packets;
    size_t starts[PARTS], ends[PARTS];
    for (size_t i = 0; i < PARTS; i++) {
        packets_tip(p, at("tail"));
        starts[i] = packets_size(p) - 2;
        packets_psb(p, 1000 * (i + 1), 0);
        packets_enable(p, at("indirect"));
        packets_tip(p, at("leaf"));
        packets_tip(p, at("indirect_after_call"));
        packets_tip(p, at("handler"));
        ends[i] = packets_size(p) - 2;
    }
    for (size_t i = 0; i < PARTS; i++)
        add_chunk(f, PROGRAM_TID, UINT32_MAX, 0, starts[i] + i * HOLE, starts[i], ends[i]);
    fixture_decode(f);
    assert_int_equal(f->statistics.errors, 0);
    size_t gaps = 0, calls = 0, returns = 0;
    for (size_t i = 0; i < fixture_event_count(f); i++) {
        const struct flow_event *event = fixture_event(f, i);
        gaps += event->kind == FLOW_GAP && event->gap == FLOW_GAP_LOST;
        calls += event->kind == FLOW_CALL;
        returns += event->kind == FLOW_RETURN;
        if (i > 0)
            assert_true(event->time.value >= fixture_event(f, i - 1)->time.value);
        if (event->kind == FLOW_RESUME)
            assert_int_equal(event->to, at("indirect"));
    }
    assert_int_equal(gaps, PARTS - 1);
    assert_int_equal(calls, PARTS);
    assert_int_equal(returns, PARTS);
}

static void the_kernel_says_where_packets_were_lost(void **state)
{
    struct fixture *f = *state;
    struct packets *p = &f->packets;
    packets_psb(p, 1000, 0);
    packets_enable(p, at("leaf"));
    struct sideband_record *aux = fixture_add_record(f, SIDEBAND_AUX, 1500, PROGRAM_TID);
    aux->aux.size = packets_size(p);
    aux->aux.flags = 1; /* PERF_AUX_FLAG_TRUNCATED */
    packets_psb(p, 2000, 0);
    packets_enable(p, at("tail"));
    packets_disable(p);
    fixture_decode(f);
    assert_int_equal(fixture_event(f, 1)->gap, FLOW_GAP_LOST);
    expect_event(f, 2, FLOW_RESUME, 0, at("tail"));
}

static void snapshots_that_overlap_are_decoded_once(void **state)
{
    struct fixture *f = *state;
    struct packets *p = &f->packets;
    packets_psb(p, 1000, 0);
    packets_enable(p, at("tail"));
    packets_disable(p);
    size_t first = packets_size(p);
    packets_enable(p, at("tail"));
    packets_disable(p);
    add_chunk(f, PROGRAM_TID, UINT32_MAX, 0, 0, 0, first);
    add_chunk(f, PROGRAM_TID, UINT32_MAX, 0, 0, 0, packets_size(p));
    fixture_decode(f);
    assert_int_equal(fixture_event_count(f), 4);
}

static void a_second_ring_of_a_thread_follows_the_first(void **state)
{
    struct fixture *f = *state;
    struct packets *p = &f->packets;
    packets_psb(p, 1000, 0);
    packets_enable(p, at("tail"));
    packets_disable(p);
    size_t first = packets_size(p);
    packets_psb(p, 2000, 0);
    packets_enable(p, at("leaf"));
    packets_tip(p, at("tail"));
    packets_disable(p);
    add_chunk(f, PROGRAM_TID, UINT32_MAX, 0, 0, 0, first);
    add_chunk(f, PROGRAM_TID, UINT32_MAX, 1, 0, first, packets_size(p));
    fixture_decode(f);
    expect_event(f, 1, FLOW_SYSCALL, at("tail_syscall"), 0);
    expect_event(f, 2, FLOW_RESUME, 0, at("leaf"));
    assert_int_equal(fixture_event_count(f), 5);
}

static void add_switch(struct fixture *f, uint64_t time, uint32_t cpu, uint32_t tid, bool out)
{
    struct sideband_record *record = fixture_add_record(f, SIDEBAND_CONTEXT_SWITCH, time, tid);
    record->cpu = cpu;
    record->context_switch.out = out;
}

/* A thread runs on processor 0, then on processor 1, while another one runs on the processor that
 * it left. */
static void a_thread_is_followed_from_processor_to_processor(void **state)
{
    struct fixture *f = *state;
    struct packets *p = &f->packets;
    enum { OTHER_TID = 101 };
    f->setup.per_cpu = true;
    struct sideband_record *fork = fixture_add_record(f, SIDEBAND_FORK, 0, OTHER_TID);
    fork->fork.parent_pid = fork->fork.parent_tid = PROGRAM_TID;
    add_switch(f, 900, 0, PROGRAM_TID, false);
    add_switch(f, 2000, 0, PROGRAM_TID, true);
    add_switch(f, 2100, 0, OTHER_TID, false);
    add_switch(f, 2900, 1, PROGRAM_TID, false);
    packets_psb(p, 1000, 0);
    packets_enable(p, at("leaf"));
    packets_tip(p, at("tail"));
    packets_disable(p);
    packets_tsc(p, 2500);
    packets_enable(p, at("handler"));
    packets_tip(p, at("tail"));
    packets_disable(p);
    size_t second = packets_size(p);
    packets_psb(p, 3000, 0);
    packets_enable(p, at("tail_after_syscall"));
    packets_tip(p, at("tail"));
    packets_disable(p);
    /* The later processor comes first in the file. */
    add_chunk(f, UINT32_MAX, 1, 1, 0, second, packets_size(p));
    add_chunk(f, UINT32_MAX, 0, 0, 0, 0, second);
    fixture_decode(f);
    expect_event(f, 0, FLOW_RESUME, 0, at("leaf"));
    expect_event(f, 2, FLOW_SYSCALL, at("tail_syscall"), 0);
    expect_event(f, 3, FLOW_RESUME, 0, at("tail_after_syscall"));
    assert_int_equal(fixture_event(f, 3)->time.value, 3000);
    assert_int_equal(fixture_event_count(f), 6);
    struct array *other = &fixture_thread(f, OTHER_TID)->events;
    assert_int_equal(other->count, 3);
    assert_int_equal(((struct flow_event *)array_at(other, 0))->to, at("handler"));
}

/* The calls on a processor's return stack are those of the thread that ran on it before; what the
 * decoder knows of the code there is about that process only. */
static void calls_of_another_process_lead_to_ones_own_code(void **state)
{
    struct fixture *f = *state;
    struct packets *p = &f->packets;
    enum { CHILD = 200 };
    f->setup.per_cpu = true;
    struct sideband_record *fork = fixture_add_record(f, SIDEBAND_FORK, 500, CHILD);
    fork->pid = CHILD;
    fork->fork.parent_pid = fork->fork.parent_tid = PROGRAM_PID;
    add_switch(f, 900, 0, PROGRAM_TID, false);
    add_switch(f, 2000, 0, CHILD, false);
    ((struct sideband_record *)array_at(&f->records, f->records.count - 1))->pid = CHILD;
    packets_psb(p, 1000, 0);
    packets_enable(p, at("caller"));
    packets_tnt(p, "TT"); /* many blocks are known here, ... */
    packets_tip(p, at("recursive"));
    packets_tnt(p, "NN");
    packets_interrupt(p, at("recursive"));
    packets_tsc(p, 3000);
    packets_enable(p, at("recursive_return")); /* ... and few there */
    packets_tnt(p, "TT");
    packets_psb(p, 4000, at("recursive_return"));
    packets_raw(p, (uint8_t[32]){0}, 32);
    add_chunk(f, UINT32_MAX, 0, 0, 0, 0, packets_size(p));
    fixture_decode(f);
    const struct array *events = &fixture_thread(f, CHILD)->events;
    const struct flow_event *event = array_at(events, 1);
    assert_true(events->count >= 3);
    assert_int_equal(event[0].kind, FLOW_RETURN);
    assert_int_equal(event[0].to, at("recursive_after_call"));
    assert_int_equal(event[1].kind, FLOW_RETURN);
    assert_int_equal(event[1].to, at("recursive_after_call"));
    assert_int_equal(f->statistics.errors, 0);
}

static void the_number_of_cores_changes_nothing(void **state)
{
    struct array results[2][8];
    for (unsigned round = 0; round < 2; round++) {
        struct fixture f;
        fixture_begin(&f);
        f.cores = round ? 4 : 1;
        packets_psb(&f.packets, 1000, 0);
        packets_enable(&f.packets, at("recursive"));
        for (int i = 0; i < 200; i++) {
            packets_cyc(&f.packets, 17);
            packets_tnt(&f.packets, "NNNNNNNNNNNNNN");
        }
        for (uint32_t i = 0; i < 8; i++) {
            uint32_t tid = PROGRAM_TID + i;
            if (i)
                fixture_add_record(&f, SIDEBAND_FORK, 0, tid)->fork.parent_pid = PROGRAM_PID;
            add_chunk(&f, tid, UINT32_MAX, i, 0, 0, packets_size(&f.packets) - 40 * i);
        }
        fixture_decode(&f);
        for (uint32_t i = 0; i < 8; i++) {
            struct array *events = &fixture_thread(&f, PROGRAM_TID + i)->events;
            results[round][i] = *events;
            *events = array_of(sizeof(struct flow_event));
        }
        fixture_free(&f);
    }
    for (unsigned i = 0; i < 8; i++) {
        assert_true(results[0][i].count > 100);
        assert_int_equal(results[0][i].count, results[1][i].count);
        assert_memory_equal(results[0][i].elements, results[1][i].elements,
                            results[0][i].count * sizeof(struct flow_event));
        array_free(&results[0][i]);
        array_free(&results[1][i]);
    }
}

/* Whichever single byte is damaged, decoding ends, and every event's time is in order (the fixture
 * checks). */
static void any_damaged_byte_is_survived(void **state)
{
    struct fixture sample;
    fixture_begin(&sample);
    struct packets *p = &sample.packets;
    for (uint64_t round = 0; round < 4; round++) {
        packets_psb(p, 1000 + 1000 * round, 0);
        packets_enable(p, at("caller"));
        packets_cyc(p, 60);
        packets_tnt(p, "TT");
        packets_tip(p, at("recursive"));
        packets_tnt(p, "NNTTT");
        packets_interrupt(p, at("recursive_after_call"));
        packets_enable(p, at("handler"));
        packets_tip(p, at("tail"));
        packets_disable(p);
    }
    size_t size = packets_size(p);
    for (size_t damaged = 0; damaged < size; damaged++) {
        struct fixture f;
        fixture_begin(&f);
        packets_raw(&f.packets, p->bytes, size);
        f.packets.bytes[damaged] ^= (uint8_t)(1 + damaged * 37 % 255);
        fixture_decode(&f);
        assert_true(fixture_event_count(&f) > 10);
        fixture_free(&f);
    }
    fixture_free(&sample);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

/* In a recording with threads' rings only, a ring without a thread is damaged: its events must not
 * go to a thread that has a ring of its own, at the same time. */
static void events_of_a_damaged_ring_without_a_thread_are_dropped(void **state)
{
    struct fixture *f = *state;
    struct packets *p = &f->packets;
    packets_psb(p, 1000, 0);
    packets_enable(p, at("caller"));
    packets_tnt(p, "TT");
    packets_tip(p, at("tail"));
    packets_disable(p);
    for (uint32_t ring = 0; ring < 2; ring++) {
        struct aux_chunk *chunk = array_add(&f->chunks);
        *chunk = (struct aux_chunk){.tid = ring ? UINT32_MAX : PROGRAM_TID,
                                    .cpu = UINT32_MAX,
                                    .index = ring,
                                    .reference = {1000},
                                    .bytes = p->bytes,
                                    .size = packets_size(p)};
    }
    fixture_add_record(f, SIDEBAND_TRACE_START, 500, PROGRAM_TID);
    f->cores = 1;
    fixture_decode(f);
    assert_int_equal(f->threads.count, 1);
    assert_int_equal(fixture_event_count(f), 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(calls_returns_and_tail_calls_are_events),
        TEST(indirect_calls_have_a_return_address),
        TEST(direct_recursion_is_kept),
        TEST(a_call_to_read_its_own_address_is_no_call),
        TEST(running_on_into_the_next_function_is_a_jump),
        TEST(a_direct_jump_into_another_function_is_an_event),
        TEST(a_jump_to_the_cold_part_of_a_function_is_no_event),
        TEST(a_jump_that_loads_the_stack_pointer_is_always_an_event),
        TEST(a_psb_within_a_block_does_not_hide_that_it_loads_the_stack_pointer),
        TEST(a_psb_segment_that_begins_after_the_load_has_it),
        TEST(a_psb_segment_that_begins_within_a_push_of_a_handler_has_it_once),
        TEST(a_psb_within_a_push_of_a_handler_does_not_hide_it),
        TEST(a_jump_that_loads_the_stack_pointer_and_is_interrupted_is_one_jump),
        TEST(the_stack_pointer_after_a_return_is_reported_with_it),
        TEST(the_stack_pointer_elsewhere_is_an_event),
        TEST(an_addition_to_the_stack_pointer_before_a_call_is_an_event),
        TEST(the_pointer_after_an_addition_belongs_to_its_event),
        TEST(callers_are_reported_after_a_psb),
        TEST(callers_that_are_reported_twice_are_there_once),
        TEST(callers_that_are_not_all_reported_are_none),
        TEST(callers_further_out_may_not_be_reported),
        TEST(mnt_packets_of_other_recorders_are_ignored),
        TEST(handlers_come_and_go),
        TEST(notes_describe_handlers_too),
        TEST(a_raise_is_always_an_event),
        TEST(an_interrupted_push_is_one_push),
        TEST(an_asynchronous_stop_is_an_interrupt),
        TEST(an_interrupt_at_a_branch_target_completes_the_branch),
        TEST(an_interrupt_at_the_end_of_the_data_is_a_stop),
        TEST(a_traced_interrupt_has_its_handler),
        TEST(a_transaction_that_fails_is_an_abort),
        TEST(what_a_failed_transaction_has_called_last_belongs_to_it),
        TEST(a_transaction_that_succeeds_changes_nothing),
        TEST(a_traced_syscall_has_its_target),
        TEST(an_overflow_is_a_gap_and_a_resume),
        TEST(damage_is_a_gap_up_to_the_next_psb),
        TEST(a_psb_that_seems_to_begin_within_a_packet_is_found),
        TEST(code_without_image_is_one_gap_however_often_it_runs),
        TEST(a_loop_that_no_packet_ends_is_given_up),
        TEST(an_endless_loop_at_the_end_of_the_data_ends),
        TEST(events_of_a_damaged_ring_without_a_thread_are_dropped),
        TEST(a_ring_may_begin_and_end_inside_a_packet),
        TEST(a_branch_while_tracing_is_off_is_an_error_at_the_end_of_the_ring_too),
        TEST(a_psb_in_a_transaction_continues_it),
        TEST(packets_without_any_psb_give_nothing),
        TEST(times_between_packets_follow_the_instructions),
        TEST(a_deferred_address_has_no_time_of_its_own),
        TEST(a_packet_that_a_later_one_forced_out_has_its_time),
        TEST(a_stop_at_an_address_reports_when_it_was_reached),
        TEST(a_resume_has_the_exact_time_and_nothing_precedes_it),
        TEST(time_never_goes_back_even_if_packets_do),
        TEST(without_timing_packets_events_are_not_held_for_ever),
        TEST(a_page_that_is_replaced_is_decoded_as_it_was_at_the_time),
        TEST(after_exec_the_old_code_is_gone),
        TEST(code_runs_on_until_its_own_exec),
        TEST(a_packet_may_lie_in_two_chunks),
        TEST(a_hole_between_chunks_is_a_gap),
        TEST(parts_that_were_kept_are_decoded_each_for_itself),
        TEST(the_kernel_says_where_packets_were_lost),
        TEST(snapshots_that_overlap_are_decoded_once),
        TEST(a_second_ring_of_a_thread_follows_the_first),
        TEST(a_thread_is_followed_from_processor_to_processor),
        TEST(calls_of_another_process_lead_to_ones_own_code),
        TEST(the_number_of_cores_changes_nothing),
        TEST(any_damaged_byte_is_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
