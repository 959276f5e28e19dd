/* Two traces made by hand, and random ones: what differs, and that differences add up. */
#include "analysis/comparison.h"

#include "base/memory.h"
#include "index_test.h"
#include "span_script.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* A trace of one thread, from text: `f(` enters f, `)` leaves it. */
struct written {
    struct span_script *script;
    struct trace_index *index;
};

/* ns before a call, and before its end. */
struct pace {
    uint64_t enter, leave;
};
static const struct pace usual_pace = {1, 10}, no_time = {0, 0};

static struct written write_trace(const char *text, struct pace pace)
{
    struct written written = {.script = span_script_new()};
    uint32_t track = span_script_track(written.script, 1, 1, "p", "t");
    span_script_function(written.script, "[syscall]")->special = true;
    span_script_function(written.script, "[not running]")->special = true;
    uint64_t time = 0;
    for (const char *at = text; *at; at++) {
        if (*at == ')') {
            span_script_leave(written.script, track, time += pace.leave);
            continue;
        }
        size_t length = strcspn(at, "(");
        char name[64] = "";
        memcpy(name, at, length);
        span_script_enter(written.script, track, time += pace.enter, name);
        at += length;
    }
    written.index = index_source(span_script_source(written.script));
    return written;
}

static void free_written(struct written *written)
{
    trace_index_close(written->index);
    span_script_free(written->script);
}

static struct trace_part whole(const struct trace_index *index)
{
    return (struct trace_part){.index = index, .range = {0, UINT64_MAX}};
}

struct compared {
    struct written traces[CONTEXT_SIDES];
    struct comparison comparison;
};

static void check_sums(const struct comparison *comparison)
{
    int64_t functions = 0, paths = 0;
    double causes = 0;
    int64_t all = (int64_t)(comparison->wall[CONTEXT_B] - comparison->wall[CONTEXT_A]);
    for (size_t i = 0; i < comparison->functions.count; i++) {
        const struct function_difference *row = array_at(&comparison->functions, i);
        functions += (int64_t)(row->self[CONTEXT_B] - row->self[CONTEXT_A]);
    }
    for (uint32_t i = 0; i < context_tree_size(&comparison->tree); i++) {
        const struct context_sums *sides = context_tree_node(&comparison->tree, i)->sides;
        paths += (int64_t)(sides[CONTEXT_B].self - sides[CONTEXT_A].self);
    }
    for (size_t i = 0; i < comparison->causes.count; i++)
        causes += ((struct cause *)array_at(&comparison->causes, i))->extra;
    assert_int_equal(functions, all);
    assert_int_equal(paths, all);
    assert_float_equal(causes, (double)all, 1e-6);
}

static struct compared compare_written(struct written a, struct written b)
{
    struct compared compared = {.traces = {a, b}};
    const struct trace_part parts[CONTEXT_SIDES] = {whole(compared.traces[CONTEXT_A].index),
                                                    whole(compared.traces[CONTEXT_B].index)};
    struct error error = {0};
    assert_true(compare_parts(parts, 5, &compared.comparison, &error));
    check_sums(&compared.comparison);
    return compared;
}

static struct compared compare_texts(const char *a, const char *b)
{
    return compare_written(write_trace(a, usual_pace), write_trace(b, usual_pace));
}

static void free_compared(struct compared *compared)
{
    comparison_free(&compared->comparison);
    for (int side = 0; side < CONTEXT_SIDES; side++)
        free_written(&compared->traces[side]);
}

static const char *name_at(const struct comparison *comparison, uint32_t node)
{
    uint32_t id = context_tree_node(&comparison->tree, node)->group;
    return function_ids_function(&comparison->ids, id).name;
}

static const struct cause *first_cause(const struct compared *compared)
{
    assert_true(compared->comparison.causes.count > 0);
    return array_at(&compared->comparison.causes, 0);
}

static const char *next_call(const struct compared *compared, enum context_side side)
{
    const struct divergence_side *next = &compared->comparison.divergence.sides[side];
    return next->has_call
               ? trace_index_function(compared->traces[side].index, next->call.span.function).name
               : NULL;
}

