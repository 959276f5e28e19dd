/* Causes in trees that are made by hand, and that random trees' causes add up. */
#include "analysis/attribution.h"

#include "base/memory.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

/* Groups. */
enum { SUBJECT, PARSE, READ, COPY, LOG, SYSCALL, PREEMPTED, LIBRARY, GROUPS };

static const bool is_outside[GROUPS] = {[SYSCALL] = true, [PREEMPTED] = true};
static const bool is_own[GROUPS] = {true, true, true, true, true};

/* An activation: callers come before what they call, and their time holds that of their callees. */
struct step {
    uint32_t depth, group;
    uint64_t length;
};

static void add_steps(struct context_tree *tree, enum context_side side, const struct step *steps,
                      size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct call_place place = {.span = {.end = steps[i].length, .depth = steps[i].depth}};
        context_tree_enter(tree, steps[i].depth, steps[i].group, &place, side);
    }
}

static void add_call(struct context_tree *tree, enum context_side side, const struct step *steps,
                     size_t count)
{
    context_tree_begin_call(tree, side);
    add_steps(tree, side, steps, count);
}

#define ADD(tree, side, ...)                                                                       \
    add_call(tree, side, (const struct step[]){__VA_ARGS__},                                       \
             sizeof((const struct step[]){__VA_ARGS__}) / sizeof(struct step))

struct found {
    struct context_tree tree;
    struct array causes;
    double extra;
};

static struct found find(struct context_tree tree, struct attribution_request request)
{
    struct found found = {.tree = tree, .causes = array_of(sizeof(struct cause))};
    context_tree_finish(&found.tree);
    request.tree = &found.tree;
    request.is_outside = is_outside;
    request.preempted = PREEMPTED;
    found.extra = attribute(&request, &found.causes);
    return found;
}

static struct found find_causes(struct context_tree tree, size_t causes_max)
{
    return find(tree, (struct attribution_request){.is_own = is_own, .causes_max = causes_max});
}

/* Of both sides. */
static struct found find_differences(struct context_tree tree, size_t causes_max)
{
    return find(tree, (struct attribution_request){
                          .is_own = is_own, .causes_max = causes_max, .is_symmetric = true});
}

static void free_found(struct found *found)
{
    array_free(&found->causes);
    context_tree_free(&found->tree);
}

static const struct cause *cause_at(const struct found *found, size_t i)
{
    assert_true(i < found->causes.count);
    return array_at(&found->causes, i);
}

static void assert_cause(const struct found *found, size_t i, enum cause_kind kind, uint32_t group,
                         double extra)
{
    const struct cause *cause = cause_at(found, i);
    assert_int_equal(cause->kind, kind);
    assert_float_equal(cause->extra, extra, 1e-6);
    if (kind != CAUSE_REST)
        assert_int_equal(context_tree_node(&found->tree, cause->node)->group, group);
}

static void only_the_slow_call_has_a_child(void **state)
{
    struct context_tree tree = context_tree_new(SUBJECT);
    ADD(&tree, CONTEXT_USUAL, {0, SUBJECT, 10}, {1, PARSE, 6});
    ADD(&tree, CONTEXT_USUAL, {0, SUBJECT, 12}, {1, PARSE, 8});
    ADD(&tree, CONTEXT_SLOW, {0, SUBJECT, 111}, {1, PARSE, 107}, {2, LOG, 100}, {3, COPY, 90});
    struct found found = find_causes(tree, 5);
    assert_float_equal(found.extra, 100, 1e-6);
    assert_int_equal(found.causes.count, 1);
    assert_cause(&found, 0, CAUSE_ONLY_SLOW, LOG, 100);
    assert_int_equal(context_tree_node(&found.tree, cause_at(&found, 0)->carrier)->group, COPY);
    free_found(&found);
}

static void a_child_is_called_more_often(void **state)
{
    struct context_tree tree = context_tree_new(SUBJECT);
    ADD(&tree, CONTEXT_USUAL, {0, SUBJECT, 20}, {1, PARSE, 10}, {2, READ, 10});
    ADD(&tree, CONTEXT_SLOW, {0, SUBJECT, 51}, {1, PARSE, 40}, {2, READ, 10}, {2, READ, 10},
        {2, READ, 10}, {2, READ, 10});
    struct found found = find_causes(tree, 5);
    assert_cause(&found, 0, CAUSE_CALLS, READ, 30);
    assert_int_equal(cause_at(&found, 0)->sides[CONTEXT_SLOW].calls, 4);
    assert_int_equal(cause_at(&found, 0)->sides[CONTEXT_USUAL].calls, 1);
    assert_cause(&found, 1, CAUSE_SELF, SUBJECT, 1);
    free_found(&found);
}

