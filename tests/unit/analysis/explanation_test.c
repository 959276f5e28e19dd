/* Slow and usual calls of a trace made by hand, and what is said of them. */
#include "analysis/explanation.h"

#include "index/call_ordinal.h"
#include "index_test.h"
#include "span_script.h"
#include "stack/thread_stack.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* A thread of `serve` calls of 10 ns, the 31st of which calls `lock`, which calls [syscall] for
 * 1000 ns. Each calls itself once, for 4 ns. */
struct made {
    struct span_script *script;
    struct trace_index *index;
    uint32_t serve;
};

static uint64_t add_request(struct span_script *script, uint32_t track, uint64_t time, bool is_slow)
{
    span_script_enter(script, track, time, "serve");
    span_script_enter(script, track, time + 2, "serve");
    span_script_leave(script, track, time + 6);
    if (is_slow) {
        span_script_enter(script, track, time + 6, "lock");
        span_script_enter(script, track, time + 7, "[syscall]");
        span_script_leave(script, track, time + 1007);
        span_script_leave(script, track, time + 1008);
        time += 1002;
    }
    span_script_leave(script, track, time + 10);
    return time + 10;
}

static uint32_t group_called(const struct trace_index *index, const char *name)
{
    for (uint32_t i = 0; i < trace_index_facts(index)->functions; i++)
        if (strcmp(trace_index_function(index, i).name, name) == 0)
            return trace_index_function(index, i).group;
    fail_msg("no %s", name);
    return 0;
}

static struct made make(unsigned calls, unsigned slow)
{
    struct made made = {.script = span_script_new()};
    uint32_t track = span_script_track(made.script, 1, 1, "p", "t");
    span_script_function(made.script, "[syscall]")->special = true;
    uint64_t time = 0;
    for (unsigned i = 1; i <= calls; i++)
        time = add_request(made.script, track, time, i == slow) + 1;
    made.index = index_source(span_script_source(made.script));
    made.serve = group_called(made.index, "serve");
    return made;
}

static void free_made(struct made *made)
{
    trace_index_close(made->index);
    span_script_free(made->script);
}

static const struct explained_cause *cause_at(const struct explanation *explanation, size_t i)
{
    assert_true(i < explanation->causes.count);
    return array_at(&explanation->causes, i);
}

static void the_slow_call_is_found_and_explained(void **state)
{
    struct made made = make(100, 31);
    struct explanation explanation;
    struct error error = {0};
    const struct slow_calls_request request = {.group = made.serve, .factor = 3};
    assert_true(explain(made.index, &request, 5, &explanation, &error));
    assert_int_equal(explanation.calls.calls, 100);
    assert_int_equal(explanation.calls.median, 10);
    assert_int_equal(explanation.calls.limit, 30);
    assert_int_equal(explanation.calls.slow_calls, 1);
    assert_int_equal(explanation.calls.usual.count, 99);
    /* Calls are numbered with the recursive ones. */
    assert_int_equal(explanation.longest_ordinal, 61);
    assert_float_equal(explanation.extra, 1002, 1e-6);
    const struct explained_cause *cause = cause_at(&explanation, 0);
    assert_int_equal(cause->cause.kind, CAUSE_ONLY_SLOW);
    assert_string_equal(trace_index_function(made.index, cause->group).name, "lock");
    assert_int_equal(cause->where, PLACE_SYSTEM_CALL);
    assert_string_equal(trace_index_function(made.index, cause->waiter).name, "lock");
    assert_int_equal(cause->ordinal, 1);
    assert_int_equal(cause->path.count, 3);
    int shares = 0;
    int64_t sum = 0;
    for (size_t i = 0; i < explanation.causes.count; i++) {
        shares += cause_at(&explanation, i)->share;
        sum += cause_at(&explanation, i)->extra;
    }
    assert_int_equal(shares, 1000);
    assert_int_equal(sum, 1002);
    explanation_free(&explanation);
    free_made(&made);
}

