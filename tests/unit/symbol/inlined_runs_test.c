/* The rule by which short runs of interleaved code are merged. A run is written as in
 * `start-end:call`, with an m if no statement begins in it; calls are those of the table: 1 and 2
 * in the function, 3 inside of 1. Jumps are written as in `from-target`, an `!` after those that control always takes:
 * they are two bytes long. Elsewhere control continues with the next instruction.
 */
#include "symbol/dwarf/inlined_runs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { FUNCTION, FIRST, SECOND, INSIDE, CALLS };

/* Where they begin: 1 at 100, 2 at 200, 3 at 104. */
static const struct inlined_nesting calls[CALLS] = {
    [FIRST] = {FUNCTION, 1, 100},
    [SECOND] = {FUNCTION, 1, 200},
    [INSIDE] = {FIRST, 2, 104},
};

static struct array read_runs(const char *text)
{
    struct array runs = array_of(sizeof(struct inlined_run));
    unsigned long start, end;
    unsigned call;
    int length;
    while (sscanf(text, " %lu-%lu:%u%n", &start, &end, &call, &length) == 3) {
        text += length;
        *(struct inlined_run *)array_add(&runs) =
            (struct inlined_run){start, end, call, .is_moved = *text == 'm'};
        text += *text == 'm';
    }
    return runs;
}

static int by_target(const void *left, const void *right)
{
    const struct code_jump *a = left, *b = right;
    return (a->target > b->target) - (a->target < b->target);
}

static struct code_flow read_jumps(const char *text)
{
    struct code_flow flow = {array_of(sizeof(struct code_jump)), array_of(sizeof(struct code_end))};
    unsigned long from, target;
    int length;
    while (sscanf(text, " %lu-%lu%n", &from, &target, &length) == 2) {
        text += length;
        *(struct code_jump *)array_add(&flow.jumps) = (struct code_jump){target, from};
        if (*text == '!')
            *(struct code_end *)array_add(&flow.ends) =
                (struct code_end){from + 2, from + 2, target};
        text += *text == '!';
    }
    if (flow.jumps.count > 0)
        qsort(flow.jumps.elements, flow.jumps.count, sizeof(struct code_jump), by_target);
    return flow;
}

static void assert_merged_with(const char *before, const char *jumps, const char *after)
{
    struct array runs = read_runs(before);
    struct code_flow flow = read_jumps(jumps);
    char text[512] = "";
    inlined_runs_merge(&runs, calls, &flow);
    code_flow_free(&flow);
    for (size_t i = 0; i < runs.count; i++) {
        const struct inlined_run *run = array_at(&runs, i);
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s%lu-%lu:%u%s", i ? " " : "",
                 (unsigned long)run->start, (unsigned long)run->end, run->innermost,
                 run->is_moved ? "m" : "");
    }
    assert_string_equal(text, after);
    array_free(&runs);
}

static void assert_merged(const char *before, const char *after)
{
    assert_merged_with(before, "", after);
}

static void a_few_instructions_of_the_caller_are_part_of_the_call(void **state)
{
    assert_merged("0-100:0 100-110:1 110-114:0 114-130:1 130-180:0", "0-100:0 100-130:1 130-180:0");
    assert_merged("0-100:0 100-110:1 110-127:0 127-150:1 150-180:0",
                  "0-100:0 100-110:1 110-127:0 127-150:1 150-180:0");
}

static void where_a_call_begins_it_begins_again(void **state)
{
    /* A loop: the caller's counter is in front of the call's first instruction. */
    assert_merged("90-96:1 96-100:0 100-130:1 130-180:0", "90-96:1 96-100:0 100-130:1 130-180:0");
}

static void a_moved_instruction_of_a_call_is_part_of_the_caller(void **state)
{
    assert_merged("0-60:0 60-64:1 64-100:0 100-130:1 130-180:0", "0-100:0 100-130:1 130-180:0");
}

static void moved_code_of_a_call_is_part_of_the_caller_however_long(void **state)
{
    /* An invariant of call 2's loop before call 1, as gcc 14 places it, with padding after it. */
    assert_merged("0-60:0 60-90:2m 90-100:0 100-130:1 130-180:0 180-230:2",
                  "0-100:0 100-130:1 130-180:0 180-230:2");
    assert_merged("0-60:0 60-90:2 90-180:0", "0-60:0 60-90:2 90-180:0");
    /* A part of call 2 next to the rest of it, and its very beginning. */
    assert_merged("0-60:0 60-90:3m 90-130:1 130-180:0", "0-60:0 60-90:3m 90-130:1 130-180:0");
    assert_merged("0-190:0 190-220:2m 220-240:0", "0-190:0 190-220:2m 220-240:0");
}