static void one_call_of_many_takes_longer(void **state)
{
    struct context_tree tree = context_tree_new(SUBJECT);
    ADD(&tree, CONTEXT_USUAL, {0, SUBJECT, 20}, {1, PARSE, 9}, {1, PARSE, 9});
    ADD(&tree, CONTEXT_SLOW, {0, SUBJECT, 120}, {1, PARSE, 9}, {1, PARSE, 100}, {1, PARSE, 9});
    struct found found = find_causes(tree, 5);
    assert_cause(&found, 0, CAUSE_SELF, PARSE, 100);
    free_found(&found);
}

static void time_outside_of_the_program(void **state)
{
    struct context_tree tree = context_tree_new(SUBJECT);
    ADD(&tree, CONTEXT_USUAL, {0, SUBJECT, 20}, {1, READ, 9}, {2, SYSCALL, 8});
    ADD(&tree, CONTEXT_SLOW, {0, SUBJECT, 520}, {1, READ, 509}, {2, SYSCALL, 508});
    struct found found = find_causes(tree, 5);
    assert_int_equal(found.causes.count, 1);
    assert_cause(&found, 0, CAUSE_OUTSIDE, SYSCALL, 500);
    free_found(&found);
}

/* PARSE calls READ, which calls PARSE: a path has each once. */
static void recursion_is_folded(void **state)
{
    struct context_tree tree = context_tree_new(SUBJECT);
    ADD(&tree, CONTEXT_USUAL, {0, SUBJECT, 10}, {1, PARSE, 8});
    ADD(&tree, CONTEXT_SLOW, {0, SUBJECT, 100}, {1, PARSE, 98}, {2, READ, 60}, {3, PARSE, 40},
        {4, READ, 30});
    struct found found = find_causes(tree, 5);
    assert_float_equal(found.extra, 90, 1e-6);
    const struct context_node *read = context_tree_node(&found.tree, 2);
    assert_int_equal(read->group, READ);
    assert_int_equal(read->sides[CONTEXT_SLOW].calls, 2);
    assert_int_equal(read->sides[CONTEXT_SLOW].total, 20 + 30);
    assert_int_equal(read->present[CONTEXT_SLOW], 1);
    assert_int_equal(context_tree_node(&found.tree, 1)->sides[CONTEXT_SLOW].self, 38 + 10);
    free_found(&found);
}

static void several_places_are_one_cause(void **state)
{
    struct context_tree tree = context_tree_new(SUBJECT);
    ADD(&tree, CONTEXT_USUAL, {0, SUBJECT, 10}, {1, PARSE, 3}, {2, COPY, 3}, {1, READ, 3},
        {2, COPY, 3});
    ADD(&tree, CONTEXT_SLOW, {0, SUBJECT, 160}, {1, PARSE, 53}, {2, COPY, 53}, {1, READ, 103},
        {2, COPY, 103});
    struct found found = find_causes(tree, 5);
    assert_int_equal(found.causes.count, 1);
    assert_cause(&found, 0, CAUSE_SELF, COPY, 150);
    assert_int_equal(cause_at(&found, 0)->nodes, 2);
    assert_int_equal(
        context_tree_node(&found.tree, cause_at(&found, 0)->node)->sides[CONTEXT_SLOW].total, 103);
    free_found(&found);
}

static void what_is_saved_comes_last(void **state)
{
    struct context_tree tree = context_tree_new(SUBJECT);
    ADD(&tree, CONTEXT_USUAL, {0, SUBJECT, 30}, {1, READ, 20});
    ADD(&tree, CONTEXT_SLOW, {0, SUBJECT, 210}, {1, COPY, 200});
    struct found found = find_causes(tree, 5);
    assert_int_equal(found.causes.count, 2);
    assert_cause(&found, 0, CAUSE_ONLY_SLOW, COPY, 200);
    assert_cause(&found, 1, CAUSE_ONLY_USUAL, READ, -20);
    free_found(&found);
}

/* PARSE and COPY take longer on one side, and READ, whose difference is the largest, on the other. */
static struct context_tree opposite_differences(enum context_side longer)
{
    struct context_tree tree = context_tree_new(SUBJECT);
    for (int side = 0; side < CONTEXT_SIDES; side++) {
        bool is_longer = side == (int)longer;
        const uint64_t parse = is_longer ? 150 : 100, read = is_longer ? 100 : 180;
        const uint64_t copy = is_longer ? 160 : 100;
        ADD(&tree, side, {0, SUBJECT, parse + read + copy}, {1, PARSE, parse}, {1, READ, read},
            {1, COPY, copy});
    }
    return tree;
}