static void without_slow_calls_the_longest_is_explained(void **state)
{
    struct made made = make(100, 0);
    struct explanation explanation;
    struct error error = {0};
    const struct slow_calls_request request = {.group = made.serve, .factor = 3};
    assert_true(explain(made.index, &request, 5, &explanation, &error));
    assert_true(explanation.calls.is_longest);
    assert_int_equal(explanation.calls.usual.count, 99);
    assert_int_equal(explanation.causes.count, 0);
    explanation_free(&explanation);
    free_made(&made);
}

static void a_given_call_is_compared_with_its_level(void **state)
{
    struct made made = make(100, 31);
    struct explanation explanation;
    struct error error = {0};
    struct call_place given;
    assert_true(index_nth_call(made.index, made.serve, 61, &given, &error));
    assert_int_equal(given.span.depth, 0);
    struct slow_calls_request request = {.group = made.serve, .factor = 3, .given = &given};
    assert_true(explain(made.index, &request, 5, &explanation, &error));
    assert_int_equal(explanation.calls.level, 0);
    assert_float_equal(explanation.extra, 1002, 1e-6);
    explanation_free(&explanation);

    assert_true(index_nth_call(made.index, made.serve, 62, &given, &error));
    assert_true(explain(made.index, &request, 5, &explanation, &error));
    assert_int_equal(explanation.calls.level, 1);
    assert_int_equal(explanation.calls.median, 4);
    assert_int_equal(explanation.causes.count, 0);
    explanation_free(&explanation);
    free_made(&made);
}

static void a_single_call_cannot_be_compared(void **state)
{
    struct made made = make(3, 2);
    struct explanation explanation;
    struct error error = {0};
    const struct slow_calls_request request = {.group = group_called(made.index, "lock"),
                                               .factor = 3};
    assert_false(explain(made.index, &request, 5, &explanation, &error));
    assert_int_equal(error.code, ERROR_NOT_FOUND);
    explanation_free(&explanation);
    free_made(&made);
}

static void every_call_has_its_number(void **state)
{
    struct made made = make(3000, 2999);
    struct error error = {0};
    for (uint64_t i = 1; i <= 6000; i += 271) {
        struct call_place call;
        uint64_t ordinal;
        assert_true(index_nth_call(made.index, made.serve, i, &call, &error));
        assert_true(index_call_ordinal(made.index, (struct index_tracks){0}, made.serve, &call,
                                       &ordinal, &error));
        assert_int_equal(ordinal, i);
    }
    struct call_place call;
    assert_false(index_nth_call(made.index, made.serve, 6001, &call, &error));
    assert_int_equal(error.code, ERROR_NOT_FOUND);
    struct explanation explanation;
    const struct slow_calls_request request = {.group = made.serve, .limit = 5};
    assert_false(explain(made.index, &request, 5, &explanation, &error)); /* all are above 5 ns */
    assert_non_null(strstr(error.text, "-above"));
    explanation_free(&explanation);
    free_made(&made);
}

/* 100 calls of `serve`, 10 ns each; number 31 works for 1000 ns in `pack`, and others are preempted for as long as is said. */
static struct made make_preempted(const uint64_t preempted[100])
{
    struct made made = {.script = span_script_new()};
    uint32_t track = span_script_track(made.script, 1, 1, "p", "t");
    span_script_function(made.script, "[not running]")->special = true;
    uint64_t time = 0;
    for (unsigned i = 1; i <= 100; i++) {
        span_script_enter(made.script, track, time, "serve");
        time += 5;
        if (i == 31) {
            span_script_enter(made.script, track, time, "pack");
            span_script_leave(made.script, track, time += 1000);
        }
        if (preempted[i - 1]) {
            span_script_enter(made.script, track, time, "[not running]");
            span_script_leave(made.script, track, time += preempted[i - 1]);
        }
        span_script_leave(made.script, track, time += 5);
        time++;
    }
    made.index = index_source(span_script_source(made.script));
    made.serve = group_called(made.index, "serve");
    return made;
}

