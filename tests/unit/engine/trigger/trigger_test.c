#include "engine/trigger/trigger.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* This test program itself, built with -g, is the object. */
static const char *object;

int trigger_test_function(int value);

__attribute__((noinline)) int trigger_test_function(int value)
{
    __asm__ volatile("" : "+r"(value));
    return value + 1;
}

static bool find(struct trigger *trigger, const char *text, struct error *error)
{
    *trigger = (struct trigger){0};
    return trigger_find(trigger, text, &object, 1, error);
}

static void a_function_by_its_name(void **state)
{
    (void)state;
    struct trigger trigger, again;
    struct error error = {0};
    assert_true(find(&trigger, "trigger_test_function", &error));
    assert_int_equal(trigger.place_count, 1);
    assert_string_equal(trigger.name, "trigger_test_function");
    assert_false(trigger.passes_time);
    assert_true(trigger.places[0].path[0] == '/');
    assert_true(find(&again, "symbol:trigger_test_function", &error));
    assert_int_equal(again.places[0].address, trigger.places[0].address);
    trigger_free(&again);
    char address[64];
    snprintf(address, sizeof address, "addr:0x%llx", (unsigned long long)trigger.places[0].address);
    assert_true(find(&again, address, &error));
    assert_int_equal(again.places[0].file_offset, trigger.places[0].file_offset);
    trigger_free(&again);
    trigger_free(&trigger);
    assert_int_equal(trigger_test_function(1), 2);
}

static void a_line_by_the_end_of_its_path(void **state)
{
    (void)state;
    struct trigger trigger;
    struct error error = {0};
    assert_true(find(&trigger, "trigger/trigger_test.c:20", &error));
    assert_string_equal(trigger.name, "trigger/trigger_test.c:20");
    trigger_free(&trigger);
    assert_false(find(&trigger, "gger/trigger_test.c:20", &error));
    assert_int_equal(error.code, ERROR_NOT_FOUND);
    assert_false(find(&trigger, "line:trigger_test.c:1", &error));
    assert_non_null(strstr(error.text, "nearest line"));
}

static void wrong_names_suggest_the_nearest(void **state)
{
    (void)state;
    struct trigger trigger;
    struct error error = {0};
    assert_false(find(&trigger, "trigger_test_funktion", &error));
    assert_int_equal(error.code, ERROR_NOT_FOUND);
    assert_non_null(strstr(error.text, "Did you mean trigger_test_function"));
    assert_null(trigger.name);
    assert_false(find(&trigger, ".", &error));
    assert_non_null(strstr(error.text, "libmagic_trace"));
}

static void what_makes_no_sense_is_a_usage_error(void **state)
{
    (void)state;
    static const char *const wrong[] = {"",        "symbol:", "line:x",    "line:x:0",
                                        "addr:12", "addr:0x", "addr:0x12z"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct trigger trigger;
        struct error error = {0};
        assert_false(find(&trigger, wrong[i], &error));
        assert_int_equal(error.code, ERROR_USAGE);
    }
}

static void an_address_without_code_is_not_found(void **state)
{
    (void)state;
    struct trigger trigger;
    struct error error = {0};
    assert_false(find(&trigger, "addr:0x1", &error));
    assert_int_equal(error.code, ERROR_NOT_FOUND);
}

int main(int argc, char **argv)
{
    object = argv[0];
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_function_by_its_name),
        cmocka_unit_test(a_line_by_the_end_of_its_path),
        cmocka_unit_test(wrong_names_suggest_the_nearest),
        cmocka_unit_test(what_makes_no_sense_is_a_usage_error),
        cmocka_unit_test(an_address_without_code_is_not_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