static void what_goes_against_the_whole_comes_last(void **state)
{
    for (int longer = 0; longer < CONTEXT_SIDES; longer++) {
        const double sign = longer == CONTEXT_B ? 1 : -1;
        struct found found = find_differences(opposite_differences(longer), 5);
        assert_float_equal(found.extra, sign * 30, 1e-6);
        assert_int_equal(found.causes.count, 3);
        assert_cause(&found, 0, CAUSE_SELF, COPY, sign * 60);
        assert_cause(&found, 1, CAUSE_SELF, PARSE, sign * 50);
        assert_cause(&found, 2, CAUSE_SELF, READ, sign * -80);
        free_found(&found);
    }
}

static void what_comes_first_is_never_left_out(void **state)
{
    struct found found = find_differences(opposite_differences(CONTEXT_B), 2);
    assert_int_equal(found.causes.count, 3);
    assert_cause(&found, 0, CAUSE_SELF, COPY, 60);
    assert_cause(&found, 1, CAUSE_SELF, READ, -80);
    assert_cause(&found, 2, CAUSE_REST, 0, 50);
    free_found(&found);
    found = find_differences(opposite_differences(CONTEXT_B), 1);
    assert_cause(&found, 0, CAUSE_SELF, COPY, 60);
    assert_cause(&found, 1, CAUSE_REST, 0, -30);
    free_found(&found);
}

/* Nothing but slower time. */
static void spread_over_what_a_library_calls(void **state)
{
    static const bool none_own[GROUPS] = {true};
    struct context_tree tree = context_tree_new(SUBJECT);
    ADD(&tree, CONTEXT_USUAL, {0, SUBJECT, 20}, {1, PARSE, 20}, {2, READ, 5}, {2, COPY, 5},
        {2, LOG, 5});
    ADD(&tree, CONTEXT_SLOW, {0, SUBJECT, 80}, {1, PARSE, 80}, {2, READ, 20}, {2, COPY, 20},
        {2, LOG, 20});
    struct found found =
        find(tree, (struct attribution_request){.is_own = none_own, .causes_max = 5});
    assert_int_equal(found.causes.count, 1);
    assert_cause(&found, 0, CAUSE_SPREAD, PARSE, 60);
    free_found(&found);
}

/* A loop of two steps: neither step is the cause. With most of the time in one step, that is. */
static void a_loop_of_steps_does_more(void **state)
{
    for (uint64_t read = 30; read <= 90; read += 60) {
        struct context_tree tree = context_tree_new(SUBJECT);
        ADD(&tree, CONTEXT_USUAL, {0, SUBJECT, 20}, {1, PARSE, 20}, {2, READ, 10}, {2, COPY, 10});
        ADD(&tree, CONTEXT_SLOW, {0, SUBJECT, 80 + 2 * read}, {1, PARSE, 80 + 2 * read},
            {2, READ, read}, {2, COPY, 20}, {2, READ, read}, {2, COPY, 20}, {2, LOG, 40});
        struct found found = find_causes(tree, 5);
        if (read == 30) {
            assert_cause(&found, 0, CAUSE_MORE, PARSE, 120);
            assert_int_equal(found.causes.count, 1);
        } else {
            const struct cause *first = array_at(&found.causes, 0);
            assert_int_equal(context_tree_node(&found.tree, first->node)->group, READ);
        }
        free_found(&found);
    }
}

static void a_short_list_has_a_rest(void **state)
{
    struct context_tree tree = context_tree_new(SUBJECT);
    ADD(&tree, CONTEXT_USUAL, {0, SUBJECT, 10});
    ADD(&tree, CONTEXT_SLOW, {0, SUBJECT, 260}, {1, PARSE, 100}, {1, READ, 90}, {1, COPY, 60});
    struct found found = find_causes(tree, 2);
    assert_int_equal(found.causes.count, 3);
    assert_cause(&found, 0, CAUSE_ONLY_SLOW, PARSE, 100);
    assert_cause(&found, 1, CAUSE_ONLY_SLOW, READ, 90);
    assert_cause(&found, 2, CAUSE_REST, 0, 60);
    free_found(&found);
}

/* ---- differences of two traces ---- */

