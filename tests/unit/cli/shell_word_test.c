#include "cli/options/shell_word.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

static void assert_word(const char *text, const char *expected)
{
    char *word = shell_word(text);
    assert_string_equal(word, expected);
    free(word);
}

static void plain_names_stay_as_they_are(void **state)
{
    (void)state;
    assert_word("trace.fxt.gz", "trace.fxt.gz");
    assert_word("/tmp/a-b_c,d+1:2@x%", "/tmp/a-b_c,d+1:2@x%");
    assert_word("\xc3\xa9t\xc3\xa9", "\xc3\xa9t\xc3\xa9");
}

static void what_a_shell_would_change_is_quoted(void **state)
{
    (void)state;
    assert_word("", "''");
    assert_word("a b", "'a b'");
    assert_word("a\nb", "'a\nb'");
    assert_word("$HOME", "'$HOME'");
    assert_word("~", "'~'");
    assert_word("it's", "'it'\\''s'");
    assert_word("''", "''\\'''\\'''");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_names_stay_as_they_are),
        cmocka_unit_test(what_a_shell_would_change_is_quoted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