static void moved_code_of_the_caller_stays_its_own(void **state)
{
    assert_merged("100-120:1 120-150:0m 150-170:1", "100-120:1 120-150:0m 150-170:1");
}

static void a_short_call_remains(void **state)
{
    assert_merged("0-100:0 100-102:1 102-180:0", "0-100:0 100-102:1 102-180:0");
    assert_merged("100-104:1 104-106:3 106-130:1", "100-104:1 104-106:3 106-130:1");
}

static void calls_that_are_interleaved_are_taken_apart(void **state)
{
    assert_merged("100-120:1 120-124:2 124-140:1 140-200:0 200-230:2",
                  "100-140:1 140-200:0 200-230:2");
}

static void a_part_of_a_call_next_to_the_rest_stays(void **state)
{
    /* A block of call 1 that was moved away from its beginning, with a call inside. */
    assert_merged("0-60:0 60-64:1 64-90:3 90-95:0", "0-60:0 60-64:1 64-90:3 90-95:0");
}

static void callers_code_is_given_before_calls_lose_theirs(void **state)
{
    assert_merged("0-40:0 40-44:1 44-47:0 47-70:3 70-80:1 80-90:0",
                  "0-40:0 40-47:1 47-70:3 70-80:1 80-90:0");
}

static void a_part_of_a_call_elsewhere_stays_a_part(void **state)
{
    /* A rare case of call 1 lies between other functions' code: call 1 jumps there, and it jumps back. */
    assert_merged_with("0-100:0 100-130:1 130-180:0 180-190:1 190-220:0", "178-0! 188-120! 110-180",
                       "0-100:0 100-130:1 130-180:0 180-190:1 190-220:0");
    /* The same of call 3, of which only call 1 runs before and after. */
    assert_merged_with("0-100:0 100-130:1 130-180:0 180-190:3 190-220:0", "178-0! 188-120! 110-180",
                       "0-100:0 100-130:1 130-180:0 180-190:1 190-220:0");
}

static void a_part_of_the_caller_elsewhere_stays_its_own(void **state)
{
    assert_merged_with("0-100:0 100-120:1 120-130:0 130-150:1 150-180:0", "118-160! 128-0! 40-120",
                       "0-100:0 100-120:1 120-130:0 130-150:1 150-180:0");
}

static void parts_that_only_lie_next_to_each_other_are_two(void **state)
{
    assert_merged_with("0-100:0 100-130:1 130-150:2 150-180:0 180-230:2", "40-136 134-110!",
                       "0-100:0 100-136:1 136-180:0 180-230:2");
}

static void where_nothing_is_known_to_come_from_nothing_is_merged(void **state)
{
    assert_merged_with("0-100:0 100-130:1 130-180:0 180-190:1 190-220:0", "178-0!",
                       "0-100:0 100-130:1 130-180:0 180-190:1 190-220:0");
}

static void runs_are_found(void **state)
{
    struct array runs = read_runs("10-20:1 20-25:0");
    assert_null(inlined_runs_find(runs.elements, runs.count, 9));
    assert_int_equal(inlined_runs_find(runs.elements, runs.count, 10)->innermost, 1);
    assert_int_equal(inlined_runs_find(runs.elements, runs.count, 24)->innermost, 0);
    assert_null(inlined_runs_find(runs.elements, runs.count, 25));
    assert_null(inlined_runs_find(NULL, 0, 25));
    array_free(&runs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_few_instructions_of_the_caller_are_part_of_the_call),
        cmocka_unit_test(where_a_call_begins_it_begins_again),
        cmocka_unit_test(a_moved_instruction_of_a_call_is_part_of_the_caller),
        cmocka_unit_test(moved_code_of_a_call_is_part_of_the_caller_however_long),
        cmocka_unit_test(moved_code_of_the_caller_stays_its_own),
        cmocka_unit_test(a_short_call_remains),
        cmocka_unit_test(calls_that_are_interleaved_are_taken_apart),
        cmocka_unit_test(a_part_of_a_call_next_to_the_rest_stays),
        cmocka_unit_test(callers_code_is_given_before_calls_lose_theirs),
        cmocka_unit_test(a_part_of_a_call_elsewhere_stays_a_part),
        cmocka_unit_test(a_part_of_the_caller_elsewhere_stays_its_own),
        cmocka_unit_test(parts_that_only_lie_next_to_each_other_are_two),
        cmocka_unit_test(where_nothing_is_known_to_come_from_nothing_is_merged),
        cmocka_unit_test(runs_are_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
