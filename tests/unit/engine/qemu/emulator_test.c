/* The words that start a program under qemu. */
#include "engine/qemu/emulator.h"

#include "engine/engine.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include <cmocka.h>

static void expect_words(char *const *words, const char *const *expected)
{
    for (; *expected; words++, expected++)
        assert_string_equal(*words, *expected);
    assert_null(*words);
}

static void expect_command(uint32_t clock, const char *const *expected)
{
    struct qemu_options options = {
        .clock = clock, .qemu = "/bin/qemu-x86_64", .plugin = "/a,b/p.so"};
    char *arguments[] = {"prog", "x,y", NULL};
    struct program program = {.path = "./prog", .arguments = arguments};
    char **words = qemu_arguments(&options, "/d,/e", &program);
    expect_words(words, expected);
    qemu_free_arguments(words);
}

static void commas_are_doubled_for_qemu_only(void **state)
{
    struct rlimit limit;
    getrlimit(RLIMIT_STACK, &limit);
    limit.rlim_cur = 4 << 20;
    setrlimit(RLIMIT_STACK, &limit);
    expect_command(RECORD_CLOCK_DEFAULT,
                   (const char *[]){"/bin/qemu-x86_64", "-L", "/", "-s", "4194304", "-plugin",
                                    "file=/a,,b/p.so,dir=/d,,/e", "-0", "prog", "./prog", "x,y",
                                    NULL});
}

static void the_instruction_clock_fixes_the_seed(void **state)
{
    struct rlimit limit;
    getrlimit(RLIMIT_STACK, &limit);
    limit.rlim_cur = 4 << 20;
    setrlimit(RLIMIT_STACK, &limit);
    expect_command(RECORD_CLOCK_INSTRUCTIONS,
                   (const char *[]){"/bin/qemu-x86_64", "-L", "/", "-s", "4194304", "-seed", "1",
                                    "-plugin", "file=/a,,b/p.so,dir=/d,,/e", "-0", "prog", "./prog",
                                    "x,y", NULL});
}

static void the_environment_is_given_backwards(void **state)
{
    clearenv();
    setenv("A", "1", 1);
    setenv("B", "2", 1);
    setenv("C", "3", 1);
    char **environment = qemu_environment();
    expect_words(environment, (const char *[]){"C=3", "B=2", "A=1", NULL});
    free(environment);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(commas_are_doubled_for_qemu_only),
        cmocka_unit_test(the_instruction_clock_fixes_the_seed),
        cmocka_unit_test(the_environment_is_given_backwards),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