/* PARSE, which calls itself, does so 10 % more often by chance; COPY takes 100 longer. */
static void an_interpreter_calls_itself_more_often(void **state)
{
    struct context_tree tree = context_tree_new(SUBJECT);
    for (int side = 0; side < CONTEXT_SIDES; side++) {
        const uint64_t copy = side == CONTEXT_B ? 200 : 100;
        context_tree_begin_call(&tree, side);
        const struct step steps[] = {{0, SUBJECT, 1000 + copy},
                                     {1, PARSE, 1000 + copy},
                                     {2, READ, 600 + copy},
                                     {3, COPY, copy},
                                     {3, LOG, 400}};
        add_steps(&tree, side, steps, sizeof steps / sizeof steps[0]);
        for (int again = 0; again < 10 + side; again++)
            add_steps(&tree, side, &(struct step){3, PARSE, 0}, 1);
    }
    struct found found = find_differences(tree, 5);
    assert_float_equal(found.extra, 100, 1e-6);
    assert_int_equal(found.causes.count, 1);
    assert_cause(&found, 0, CAUSE_SELF, COPY, 100);
    free_found(&found);
}

/* A tenth more requests, and COPY takes twice as long in each of them. */
static void more_calls_that_each_take_longer(void **state)
{
    enum { REQUESTS = 100 };
    struct context_tree tree = context_tree_new(SUBJECT);
    for (int side = 0; side < CONTEXT_SIDES; side++) {
        const uint64_t copy = side == CONTEXT_B ? 20 : 10;
        const uint64_t count = side == CONTEXT_B ? REQUESTS * 11 / 10 : REQUESTS;
        context_tree_begin_call(&tree, side);
        add_steps(&tree, side, &(struct step){0, SUBJECT, count * (90 + copy)}, 1);
        const struct step steps[] = {{1, PARSE, 90 + copy}, {2, READ, 40}, {2, COPY, copy}};
        for (uint64_t i = 0; i < count; i++)
            add_steps(&tree, side, steps, sizeof steps / sizeof steps[0]);
    }
    struct found found = find_differences(tree, 5);
    assert_float_equal(found.extra, 110 * 110 - 100 * 100, 1e-6);
    assert_int_equal(found.causes.count, 2);
    assert_cause(&found, 0, CAUSE_SELF, COPY, 110 * 10);
    assert_cause(&found, 1, CAUSE_CALLS, PARSE, 10 * 100);
    free_found(&found);
}

/* Ten requests more, in which the same functions call each other in another way. */
static void more_calls_on_other_paths(void **state)
{
    static const struct step usual[] = {{1, PARSE, 100}, {2, READ, 80}, {3, COPY, 30}};
    static const struct step other[] = {{1, PARSE, 100}, {2, COPY, 80}, {3, READ, 50}};
    struct context_tree tree = context_tree_new(SUBJECT);
    for (int side = 0; side < CONTEXT_SIDES; side++) {
        const uint64_t count = side == CONTEXT_B ? 110 : 100;
        context_tree_begin_call(&tree, side);
        add_steps(&tree, side, &(struct step){0, SUBJECT, count * 100}, 1);
        for (uint64_t i = 0; i < count; i++)
            add_steps(&tree, side, i < 100 ? usual : other, sizeof usual / sizeof usual[0]);
    }
    struct found found = find_differences(tree, 5);
    assert_int_equal(found.causes.count, 1);
    assert_cause(&found, 0, CAUSE_CALLS, PARSE, 10 * 100);
    free_found(&found);
}

/* What is gained in one function and lost in another is named, below a library that calls the program. */
static void differences_that_cancel_out(void **state)
{
    struct context_tree tree = context_tree_new(SUBJECT);
    ADD(&tree, CONTEXT_A, {0, SUBJECT, 100}, {1, LIBRARY, 100}, {2, PARSE, 100}, {3, READ, 60},
        {3, COPY, 40});
    ADD(&tree, CONTEXT_B, {0, SUBJECT, 100}, {1, LIBRARY, 100}, {2, PARSE, 100}, {3, READ, 30},
        {3, COPY, 70});
    struct found found = find_differences(tree, 5);
    assert_int_equal(found.causes.count, 2);
    assert_cause(&found, 0, CAUSE_SELF, COPY, 30);
    assert_cause(&found, 1, CAUSE_SELF, READ, -30);
    free_found(&found);
}

