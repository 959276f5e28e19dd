/* Slow and usual calls of a trace made by hand, and what is said of them. */
#include "analysis/explanation.h"

#include "index/call_ordinal.h"
#include "index_test.h"
#include "span_script.h"

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
    assert_true(cause->waits);
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
    assert_true(
        index_nth_call(made.index, (struct index_tracks){0}, made.serve, 61, &given, &error));
    assert_int_equal(given.span.depth, 0);
    struct slow_calls_request request = {.group = made.serve, .factor = 3, .given = &given};
    assert_true(explain(made.index, &request, 5, &explanation, &error));
    assert_int_equal(explanation.calls.level, 0);
    assert_float_equal(explanation.extra, 1002, 1e-6);
    explanation_free(&explanation);

    assert_true(
        index_nth_call(made.index, (struct index_tracks){0}, made.serve, 62, &given, &error));
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
        assert_true(
            index_nth_call(made.index, (struct index_tracks){0}, made.serve, i, &call, &error));
        assert_true(index_call_ordinal(made.index, (struct index_tracks){0}, made.serve, &call,
                                       &ordinal, &error));
        assert_int_equal(ordinal, i);
    }
    struct call_place call;
    assert_false(
        index_nth_call(made.index, (struct index_tracks){0}, made.serve, 6001, &call, &error));
    assert_int_equal(error.code, ERROR_NOT_FOUND);
    struct explanation explanation;
    const struct slow_calls_request request = {.group = made.serve, .limit = 5};
    assert_false(explain(made.index, &request, 5, &explanation, &error)); /* all are above 5 ns */
    assert_non_null(strstr(error.text, "-above"));
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
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
