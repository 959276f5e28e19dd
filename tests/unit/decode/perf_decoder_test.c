/* Branches that perf decoded as flow events: the same as those of packets, because what lies
 * between them is read from the code.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../recording/made_stream.h"
#include "fixture.h"

#include "packet/callchain_snapshot.h"
#include "recording/perf_script/branch_stream.h"

#include <stdlib.h>
#include <string.h>

enum {
    JUMP = BRANCH_IS_BRANCH,
    CALL = BRANCH_IS_BRANCH | BRANCH_IS_CALL,
    RETURN = BRANCH_IS_BRANCH | BRANCH_IS_RETURN,
    CONDITIONAL = BRANCH_IS_BRANCH | BRANCH_IS_CONDITIONAL,
    SYSCALL = CALL | BRANCH_IS_SYSCALL,
    INTERRUPT = CALL | BRANCH_IS_ASYNCHRONOUS | BRANCH_IS_INTERRUPT,
    ASYNCHRONOUS = BRANCH_IS_BRANCH | BRANCH_IS_ASYNCHRONOUS,
    BEGIN = BRANCH_IS_BRANCH | BRANCH_STARTS_TRACE,
    END = BRANCH_ENDS_TRACE,
};

struct scene {
    struct fixture fixture;
    struct array stream; /* of bytes */
};

static void begin(struct scene *scene)
{
    fixture_begin(&scene->fixture);
    scene->stream = array_of(1);
    made_stream_begin(&scene->stream, BRANCH_STREAM_VERSION);
    made_stream_thread(&scene->stream, PROGRAM_PID, PROGRAM_TID, UINT32_MAX);
}

static void at_time(struct scene *scene, uint64_t time)
{
    made_stream_time(&scene->stream, time);
}

static void branch(struct scene *scene, uint32_t flags, uint64_t from, uint64_t to)
{
    made_stream_branch(&scene->stream, flags, from, to);
}

/* For streams without an end record, whose records need not be counted. */
static void decode(struct scene *scene)
{
    struct error damage;
    fixture_decode_stream(&scene->fixture, &scene->stream, &damage);
}

static void finish(struct scene *scene, size_t events)
{
    assert_int_equal(fixture_event_count(&scene->fixture), events);
    fixture_free(&scene->fixture);
    array_free(&scene->stream);
}

static void expect(struct scene *scene, size_t index, enum flow_kind kind, uint64_t from,
                   uint64_t to)
{
    expect_event(&scene->fixture, index, kind, from, to);
}

static const struct flow_event *event(struct scene *scene, size_t index)
{
    return fixture_event(&scene->fixture, index);
}

static void calls_returns_and_tail_calls_are_events(void **state)
{
    struct scene s;
    begin(&s);
    branch(&s, BEGIN, 0, at("caller"));
    branch(&s, CALL, at("caller_call"), at("leaf"));
    branch(&s, RETURN, at("leaf_return"), at("caller_after_call"));
    branch(&s, JUMP, at("caller_jump"), at("tail"));
    branch(&s, CALL, at("tail"), at("tail") + 5); /* reads its own address: no call */
    branch(&s, SYSCALL | END, at("tail_syscall"), 0);
    decode(&s);
    expect(&s, 0, FLOW_RESUME, 0, at("caller"));
    expect(&s, 1, FLOW_CALL, at("caller_call"), at("leaf"));
    assert_int_equal(event(&s, 1)->next, at("caller_after_call"));
    expect_function(&s.fixture, 1, "leaf");
    expect(&s, 2, FLOW_RETURN, at("leaf_return"), at("caller_after_call"));
    expect(&s, 3, FLOW_JUMP, at("caller_jump"), at("tail"));
    expect(&s, 4, FLOW_SYSCALL, at("tail_syscall"), 0);
    assert_int_equal(event(&s, 4)->next, at("tail_after_syscall"));
    /* call, nop, ret, jz, nop, jmp, call, pop, syscall: the jump that was not taken counts. */
    assert_int_equal(s.fixture.statistics.instructions, 9);
    finish(&s, 5);
}

static void recursion_is_kept_and_a_loop_is_none(void **state)
{
    struct scene s;
    begin(&s);
    branch(&s, BEGIN, 0, at("recursive"));
    branch(&s, CALL, at("recursive_call"), at("recursive"));
    branch(&s, CONDITIONAL, at("recursive"), at("recursive_return"));
    branch(&s, RETURN, at("recursive_return"), at("recursive_after_call"));
    branch(&s, RETURN, at("recursive_return"), at("spins"));
    for (int i = 0; i < 100; i++)
        branch(&s, JUMP, at("spins"), at("spins"));
    decode(&s);
    expect(&s, 1, FLOW_CALL, at("recursive_call"), at("recursive"));
    expect(&s, 2, FLOW_RETURN, at("recursive_return"), at("recursive_after_call"));
    expect(&s, 3, FLOW_RETURN, at("recursive_return"), at("spins"));
    expect(&s, 4, FLOW_STOP, at("spins"), 0);
    finish(&s, 5);
}

