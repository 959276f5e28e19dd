/* Slow and usual calls of a trace made by hand, and what is said of them. */
#include "analysis/explanation.h"
#include "analysis/explanation_words.h"

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
    span_script_function(made.script, "[preempted]")->special = true;
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

struct made_calls {
    unsigned working;        /* this one works for 1000 ns in `pack`; 0: none */
    unsigned waiting;        /* this one is in [syscall] for 1000 ns, and does not run; 0: none */
    bool preempted_there;    /* it could have run; else it waits */
    uint64_t preempted[100]; /* ns, in `pack` or in `serve` itself */
};

/* 100 calls of `serve`, 10 ns each without that. */
static struct made make_preempted(struct made_calls calls)
{
    struct made made = {.script = span_script_new()};
    uint32_t track = span_script_track(made.script, 1, 1, "p", "t");
    span_script_function(made.script, "[not running]")->special = true;
    span_script_function(made.script, "[preempted]")->special = true;
    span_script_function(made.script, "[syscall]")->special = true;
    uint64_t time = 0;
    for (unsigned i = 1; i <= 100; i++) {
        const uint64_t preempted = calls.preempted[i - 1];
        span_script_enter(made.script, track, time, "serve");
        time += 5;
        if (i == calls.waiting) {
            span_script_enter(made.script, track, time, "[syscall]");
            span_script_enter(made.script, track, time,
                              calls.preempted_there ? "[preempted]" : "[not running]");
            span_script_leave(made.script, track, time += 1000);
            span_script_leave(made.script, track, time);
        }
        if (i == calls.working) {
            span_script_enter(made.script, track, time, "pack");
            time += 600;
        }
        if (preempted) {
            span_script_enter(made.script, track, time, "[not running]");
            span_script_leave(made.script, track, time += preempted);
        }
        if (i == calls.working)
            span_script_leave(made.script, track, time += 400);
        span_script_leave(made.script, track, time += 5);
        time++;
    }
    made.index = index_source(span_script_source(made.script));
    made.serve = group_called(made.index, "serve");
    return made;
}

static const char *first_cause(const struct explanation *explanation)
{
    return trace_index_function(explanation->index, cause_at(explanation, 0)->group).name;
}

static void preemption_hides_no_slow_call(void **state)
{
    struct made made = make_preempted((struct made_calls){
        .working = 31, .preempted = {[3] = 900, 800, [40] = 1500, [60] = 50000}});
    struct explanation explanation;
    struct error error = {0};
    const struct slow_calls_request request = {.group = made.serve, .factor = 3};
    assert_true(explain(made.index, &request, 5, &explanation, &error));
    assert_int_equal(explanation.calls.slow_calls, 1);
    assert_int_equal(explanation.calls.preempted_calls, 4);
    assert_int_equal(explanation.calls.preempted_time, 53200);
    assert_int_equal(explanation.longest_ordinal, 31);
    assert_string_equal(first_cause(&explanation), "pack");
    assert_float_equal(explanation.extra, 1000, 1e-6);
    explanation_free(&explanation);
    free_made(&made);
}

/* Nor is it the cause of a call that takes longer without it. */
static void preemption_of_a_slow_call_is_left_out(void **state)
{
    struct made made =
        make_preempted((struct made_calls){.working = 31, .preempted = {[30] = 8000}});
    struct explanation explanation;
    struct error error = {0};
    struct slow_calls_request request = {.group = made.serve, .factor = 3};
    assert_true(explain(made.index, &request, 5, &explanation, &error));
    assert_int_equal(explanation.causes.count, 1);
    assert_string_equal(first_cause(&explanation), "pack");
    assert_int_equal(cause_at(&explanation, 0)->extra, 1000);
    assert_int_equal(cause_at(&explanation, 0)->where, PLACE_PROGRAM);
    const struct call_place *slow = array_at(&explanation.calls.slow, 0);
    assert_int_equal(slow_calls_left_out(&explanation.calls, slow), 8000);
    explanation_free(&explanation);

    request.counts_preempted = true;
    assert_true(explain(made.index, &request, 5, &explanation, &error));
    assert_float_equal(explanation.extra, 9000, 1e-6);
    assert_int_equal(slow_calls_left_out(&explanation.calls, slow), 0);
    explanation_free(&explanation);
    free_made(&made);
}

/* Calls are listed by the time that counts, so that is what is said of them. */
static void the_heading_says_the_time_that_counts(void **state)
{
    struct made made =
        make_preempted((struct made_calls){.working = 31, .preempted = {[30] = 3000, [60] = 8000}});
    struct explanation explanation;
    struct error error = {0};
    const struct slow_calls_request request = {.group = made.serve, .limit = 900};
    char heading[512] = "";
    assert_true(explain(made.index, &request, 5, &explanation, &error));
    FILE *stream = fmemopen(heading, sizeof heading, "w");
    explanation_print_heading(stream, &explanation);
    fclose(stream);
    assert_string_equal(
        heading,
        "serve: 100 calls, median 10 ns.\n"
        "serve#31 took 1.010 us, without the 3.000 us in which it was preempted.\n"
        "One more took that long only because it was preempted, for 8.000 us (explain -wall "
        "counts that).\n");
    assert_int_equal(explanation_longest(&explanation), 1010);
    explanation_free(&explanation);
    free_made(&made);
}

