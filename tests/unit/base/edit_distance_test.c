#include "base/edit_distance.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static const char *nearest_command(const char *wanted)
{
    static const char *const commands[] = {"run", "decode", "report", "doctor", "version", "help"};
    struct nearest nearest = nearest_to(wanted);
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        nearest_offer(&nearest, commands[i]);
    return nearest.names[0];
}

static void one_wrong_letter_is_forgiven(void **state)
{
    (void)state;
    assert_string_equal(nearest_command("rum"), "run");
    assert_string_equal(nearest_command("runn"), "run");
    assert_string_equal(nearest_command("rn"), "run");
    assert_string_equal(nearest_command("rnu"), "run");
}

static void longer_names_may_have_more_errors(void **state)
{
    (void)state;
    assert_string_equal(nearest_command("repotr"), "report");
    assert_string_equal(nearest_command("decoed"), "decode");
    assert_string_equal(nearest_command("verison"), "version");
    assert_string_equal(nearest_command("dokter"), "doctor");
}

static void strangers_are_near_to_nothing(void **state)
{
    (void)state;
    assert_null(nearest_command("xyz"));
    assert_null(nearest_command("attach"));
    assert_null(nearest_command(
        "a-word-that-is-longer-than-any-command-or-option-could-ever-reasonably-be"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_wrong_letter_is_forgiven),
        cmocka_unit_test(longer_names_may_have_more_errors),
        cmocka_unit_test(strangers_are_near_to_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