static void equal_traces_have_no_difference(void **state)
{
    struct compared compared = compare_texts("main(f()g(h()))", "main(f()g(h()))");
    assert_int_equal(compared.comparison.causes.count, 0);
    assert_false(compared.comparison.divergence.is_found);
    assert_int_equal(compared.comparison.divergence.common_calls, 4);
    free_compared(&compared);
}

static void a_function_that_only_b_has(void **state)
{
    struct compared compared = compare_texts("main(f()g(h()))", "main(f()g(new(h()h()h())h()))");
    assert_int_equal(first_cause(&compared)->kind, CAUSE_ONLY_SLOW);
    assert_string_equal(name_at(&compared.comparison, first_cause(&compared)->node), "new");
    assert_true(compared.comparison.divergence.is_found);
    assert_int_equal(compared.comparison.divergence.common_calls, 3);
    assert_string_equal(next_call(&compared, CONTEXT_A), "h");
    assert_string_equal(next_call(&compared, CONTEXT_B), "new");
    assert_int_equal(compared.comparison.divergence.sides[CONTEXT_B].stack.count, 2);
    free_compared(&compared);
}

static void what_only_a_has_comes_first_when_it_is_larger(void **state)
{
    struct compared compared = compare_texts("main(f()old(x()x()x()x()))", "main(f()f())");
    assert_int_equal(first_cause(&compared)->kind, CAUSE_ONLY_USUAL);
    assert_string_equal(name_at(&compared.comparison, first_cause(&compared)->node), "old");
    free_compared(&compared);
}

static void one_ends_before_the_other(void **state)
{
    struct compared compared = compare_texts("main(f()", "main(f()f()");
    assert_true(compared.comparison.divergence.is_found);
    assert_null(next_call(&compared, CONTEXT_A));
    assert_string_equal(next_call(&compared, CONTEXT_B), "f");
    free_compared(&compared);
}

/* The clock may not advance from call to call. */
static void calls_without_length_are_in_the_order_of_their_nesting(void **state)
{
    static const char text[] = "main(f(g(h())i())f(g()))f(g())";
    for (int side = 0; side < CONTEXT_SIDES; side++) {
        const struct pace paces[CONTEXT_SIDES] = {side ? no_time : usual_pace,
                                                  side ? usual_pace : no_time};
        struct compared compared = compare_written(write_trace(text, paces[CONTEXT_A]),
                                                   write_trace(text, paces[CONTEXT_B]));
        assert_false(compared.comparison.divergence.is_found);
        assert_int_equal(compared.comparison.divergence.common_calls, 9);
        free_compared(&compared);
    }
}

static void a_preempted_thread_makes_no_call(void **state)
{
    struct compared compared =
        compare_texts("main(f([not running]())g(h()))", "main(f()[not running]()g(h()h()))");
    assert_int_equal(compared.comparison.divergence.common_calls, 4);
    assert_null(next_call(&compared, CONTEXT_A));
    assert_string_equal(next_call(&compared, CONTEXT_B), "h");
    free_compared(&compared);
}

static void a_renamed_function_is_one(void **state)
{
    struct compared compared = compare_texts("main(old_name(a()b())old_name(a()b())c())",
                                             "main(new_name(a()b())new_name(a()b())c())");
    assert_int_equal(compared.comparison.renamed.count, 1);
    const struct renamed_function *renamed = array_at(&compared.comparison.renamed, 0);
    assert_string_equal(renamed->names[CONTEXT_A], "old_name");
    assert_string_equal(renamed->names[CONTEXT_B], "new_name");
    assert_int_equal(compared.comparison.causes.count, 0);
    assert_false(compared.comparison.divergence.is_found);
    free_compared(&compared);
}

static void copies_of_the_compiler_are_the_function(void **state)
{
    struct compared compared =
        compare_texts("main(f.constprop.0()g.part.0.isra.0()C::h [clone .lto_priv.7]())",
                      "main(f()g.part.0()C::h())");
    assert_int_equal(compared.comparison.causes.count, 0);
    assert_int_equal(compared.comparison.functions.count, 4);
    assert_false(compared.comparison.divergence.is_found);
    free_compared(&compared);
}