static void preempted_calls_hide_no_slow_one(void **state)
{
    struct made made = make_preempted((uint64_t[100]){[3] = 900, 800, [40] = 1500, [60] = 2000});
    struct explanation explanation;
    struct error error = {0};
    const struct slow_calls_request request = {.group = made.serve, .factor = 3};
    assert_true(explain(made.index, &request, 5, &explanation, &error));
    assert_int_equal(explanation.calls.slow_calls, 5);
    assert_int_equal(explanation.calls.slow.count, 1);
    assert_int_equal(explanation.calls.passed_over, 2);
    assert_int_equal(explanation.longest_ordinal, 31);
    assert_string_equal(trace_index_function(made.index, cause_at(&explanation, 0)->group).name,
                        "pack");
    explanation_free(&explanation);
    free_made(&made);
}

static void a_call_that_was_preempted_for_long_is_explained_so(void **state)
{
    struct made made = make_preempted((uint64_t[100]){[60] = 50000});
    struct explanation explanation;
    struct error error = {0};
    const struct slow_calls_request request = {.group = made.serve, .factor = 3};
    assert_true(explain(made.index, &request, 5, &explanation, &error));
    assert_int_equal(explanation.calls.slow.count, 1);
    assert_int_equal(explanation.calls.passed_over, 0);
    assert_int_equal(explanation.longest_ordinal, 61);
    assert_int_equal(cause_at(&explanation, 0)->where, PLACE_PREEMPTED);
    explanation_free(&explanation);
    free_made(&made);
}

/* ---- calls in several parts ---- */

enum { SUSPENDED_AT = 5, RESUMED_AT = 3005 };

/* Of goroutine `stack`: `serve` calls `lock`, which is suspended at 5 ns after `time` in the first track, and is resumed
 * 3,000 ns later in `resumes`. */
static void add_suspended(struct span_script *script, uint32_t resumes, uint32_t stack,
                          uint64_t time)
{
    span_script_enter(script, 0, time, "serve")->stack = stack;
    span_script_enter(script, 0, time + 2, "lock");
    struct span_event *left = span_script_leave(script, 0, time + SUSPENDED_AT);
    left->end = SPAN_END_SWITCH;
    left->stack = stack;
    span_script_leave(script, 0, time + SUSPENDED_AT)->end = SPAN_END_SWITCH;
    struct span_event *resumed = span_script_enter(script, resumes, time + RESUMED_AT, "serve");
    resumed->flags = SPAN_START_INFERRED;
    resumed->stack = stack;
    span_script_enter(script, resumes, time + RESUMED_AT, "lock")->flags = SPAN_START_INFERRED;
    span_script_leave(script, resumes, time + RESUMED_AT + 3)->flags = SPAN_START_INFERRED;
    span_script_leave(script, resumes, time + RESUMED_AT + 5)->flags = SPAN_START_INFERRED;
}

/* 100 calls of `serve`, of which the 31st is suspended; in the other track nothing seems to have ended it when
 * it goes on (`is_seen` false). */
static struct made make_suspended(uint32_t resumes, bool is_seen)
{
    struct made made = {.script = span_script_new()};
    span_script_track(made.script, 1, 1, "p", "t");
    span_script_track(made.script, 1, 2, "p", "u");
    uint64_t time = 0;
    for (unsigned i = 1; i <= 100; i++, time += 20) {
        if (i != 31) {
            time = add_request(made.script, 0, time, false);
            continue;
        }
        add_suspended(made.script, resumes, is_seen ? 7 : SHARED_STACKS, time);
        time += RESUMED_AT + 10;
    }
    made.index = index_source(span_script_source(made.script));
    made.serve = group_called(made.index, "serve");
    return made;
}