static void preemption_is_one_cause(void **state)
{
    struct context_tree tree = context_tree_new(SUBJECT);
    ADD(&tree, CONTEXT_A, {0, SUBJECT, 100}, {1, READ, 40}, {1, COPY, 40});
    ADD(&tree, CONTEXT_B, {0, SUBJECT, 170}, {1, READ, 80}, {2, PREEMPTED, 40}, {1, COPY, 70},
        {2, PREEMPTED, 10}, {2, PREEMPTED, 20});
    struct found found = find_differences(tree, 5);
    assert_int_equal(found.causes.count, 1);
    assert_cause(&found, 0, CAUSE_OUTSIDE, PREEMPTED, 70);
    assert_int_equal(cause_at(&found, 0)->sides[CONTEXT_B].calls, 3);
    free_found(&found);
}

/* Of a cause outside of the program, the calls are those of the function that left it. */
static void calls_of_what_waits(void **state)
{
    struct context_tree tree = context_tree_new(SUBJECT);
    ADD(&tree, CONTEXT_A, {0, SUBJECT, 100}, {1, READ, 40}, {1, READ, 40});
    ADD(&tree, CONTEXT_B, {0, SUBJECT, 150}, {1, READ, 90}, {2, SYSCALL, 50}, {1, READ, 40});
    struct found found = find_differences(tree, 5);
    assert_int_equal(found.causes.count, 1);
    assert_cause(&found, 0, CAUSE_OUTSIDE, SYSCALL, 50);
    for (int side = 0; side < CONTEXT_SIDES; side++)
        assert_int_equal(cause_at(&found, 0)->sides[side].calls, 2);
    free_found(&found);
}

/* ---- random trees ---- */

static uint64_t next_random(uint64_t *random, uint64_t limit)
{
    *random = *random * UINT64_C(6364136223846793005) + 1442695040888963407;
    return (*random >> 33) % limit;
}

static void add_random(struct context_tree *tree, enum context_side side, uint64_t *random,
                       uint32_t depth, uint32_t group, uint64_t length)
{
    const struct call_place place = {.span = {.end = length, .depth = depth}};
    context_tree_enter(tree, depth, group, &place, side);
    for (uint64_t left = length; depth < 7 && left > 1;) {
        uint64_t part = next_random(random, left);
        left -= part + 1;
        if (next_random(random, 2))
            add_random(tree, side, random, depth + 1, (uint32_t)next_random(random, GROUPS), part);
    }
}

static void causes_add_up(void **state)
{
    for (uint64_t seed = 1; seed <= 2000; seed++) {
        uint64_t random = seed;
        struct context_tree tree = context_tree_new(SUBJECT);
        double sums[CONTEXT_SIDES] = {0};
        for (int side = 0; side < CONTEXT_SIDES; side++)
            for (uint64_t calls = 1 + next_random(&random, 5); calls > 0; calls--) {
                uint64_t length = next_random(&random, 2000);
                sums[side] += (double)length;
                context_tree_begin_call(&tree, side);
                add_random(&tree, side, &random, 0, SUBJECT, length);
            }
        double scale = (double)tree.calls[CONTEXT_SLOW] / (double)tree.calls[CONTEXT_USUAL];
        struct found found =
            seed % 2 ? find_causes(tree, 1 + seed % 9) : find_differences(tree, 1 + seed % 9);
        assert_float_equal(found.extra, sums[CONTEXT_SLOW] - scale * sums[CONTEXT_USUAL], 1e-6);
        double sum = 0;
        for (size_t i = 0; i < found.causes.count; i++)
            sum += cause_at(&found, i)->extra;
        assert_float_equal(sum, found.extra, 1e-6);
        assert_true(found.causes.count <= 2 + seed % 9);
        free_found(&found);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_the_slow_call_has_a_child),
        cmocka_unit_test(a_child_is_called_more_often),
        cmocka_unit_test(one_call_of_many_takes_longer),
        cmocka_unit_test(time_outside_of_the_program),
        cmocka_unit_test(recursion_is_folded),
        cmocka_unit_test(several_places_are_one_cause),
        cmocka_unit_test(what_is_saved_comes_last),
        cmocka_unit_test(what_goes_against_the_whole_comes_last),
        cmocka_unit_test(what_comes_first_is_never_left_out),
        cmocka_unit_test(spread_over_what_a_library_calls),
        cmocka_unit_test(a_loop_of_steps_does_more),
        cmocka_unit_test(a_short_list_has_a_rest),
        cmocka_unit_test(an_interpreter_calls_itself_more_often),
        cmocka_unit_test(more_calls_that_each_take_longer),
        cmocka_unit_test(more_calls_on_other_paths),
        cmocka_unit_test(differences_that_cancel_out),
        cmocka_unit_test(preemption_is_one_cause),
        cmocka_unit_test(calls_of_what_waits),
        cmocka_unit_test(causes_add_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