static void code_that_runs_on_into_the_next_function_jumps(void **state)
{
    struct scene s;
    begin(&s);
    branch(&s, BEGIN, 0, at("falls"));
    branch(&s, RETURN | END, at("fallen_return"), 0);
    decode(&s);
    expect(&s, 1, FLOW_JUMP, at("falls_last"), at("fallen_into"));
    expect(&s, 2, FLOW_STOP, at("fallen_return"), 0);
    finish(&s, 3);
}

static void handlers_are_found_in_the_code_between_branches(void **state)
{
    struct scene s;
    begin(&s);
    branch(&s, BEGIN, 0, at("caml_start_program"));
    branch(&s, CALL, at("traps_call"), at("leaf"));
    branch(&s, RETURN, at("leaf_return"), at("traps_pop"));
    branch(&s, RETURN | END, at("traps_return"), 0);
    decode(&s);
    expect(&s, 1, FLOW_TRAP_PUSH, at("traps_push"), at("traps_handler"));
    expect(&s, 2, FLOW_CALL, at("traps_call"), at("leaf"));
    expect(&s, 3, FLOW_RETURN, at("leaf_return"), at("traps_pop"));
    expect(&s, 4, FLOW_TRAP_POP, at("traps_pop"), 0);
    expect(&s, 5, FLOW_STOP, at("traps_return"), 0);
    finish(&s, 6);
}

/* A call that perf does not report: the code has changed since. Times must not go back because of
 * it. */
static void code_that_perf_has_not_seen_so_is_one_block(void **state)
{
    struct scene s;
    begin(&s);
    at_time(&s, 100);
    branch(&s, BEGIN, 0, at("caml_start_program"));
    at_time(&s, 200);
    branch(&s, RETURN, at("traps_return"), at("leaf"));
    at_time(&s, UINT64_MAX);
    branch(&s, RETURN | END, at("leaf_return"), 0);
    decode(&s);
    expect(&s, 1, FLOW_TRAP_PUSH, at("traps_push"), at("traps_handler"));
    expect(&s, 2, FLOW_TRAP_POP, at("traps_pop"), 0);
    expect(&s, 3, FLOW_RETURN, at("traps_return"), at("leaf"));
    assert_in_range(event(&s, 2)->time.value, 101, 200);
    finish(&s, 5);
}

static void interrupts_and_transactions_go_elsewhere(void **state)
{
    struct scene s;
    begin(&s);
    branch(&s, BEGIN, 0, at("caller"));
    branch(&s, INTERRUPT, at("caller_call"), at("leaf"));
    branch(&s, RETURN | BRANCH_IS_INTERRUPT, at("leaf_return"), at("caller_call"));
    branch(&s, CALL | BRANCH_IN_TRANSACTION, at("caller_call"), at("leaf"));
    branch(&s, BRANCH_IS_BRANCH | BRANCH_IS_ABORT, at("leaf_return"), at("caller_after_call"));
    branch(&s, ASYNCHRONOUS | END, at("caller_jump"), 0);
    branch(&s, BEGIN, 0, at("fallen_return"));
    decode(&s);
    expect(&s, 1, FLOW_INTERRUPT, at("caller_call"), at("leaf"));
    expect(&s, 3, FLOW_CALL, at("caller_call"), at("leaf"));
    assert_true(event(&s, 3)->flags & FLOW_TRANSACTION);
    expect(&s, 4, FLOW_ABORT, at("leaf_return"), at("caller_after_call"));
    expect(&s, 5, FLOW_INTERRUPT, at("caller_jump"), 0);
    expect(&s, 6, FLOW_RESUME, 0, at("fallen_return"));
    expect(&s, 7, FLOW_STOP, 0, 0);
    finish(&s, 8);
}

static void the_stack_pointer_is_that_of_its_branch(void **state)
{
    struct scene s;
    begin(&s);
    branch(&s, BEGIN, 0, at("leaf"));
    made_stream_stack(&s.stream, at("leaf_return"), 0x7fff0008);
    branch(&s, RETURN, at("leaf_return"), at("caller_after_call"));
    branch(&s, JUMP, at("caller_jump"), at("leaf"));
    decode(&s);
    expect(&s, 1, FLOW_RETURN, at("leaf_return"), at("caller_after_call"));
    assert_int_equal(event(&s, 1)->next, 0x7fff0008);
    expect(&s, 2, FLOW_JUMP, at("caller_jump"), at("leaf"));
    finish(&s, 4);
}