/* Half of the calls are preempted for longer than the slow one works. */
static void on_a_busy_machine_calls_are_as_long_as_they_run(void **state)
{
    struct made_calls calls = {.working = 31};
    for (unsigned i = 0; i < 100; i++)
        calls.preempted[i] = i % 3 ? 2000 + i : 0;
    struct made made = make_preempted(calls);
    struct explanation explanation;
    struct error error = {0};
    const struct slow_calls_request request = {.group = made.serve, .factor = 3};
    assert_true(explain(made.index, &request, 5, &explanation, &error));
    assert_int_equal(explanation.calls.median, 10);
    assert_int_equal(explanation.longest_ordinal, 31);
    assert_string_equal(first_cause(&explanation), "pack");
    explanation_free(&explanation);
    free_made(&made);
}

/* What a thread waits for in the kernel is its own. */
static void waiting_counts(void **state)
{
    struct made made =
        make_preempted((struct made_calls){.waiting = 31, .preempted = {[60] = 50000}});
    struct explanation explanation;
    struct error error = {0};
    const struct slow_calls_request request = {.group = made.serve, .factor = 3};
    assert_true(explain(made.index, &request, 5, &explanation, &error));
    assert_int_equal(explanation.longest_ordinal, 31);
    assert_int_equal(cause_at(&explanation, 0)->where, PLACE_WAITING);
    explanation_free(&explanation);
    free_made(&made);
}

/* But not that another thread had its processor meanwhile. */
static void preemption_in_a_system_call_is_left_out(void **state)
{
    struct made made =
        make_preempted((struct made_calls){.working = 61, .waiting = 31, .preempted_there = true});
    struct explanation explanation;
    struct error error = {0};
    struct call_place given;
    struct slow_calls_request request = {.group = made.serve, .factor = 3};
    assert_true(explain(made.index, &request, 5, &explanation, &error));
    assert_int_equal(explanation.longest_ordinal, 61);
    assert_int_equal(explanation.calls.slow_calls, 1);
    assert_int_equal(explanation.calls.preempted_calls, 1);
    assert_int_equal(explanation.calls.preempted_time, 1000);
    assert_string_equal(first_cause(&explanation), "pack");
    explanation_free(&explanation);

    assert_true(index_nth_call(made.index, made.serve, 31, &given, &error));
    request.given = &given;
    assert_true(explain(made.index, &request, 5, &explanation, &error));
    assert_int_equal(cause_at(&explanation, 0)->where, PLACE_PREEMPTED);
    explanation_free(&explanation);
    free_made(&made);
}

static void preemption_is_explained_where_nothing_else_is_slow(void **state)
{
    struct made made =
        make_preempted((struct made_calls){.working = 31, .preempted = {[60] = 50000}});
    struct explanation explanation;
    struct error error = {0};
    struct call_place given;
    struct slow_calls_request request = {.group = made.serve, .factor = 3, .given = &given};
    assert_true(index_nth_call(made.index, made.serve, 61, &given, &error));
    assert_true(explain(made.index, &request, 5, &explanation, &error));
    assert_int_equal(cause_at(&explanation, 0)->where, PLACE_PREEMPTED);
    explanation_free(&explanation);
    free_made(&made);

    made = make_preempted((struct made_calls){.preempted = {[60] = 50000}});
    request = (struct slow_calls_request){.group = made.serve, .factor = 3};
    assert_true(explain(made.index, &request, 5, &explanation, &error));
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

/* Twenty calls within one nanosecond, one of a nanosecond, one of a thousand. */
static void calls_may_have_no_length(void **state)
{
    static const uint64_t starts[] = {200, 300}, lengths[] = {1, 1000};
    struct made made = {.script = span_script_new()};
    uint32_t track = span_script_track(made.script, 1, 1, "p", "t");
    for (int i = 0; i < 20; i++) {
        span_script_enter(made.script, track, 100, "serve");
        span_script_leave(made.script, track, 100);
    }
    for (int i = 0; i < 2; i++) {
        span_script_enter(made.script, track, starts[i], "serve");
        span_script_leave(made.script, track, starts[i] + lengths[i]);
    }
    made.index = index_source(span_script_source(made.script));
    made.serve = group_called(made.index, "serve");
    struct explanation explanation;
    struct error error = {0};
    struct slow_calls_request request = {.group = made.serve, .factor = 3};
    assert_true(explain(made.index, &request, 5, &explanation, &error));
    assert_int_equal(explanation.calls.median, 0);
    assert_int_equal(explanation.calls.slow_calls, 1);
    assert_int_equal(explanation.calls.slow_time, 1000);
    assert_int_equal(explanation.calls.usual.count, 21);
    explanation_free(&explanation);

    struct call_place given;
    assert_true(index_nth_call(made.index, made.serve, 5, &given, &error));
    assert_int_equal(given.span.end, given.span.start);
    request.given = &given;
    assert_true(explain(made.index, &request, 5, &explanation, &error));
    assert_int_equal(explanation.calls.usual.count, 20);
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
        cmocka_unit_test(preemption_hides_no_slow_call),
        cmocka_unit_test(preemption_of_a_slow_call_is_left_out),
        cmocka_unit_test(the_heading_says_the_time_that_counts),
        cmocka_unit_test(on_a_busy_machine_calls_are_as_long_as_they_run),
        cmocka_unit_test(waiting_counts),
        cmocka_unit_test(preemption_in_a_system_call_is_left_out),
        cmocka_unit_test(preemption_is_explained_where_nothing_else_is_slow),
        cmocka_unit_test(a_call_that_was_suspended_is_one),
        cmocka_unit_test(a_call_may_go_on_before_its_thread_has_left_it),
        cmocka_unit_test(calls_may_have_no_length),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
