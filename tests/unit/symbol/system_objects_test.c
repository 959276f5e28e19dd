/* Every function that the system's own libraries and programs name resolves to itself. */
#include "symbol_fixture.h"

#include <elf.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

struct named_function {
    uint64_t start, size;
    char name[4096];
};

/* One line of `readelf --wide --dyn-syms --syms`: "Num: Value Size Type Bind Vis Ndx Name" */
static bool parse_function(const char *line, struct named_function *function)
{
    char size[32], type[16], binding[16], section[16];
    if (sscanf(line, " %*d: %" SCNx64 " %31s %15s %15s %*s %15s %4095s", &function->start, size,
               type, binding, section, function->name) != 6 ||
        (strcmp(type, "FUNC") != 0 && strcmp(type, "IFUNC") != 0) || strcmp(section, "UND") == 0)
        return false;
    function->size = strtoull(size, NULL, 0);
    function->name[strcspn(function->name, "@")] = 0;
    return true;
}

/* Several names can be at one start; whichever was chosen, its function starts there. */
static void check_function(struct symbol_fixture *fixture, const struct named_function *named)
{
    struct function_bounds at_start = symbol_fixture_find(fixture, 0, named->start);
    const struct function *function = symbols_function(fixture->symbols, at_start.function);
    if (!function->symbol)
        fail_msg("%s at %" PRIx64 " is nameless: %s", named->name, named->start, function->name);
    bool cold = strstr(named->name, ".cold") != NULL;
    if (!cold && function->start != named->start)
        fail_msg("%s at %" PRIx64 " is %s of %" PRIx64, named->name, named->start, function->name,
                 function->start);
    if (named->size == 0)
        return;
    /* Another function may begin inside of it (glibc's memcpy variants do). */
    struct function_bounds at_end = symbol_fixture_find(fixture, 0, named->start + named->size - 1);
    if (at_end.function != at_start.function && at_end.start <= named->start)
        fail_msg("last byte of %s is in %s", named->name,
                 symbols_function(fixture->symbols, at_end.function)->name);
}

static void check_object(const char *path)
{
    if (access(path, R_OK) != 0) {
        print_message("%s: not on this machine\n", path);
        return;
    }
    struct symbol_fixture fixture;
    symbol_fixture_open(&fixture, (const char *const[]){path, NULL});
    char command[512];
    snprintf(command, sizeof command, "readelf --wide --dyn-syms --syms %s", path);
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    char *line = NULL;
    size_t capacity = 0, count = 0;
    struct named_function named;
    while (getline(&line, &capacity, pipe) > 0)
        if (parse_function(line, &named)) {
            check_function(&fixture, &named);
            count++;
        }
    free(line);
    pclose(pipe);
    print_message("%s: %zu functions\n", path, count);
    symbol_fixture_close(&fixture);
}

static void libc_functions_resolve_to_themselves(void **state)
{
    check_object("/lib/x86_64-linux-gnu/libc.so.6");
}

static void dynamic_linker_functions_resolve_to_themselves(void **state)
{
    check_object("/lib64/ld-linux-x86-64.so.2");
}

static void libstdcxx_functions_resolve_to_themselves(void **state)
{
    check_object("/usr/lib/x86_64-linux-gnu/libstdc++.so.6");
}

static void python_functions_resolve_to_themselves(void **state)
{
    check_object("/usr/bin/python3");
}

static void xz_functions_resolve_to_themselves(void **state)
{
    check_object("/usr/bin/xz");
}

static void this_test_resolves_to_itself(void **state)
{
    char path[512] = {0};
    assert_true(readlink("/proc/self/exe", path, sizeof path - 1) > 0);
    check_object(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(libc_functions_resolve_to_themselves),
        cmocka_unit_test(dynamic_linker_functions_resolve_to_themselves),
        cmocka_unit_test(libstdcxx_functions_resolve_to_themselves),
        cmocka_unit_test(python_functions_resolve_to_themselves),
        cmocka_unit_test(xz_functions_resolve_to_themselves),
        cmocka_unit_test(this_test_resolves_to_itself),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
