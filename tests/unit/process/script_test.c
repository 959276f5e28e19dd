/* The first line of scripts, read by the kernel's rules. */
#include "process/script.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static bool parse(struct script_line *line, const char *start)
{
    unsigned char head[SCRIPT_HEAD_SIZE] = {0};
    size_t length = strlen(start);
    memcpy(head, start, length < sizeof head ? length : sizeof head);
    return script_line_parse(line, head);
}

static void expect(const char *start, const char *interpreter, const char *argument)
{
    struct script_line line;
    assert_true(parse(&line, start));
    assert_string_equal(line.interpreter, interpreter);
    if (argument)
        assert_string_equal(line.argument, argument);
    else
        assert_null(line.argument);
}

static void interpreter_and_its_one_argument(void **state)
{
    expect("#!/bin/sh\necho", "/bin/sh", NULL);
    expect("#! \t/bin/sh \t \n", "/bin/sh", NULL);
    expect("#!/usr/bin/env python3 -u  \nx", "/usr/bin/env", "python3 -u");
    expect("#!/bin/sh", "/bin/sh", NULL);
    expect("#!/bin/sh\r\n", "/bin/sh\r", NULL);
}

static void no_interpreter_is_no_script(void **state)
{
    struct script_line line;
    assert_false(parse(&line, "#!\n/bin/sh"));
    assert_false(parse(&line, "#!   \n"));
    assert_false(parse(&line, "#!"));
    assert_false(parse(&line, "echo"));
    assert_false(parse(&line, ""));
}

static void only_the_first_256_bytes_count(void **state)
{
    char start[300];
    struct script_line line;
    memset(start, 'x', sizeof start);
    memcpy(start, "#!/", 3);
    start[sizeof start - 1] = 0;
    assert_false(parse(&line, start)); /* the interpreter's name may have been cut off */

    start[10] = ' ';
    assert_true(parse(&line, start)); /* the argument is cut off, which the kernel allows */
    assert_string_equal(line.interpreter, "/xxxxxxx");
    assert_int_equal(strlen(line.argument), SCRIPT_HEAD_SIZE - 1 - 11);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(interpreter_and_its_one_argument),
        cmocka_unit_test(no_interpreter_is_no_script),
        cmocka_unit_test(only_the_first_256_bytes_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
