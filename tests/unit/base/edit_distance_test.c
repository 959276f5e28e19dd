#include "base/edit_distance.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static const char *closest_command(const char *wanted)
{
    static const char *const commands[] = {"run", "decode", "report", "doctor", "version", "help"};
    struct closest_names closest = closest_names_to(wanted);
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        closest_names_offer(&closest, commands[i]);
    return closest.names[0];
}

static void one_wrong_letter_is_forgiven(void **state)
{
    (void)state;
    assert_string_equal(closest_command("rum"), "run");
    assert_string_equal(closest_command("runn"), "run");
    assert_string_equal(closest_command("rn"), "run");
    assert_string_equal(closest_command("rnu"), "run");
}

static void longer_names_may_have_more_errors(void **state)
{
    (void)state;
    assert_string_equal(closest_command("repotr"), "report");
    assert_string_equal(closest_command("decoed"), "decode");
    assert_string_equal(closest_command("verison"), "version");
    assert_string_equal(closest_command("dokter"), "doctor");
}

static void strangers_are_near_to_nothing(void **state)
{
    (void)state;
    assert_null(closest_command("xyz"));
    assert_null(closest_command("attach"));
    assert_null(closest_command(
        "a-word-that-is-longer-than-any-command-or-option-could-ever-reasonably-be"));
}

/* Two letters that changed places count as one error: as much as a wrong letter, so that the first
 * offered wins, and less than two of them. */
static void letters_that_changed_places_are_one_error(void **state)
{
    (void)state;
    struct closest_names closest = closest_names_to("form");
    closest_names_offer(&closest, "fxym");
    closest_names_offer(&closest, "from");
    assert_string_equal(closest.names[0], "from");
    closest = closest_names_to("form");
    closest_names_offer(&closest, "fork");
    closest_names_offer(&closest, "from");
    assert_string_equal(closest.names[0], "fork");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_wrong_letter_is_forgiven),
        cmocka_unit_test(longer_names_may_have_more_errors),
        cmocka_unit_test(strangers_are_near_to_nothing),
        cmocka_unit_test(letters_that_changed_places_are_one_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
