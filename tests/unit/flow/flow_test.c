#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "fixture.h"

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(calls_returns_and_tail_calls_are_events, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
