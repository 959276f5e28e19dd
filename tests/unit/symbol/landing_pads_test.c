/* Where exceptions go on: checked against what the unwinder itself does while programs run. */
#include "symbol_fixture.h"

#include "base/file.h"
#include "base/memory.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* SOURCES, the folder of this file, comes from meson.build. */

static int set_up(void **state)
{
    *state = make_test_folder();
    run_command("cd %s && gcc -O1 -fpic -shared %s/landing_pad_log.c -o log.so -ldl",
                (char *)*state, SOURCES);
    return 0;
}

static int tear_down(void **state)
{
    remove_test_folder(*state);
    return 0;
}

static void skip_without(const char *compiler)
{
    char *path = file_find_program(compiler);
    if (!path) {
        print_message("skipped: there is no %s here\n", compiler);
        skip();
    }
    free(path);
}

/* Compares every line of the program's log that speaks of `object`; returns how many. */
static unsigned compare_log(struct symbol_fixture *fixture, const char *log, const char *object)
{
    FILE *file = fopen(log, "r");
    assert_non_null(file);
    char line[4096], path[4096];
    unsigned count = 0;
    while (fgets(line, sizeof line, file)) {
        uint64_t return_address, pad;
        if (sscanf(line, "PAD %4095s %" SCNx64 " %" SCNx64, path, &return_address, &pad) != 3 ||
            strcmp(path, object) != 0)
            continue;
        count++;
        if (symbol_fixture_landing_pad(fixture, 0, return_address) != pad)
            fail_msg("%s: %#" PRIx64 " goes on at %#" PRIx64 ", not %#" PRIx64, object,
                     return_address, pad, symbol_fixture_landing_pad(fixture, 0, return_address));
    }
    fclose(file);
    return count;
}

/* What happens in `object` of the folder when `program` runs. */
static void check_object(const char *folder, const char *program, const char *object_name,
                         unsigned at_least)
{
    run_command("cd %s && LD_PRELOAD=./log.so LD_LIBRARY_PATH=%s %s/%s > output 2> log", folder,
                folder, folder, program);
    char *object = memory_format("%s/%s", folder, object_name);
    char *log = memory_format("%s/log", folder);
    struct symbol_fixture fixture;
    symbol_fixture_open(&fixture, (const char *const[]){object, NULL});
    unsigned count = compare_log(&fixture, log, object);
    if (count < at_least)
        fail_msg("only %u exceptions went on in %s", count, object);
    symbol_fixture_close(&fixture);
    free(log);
    free(object);
}

static void check_program(const char *folder, const char *compiler, const char *options)
{
    skip_without(compiler);
    run_command("cd %s && %s %s %s/landing_pad_program.cpp -o program", folder, compiler, options,
                SOURCES);
    check_object(folder, "program", "program", 30);
}

static void without_optimisation(void **state)
{
    check_program(*state, "g++", "-O0 -fpie -pie");
}

static void with_cold_parts(void **state)
{
    check_program(*state, "g++", "-O2 -fpie -pie");
    char *cold = command_line_output("nm %s/program | grep -c '\\.cold'", (char *)*state);
    assert_non_null(cold);
    assert_true(atoi(cold) > 0);
    free(cold);
}

static void at_fixed_addresses(void **state)
{
    check_program(*state, "g++", "-O2 -fno-pie -no-pie");
}

static void in_the_large_model(void **state)
{
    check_program(*state, "g++", "-O1 -mcmodel=large -fno-pie -no-pie");
}

static void in_a_stripped_program(void **state)
{
    check_program(*state, "g++", "-O2 -s");
}

static void from_clang(void **state)
{
    check_program(*state, "clang++", "-O2");
}

static void from_clang_in_the_large_model(void **state)
{
    check_program(*state, "clang++", "-O1 -mcmodel=large");
}

static void in_a_shared_object(void **state)
{
    const char *folder = *state;
    skip_without("g++");
    run_command(
        "cd %s && g++ -O2 -fpic -shared -Dmain=start %s/landing_pad_program.cpp -o libpads.so "
        "&& echo 'int start(); int main() { start(); }' | "
        "g++ -x c++ - -o user -L. -lpads",
        folder, SOURCES);
    check_object(folder, "user", "libpads.so", 30);
}

static void from_rust(void **state)
{
    const char *folder = *state;
    skip_without("rustc");
    for (int level = 0; level <= 2; level += 2) {
        run_command("cd %s && rustc -C opt-level=%d %s/landing_pad_program.rs -o program", folder,
                    level, SOURCES);
        check_object(folder, "program", "program", 15);
    }
}

static void nothing_catches_in_plain_functions(void **state)
{
    const char *folder = *state;
    check_program(folder, "g++", "-O0");
    char *program = memory_format("%s/program", folder);
    struct symbol_fixture fixture;
    symbol_fixture_open(&fixture, (const char *const[]){program, NULL});
    uint64_t plain = symbol_value(program, "_Z5plaini"), leaf = symbol_value(program, "_Z4leafi");
    for (uint64_t address = plain; address < plain + 16; address++)
        assert_int_equal(symbol_fixture_landing_pad(&fixture, 0, address), 0);
    assert_int_equal(symbols_landing_pad(fixture.symbols, NULL, leaf), 0);
    assert_int_equal(symbols_landing_pad(fixture.symbols, NULL, 0), 0);
    symbol_fixture_close(&fixture);
    free(program);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(without_optimisation, set_up, tear_down),
        cmocka_unit_test_setup_teardown(with_cold_parts, set_up, tear_down),
        cmocka_unit_test_setup_teardown(at_fixed_addresses, set_up, tear_down),
        cmocka_unit_test_setup_teardown(in_the_large_model, set_up, tear_down),
        cmocka_unit_test_setup_teardown(in_a_stripped_program, set_up, tear_down),
        cmocka_unit_test_setup_teardown(from_clang, set_up, tear_down),
        cmocka_unit_test_setup_teardown(from_clang_in_the_large_model, set_up, tear_down),
        cmocka_unit_test_setup_teardown(in_a_shared_object, set_up, tear_down),
        cmocka_unit_test_setup_teardown(from_rust, set_up, tear_down),
        cmocka_unit_test_setup_teardown(nothing_catches_in_plain_functions, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