static void assert_suspension_explained(const struct made *made, const struct call_place *given)
{
    struct explanation explanation;
    struct error error = {0};
    const struct slow_calls_request request = {.group = made->serve, .factor = 3, .given = given};
    assert_true(explain(made->index, &request, 5, &explanation, &error));
    assert_int_equal(explanation.calls.calls, 100);
    assert_int_equal(explanation.calls.slow_calls, 1);
    assert_int_equal(explanation.calls.slow_time, RESUMED_AT + 5);
    assert_float_equal(explanation.extra, RESUMED_AT - 5, 1e-6);
    const struct explained_cause *cause = cause_at(&explanation, 0);
    assert_int_equal(cause->cause.kind, CAUSE_ONLY_SLOW);
    assert_string_equal(trace_index_function(made->index, cause->group).name, "lock");
    assert_int_equal(cause->where, PLACE_SUSPENDED);
    assert_int_equal(cause->cause.sides[CONTEXT_SLOW].calls, 1);
    assert_int_equal(cause->cause.sides[CONTEXT_SLOW].time, RESUMED_AT + 1);
    explanation_free(&explanation);
}

static void a_call_that_was_suspended_is_one(void **state)
{
    for (uint32_t resumes = 0; resumes < 2; resumes++) {
        struct made made = make_suspended(resumes, resumes == 0);
        struct call_place first, second;
        struct error error = {0};
        assert_suspension_explained(&made, NULL);
        assert_true(index_nth_call(made.index, made.serve, 61, &first, &error));
        assert_suspension_explained(&made, &first);
        assert_true(index_nth_call(made.index, made.serve, 62, &second, &error));
        assert_int_equal(second.track, resumes);
        assert_suspension_explained(&made, &second);
        free_made(&made);
    }
}

/* The thread that suspended it shows it as active until the end, since its scheduler only waited. */
static void a_call_may_go_on_before_its_thread_has_left_it(void **state)
{
    struct made made = {.script = span_script_new()};
    span_script_track(made.script, 1, 1, "p", "t");
    span_script_track(made.script, 1, 2, "p", "u");
    uint64_t time = 0;
    for (unsigned i = 1; i <= 30; i++, time++)
        time = add_request(made.script, 0, time, false);
    span_script_enter(made.script, 0, time, "serve")->stack = SHARED_STACKS;
    span_script_enter(made.script, 0, time + 2, "lock");
    struct span_event *resumed = span_script_enter(made.script, 1, time + 900, "serve");
    resumed->flags = SPAN_START_INFERRED;
    resumed->stack = SHARED_STACKS;
    span_script_enter(made.script, 1, time + 900, "lock")->flags = SPAN_START_INFERRED;
    span_script_leave(made.script, 1, time + 910)->flags = SPAN_START_INFERRED;
    span_script_leave(made.script, 1, time + 920)->flags = SPAN_START_INFERRED;
    made.index = index_source(span_script_source(made.script));
    made.serve = group_called(made.index, "serve");
    struct explanation explanation;
    struct error error = {0};
    const struct slow_calls_request request = {.group = made.serve, .factor = 3};
    assert_true(explain(made.index, &request, 5, &explanation, &error));
    assert_int_equal(explanation.calls.calls, 31);
    assert_int_equal(explanation.calls.slow_time, 920);
    assert_int_equal(cause_at(&explanation, 0)->cause.sides[CONTEXT_SLOW].time, 908);
    explanation_free(&explanation);
    free_made(&made);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_slow_call_is_found_and_explained),
        cmocka_unit_test(without_slow_calls_the_longest_is_explained),
        cmocka_unit_test(a_given_call_is_compared_with_its_level),
        cmocka_unit_test(a_single_call_cannot_be_compared),
        cmocka_unit_test(every_call_has_its_number),
        cmocka_unit_test(preempted_calls_hide_no_slow_one),
        cmocka_unit_test(a_call_that_was_preempted_for_long_is_explained_so),
        cmocka_unit_test(a_call_that_was_suspended_is_one),
        cmocka_unit_test(a_call_may_go_on_before_its_thread_has_left_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