static void errors_are_gaps(void **state)
{
    struct scene s;
    begin(&s);
    branch(&s, BEGIN, 0, at("caller"));
    made_stream_line(&s.stream, " instruction trace error type 1 time 0.000000009 cpu -1 pid 100 "
                                "tid 100 ip 0x10 code 8: Overflow packet\n");
    branch(&s, RETURN, at("leaf_return"), at("caller_after_call"));
    branch(&s, JUMP | END, at("caller_jump"), 0);
    decode(&s);
    expect(&s, 1, FLOW_GAP, 0x10, 0);
    assert_int_equal(event(&s, 1)->gap, FLOW_GAP_OVERFLOW);
    expect(&s, 2, FLOW_RESUME, 0, at("leaf_return"));
    expect(&s, 3, FLOW_RETURN, at("leaf_return"), at("caller_after_call"));
    assert_int_equal(s.fixture.statistics.overflows, 1);
    finish(&s, 5);
}

static void a_branch_from_elsewhere_is_a_gap(void **state)
{
    struct scene s;
    begin(&s);
    branch(&s, BEGIN, 0, at("leaf"));
    branch(&s, CALL, at("caller_call"), at("leaf"));
    decode(&s);
    expect(&s, 1, FLOW_GAP, 0, 0);
    assert_int_equal(event(&s, 1)->gap, FLOW_GAP_LOST);
    expect(&s, 2, FLOW_RESUME, 0, at("caller_call"));
    expect(&s, 3, FLOW_CALL, at("caller_call"), at("leaf"));
    finish(&s, 5);
}

static void a_time_is_that_of_the_last_branch_with_it(void **state)
{
    struct scene s;
    begin(&s);
    at_time(&s, 100);
    branch(&s, BEGIN, 0, at("caller"));
    at_time(&s, 200);
    branch(&s, CALL, at("caller_call"), at("leaf"));
    branch(&s, RETURN, at("leaf_return"), at("caller_after_call"));
    at_time(&s, 300);
    branch(&s, JUMP, at("caller_jump"), at("tail"));
    branch(&s, SYSCALL | END, at("tail_syscall"), 0);
    decode(&s);
    assert_int_equal(event(&s, 0)->time.value, 100);
    assert_true(event(&s, 0)->flags & FLOW_TIME_EXACT);
    assert_in_range(event(&s, 1)->time.value, 101, 199);
    assert_int_equal(event(&s, 2)->time.value, 200);
    assert_int_equal(event(&s, 3)->time.value, 300);
    assert_true(event(&s, 3)->flags & FLOW_TIME_EXACT); /* an indirect jump has its own packet */
    finish(&s, 5);
}

static void a_ring_that_begins_in_the_middle_reports_where(void **state)
{
    struct scene s;
    begin(&s);
    struct packets *packets = &s.fixture.packets;
    packets_psb(packets, 50, at("leaf"));
    packets_mnt(packets, callchain_header(1, true));
    packets_mnt(packets, at("caller_after_call"));
    at_time(&s, 60);
    branch(&s, RETURN, at("leaf_return"), at("caller_after_call"));
    decode(&s);
    expect(&s, 0, FLOW_RESUME, 0, at("leaf"));
    assert_int_equal(event(&s, 0)->time.value, 50);
    expect(&s, 1, FLOW_CALLER, 0, at("caller_after_call"));
    expect(&s, 2, FLOW_CALLER, 0, 0);
    expect(&s, 3, FLOW_RETURN, at("leaf_return"), at("caller_after_call"));
    finish(&s, 5);
}

static void threads_take_turns_on_a_processor(void **state)
{
    struct scene s;
    begin(&s);
    s.fixture.setup.per_cpu = true;
    fixture_add_record(&s.fixture, SIDEBAND_NAME, 0, 101)->name.name = "other";
    for (uint32_t tid = PROGRAM_TID; tid <= PROGRAM_TID + 1; tid++) {
        made_stream_thread(&s.stream, PROGRAM_PID, tid, 0);
        branch(&s, BEGIN, 0, at("caller"));
        branch(&s, CALL, at("caller_call"), at("leaf"));
        branch(&s, ASYNCHRONOUS | END, at("leaf_return"), 0);
    }
    decode(&s);
    assert_int_equal(fixture_thread(&s.fixture, PROGRAM_TID + 1)->events.count, 3);
    expect(&s, 1, FLOW_CALL, at("caller_call"), at("leaf"));
    finish(&s, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls_returns_and_tail_calls_are_events),
        cmocka_unit_test(recursion_is_kept_and_a_loop_is_none),
        cmocka_unit_test(code_that_runs_on_into_the_next_function_jumps),
        cmocka_unit_test(handlers_are_found_in_the_code_between_branches),
        cmocka_unit_test(code_that_perf_has_not_seen_so_is_one_block),
        cmocka_unit_test(interrupts_and_transactions_go_elsewhere),
        cmocka_unit_test(the_stack_pointer_is_that_of_its_branch),
        cmocka_unit_test(errors_are_gaps),
        cmocka_unit_test(a_branch_from_elsewhere_is_a_gap),
        cmocka_unit_test(a_time_is_that_of_the_last_branch_with_it),
        cmocka_unit_test(a_ring_that_begins_in_the_middle_reports_where),
        cmocka_unit_test(threads_take_turns_on_a_processor),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