static void parts_of_a_function_are_not_the_function(void **state)
{
    struct compared compared = compare_texts("main(f()f.isra.x())", "main(f()f.part.0()f.cold())");
    assert_int_equal(compared.comparison.functions.count, 5);
    free_compared(&compared);
}

static void fewer_causes_add_up(void **state)
{
    struct compared compared =
        compare_texts("main(a()b()c())", "main(a(x()x()x())b(y()y())c(z()))");
    assert_true(compared.comparison.causes.count > 2);
    comparison_name_causes(&compared.comparison, 1);
    assert_int_equal(compared.comparison.causes.count, 2);
    check_sums(&compared.comparison);
    free_compared(&compared);
}

/* Sixty functions: twenty call alloc() `calls` times, the others once more. */
static char *scattered_text(int calls)
{
    char *text = memory_copy_string("main(");
    for (int i = 0; i < 60; i++) {
        char *longer = memory_format("%sf%d(", text, i);
        for (int j = 0; j < (i < 20 ? 0 : 1) + calls; j++) {
            char *more = memory_format("%salloc()", longer);
            free(longer);
            longer = more;
        }
        free(text);
        text = memory_format("%s)", longer);
        free(longer);
    }
    char *all = memory_format("%s)", text);
    free(text);
    return all;
}

static void a_function_that_many_call_more_often_is_one_cause(void **state)
{
    char *a = scattered_text(0), *b = scattered_text(3);
    struct compared compared = compare_texts(a, b);
    const struct cause *cause = first_cause(&compared);
    assert_int_equal(cause->kind, CAUSE_CALLS);
    assert_string_equal(name_at(&compared.comparison, cause->node), "alloc");
    assert_int_equal(cause->nodes, 60);
    assert_int_equal(cause->sides[CONTEXT_A].calls, 40);
    assert_int_equal(cause->sides[CONTEXT_B].calls, 220);
    free_compared(&compared);
    free(a);
    free(b);
}

static void two_that_fit_are_not_guessed_at(void **state)
{
    struct compared compared = compare_texts("main(p()q())", "main(r()s())");
    assert_int_equal(compared.comparison.renamed.count, 0);
    free_compared(&compared);
}

/* ---- random traces ---- */

static struct trace_part random_part(struct indexed_trace *trace)
{
    return (struct trace_part){.index = trace->index, .range = random_range(trace)};
}

static void differences_add_up(void **state)
{
    for (uint64_t seed = 1; seed <= 300; seed++) {
        struct indexed_trace a = indexed_trace_new(seed), b = indexed_trace_new(seed + 1000);
        const struct trace_part parts[CONTEXT_SIDES] = {random_part(&a), random_part(&b)};
        struct comparison comparison;
        struct error error = {0};
        assert_true(compare_parts(parts, 1 + seed % 7, &comparison, &error));
        check_sums(&comparison);
        comparison_free(&comparison);
        indexed_trace_free(&a);
        indexed_trace_free(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_traces_have_no_difference),
        cmocka_unit_test(a_function_that_only_b_has),
        cmocka_unit_test(what_only_a_has_comes_first_when_it_is_larger),
        cmocka_unit_test(one_ends_before_the_other),
        cmocka_unit_test(calls_without_length_are_in_the_order_of_their_nesting),
        cmocka_unit_test(a_preempted_thread_makes_no_call),
        cmocka_unit_test(a_renamed_function_is_one),
        cmocka_unit_test(copies_of_the_compiler_are_the_function),
        cmocka_unit_test(parts_of_a_function_are_not_the_function),
        cmocka_unit_test(fewer_causes_add_up),
        cmocka_unit_test(a_function_that_many_call_more_often_is_one_cause),
        cmocka_unit_test(two_that_fit_are_not_guessed_at),
        cmocka_unit_test(differences_add_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
