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

/* 10, 1 and 1 bytes. */
__asm__(".text\n"
        ".type trigger_test_bytes, @function\n"
        "trigger_test_bytes: movabs $0x1234567890abcdef, %rax\n"
        "nop\n"
        "ret\n"
        ".size trigger_test_bytes, . - trigger_test_bytes\n");

/* Functions of C++ with what compilers make of them: a cold part, clones, parts of a coroutine, instances. */
#define NAMED_FUNCTION(name, symbol)                                                               \
    int name(void) __asm__(symbol);                                                                \
    __attribute__((noinline, used)) int name(void)                                                 \
    {                                                                                              \
        __asm__ volatile("");                                                                      \
        return __LINE__;                                                                           \
    }

/* clang-format off */
NAMED_FUNCTION(req, "_Z3reqi")
NAMED_FUNCTION(req_cold, "_Z3reqi.cold")
NAMED_FUNCTION(req_constprop, "_Z3reqi.constprop.0")
NAMED_FUNCTION(nat, "_Z3nati")
NAMED_FUNCTION(nat_actor, "_Z3natPZ3natiE13_Z3nati.Frame.actor")
NAMED_FUNCTION(nat_destroy, "_Z3natPZ3natiE13_Z3nati.Frame.destroy")
NAMED_FUNCTION(only_constprop, "_Z4onlyi.constprop.0")
NAMED_FUNCTION(only_cold, "_Z4onlyi.constprop.0.cold")
NAMED_FUNCTION(twice_int, "_ZN1n5twiceIiEET_S1_")
NAMED_FUNCTION(twice_double, "_ZN1n5twiceIdEET_S1_")
/* clang-format on */

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

static void assert_finds(const char *text, int (*const *functions)(void), size_t count,
                         const char *name)
{
    struct trigger trigger, plain;
    struct error error = {0};
    assert_true(find(&plain, "trigger_test_function", &error));
    if (!find(&trigger, text, &error))
        fail_msg("%s: %s", text, error.text);
    assert_string_equal(trigger.name, name);
    assert_true(trigger.is_function);
    assert_int_equal(trigger.place_count, count);
    uint64_t bias = (uint64_t)(uintptr_t)trigger_test_function - plain.places[0].address;
    for (size_t i = 0; i < count; i++) {
        bool found = false;
        for (size_t j = 0; j < count; j++)
            found |= trigger.places[j].address + bias == (uint64_t)(uintptr_t)functions[i];
        assert_true(found);
    }
    trigger_free(&plain);
    trigger_free(&trigger);
}

static void a_plain_name_means_the_function_itself(void **state)
{
    (void)state;
    assert_finds("req", (int (*const[])(void)){req}, 1, "req(int)");
    assert_finds("req(int)", (int (*const[])(void)){req}, 1, "req(int)");
    assert_finds("nat", (int (*const[])(void)){nat}, 1, "nat(int)");
    assert_finds("req(int) [clone .constprop.0]", (int (*const[])(void)){req_constprop}, 1,
                 "req(int) [clone .constprop.0]");
    assert_finds("_Z3natPZ3natiE13_Z3nati.Frame.actor", (int (*const[])(void)){nat_actor}, 1,
                 "nat(nat(int)::_Z3nati.Frame*) [clone .actor]");
}

static void a_plain_name_means_a_clone_without_a_function(void **state)
{
    (void)state;
    assert_finds("only", (int (*const[])(void)){only_constprop}, 1,
                 "only(int) [clone .constprop.0]");
    assert_finds("only(int)", (int (*const[])(void)){only_constprop}, 1,
                 "only(int) [clone .constprop.0]");
}

static void a_cold_part_is_no_function(void **state)
{
    (void)state;
    struct trigger trigger;
    struct error error = {0};
    assert_true(find(&trigger, "_Z3reqi.cold", &error));
    assert_false(trigger.is_function);
    trigger_free(&trigger);
}

static void a_template_without_its_type_and_arguments(void **state)
{
    (void)state;
    int (*const instances[])(void) = {twice_int, twice_double};
    assert_finds("n::twice", instances, 2, "n::twice");
    assert_finds("n::twice<>", instances, 2, "n::twice<>");
    assert_finds("n::twice<int>", instances, 1, "int n::twice<int>(int)");
    assert_finds("n::twice<int>(int)", instances, 1, "int n::twice<int>(int)");
    struct trigger trigger;
    struct error error = {0};
    assert_false(find(&trigger, "n::twoce", &error));
    assert_non_null(strstr(error.text, "Did you mean n::twice?"));
}

static void a_column_without_code_names_those_with_code(void **state)
{
    (void)state;
    struct trigger trigger;
    struct error error = {0};
    assert_false(find(&trigger, "trigger_test.c:20:99", &error));
    assert_non_null(strstr(error.text, "which has code at column"));
    assert_null(strstr(error.text, "nearest"));
}

static void the_middle_of_an_instruction_is_refused(void **state)
{
    (void)state;
    struct trigger trigger, again;
    struct error error = {0};
    assert_true(find(&trigger, "trigger_test_bytes", &error));
    for (unsigned i = 0; i < 12; i++) {
        char address[64];
        snprintf(address, sizeof address, "addr:0x%llx",
                 (unsigned long long)trigger.places[0].address + i);
        bool found = find(&again, address, &error);
        assert_int_equal(found, i % 10 == 0 || i == 11);
        if (found)
            trigger_free(&again);
        else
            assert_non_null(
                strstr(error.text, "in the middle of an instruction of trigger_test_bytes"));
    }
    trigger_free(&trigger);
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
        cmocka_unit_test(a_plain_name_means_the_function_itself),
        cmocka_unit_test(a_plain_name_means_a_clone_without_a_function),
        cmocka_unit_test(a_cold_part_is_no_function),
        cmocka_unit_test(a_template_without_its_type_and_arguments),
        cmocka_unit_test(a_column_without_code_names_those_with_code),
        cmocka_unit_test(the_middle_of_an_instruction_is_refused),
        cmocka_unit_test(what_makes_no_sense_is_a_usage_error),
        cmocka_unit_test(an_address_without_code_is_not_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
