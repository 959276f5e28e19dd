/* Go's table of functions and lines: of each version made by hand, and of programs that Go made. */
#include "symbol_fixture.h"

#include "base/memory.h"
#include "symbol/function_list.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { HANDLER_SIZE = 48, LEAF_SIZE = 16 };

static const int versions[] = {102, 116, 118, 120};
enum { VERSIONS = sizeof versions / sizeof versions[0] };

static int set_up(void **state)
{
    *state = make_test_folder();
    return 0;
}

static int tear_down(void **state)
{
    remove_test_folder(*state);
    return 0;
}

/* A program with a table of that version, without symbols; *handler is where its first function begins. */
static char *make_program(const char *folder, int version, const char *options, uint64_t *handler)
{
    char *path = memory_format("%s/go_%d", folder, version);
    run_command("cc -DVERSION=%d %s -nostdlib -Wl,--build-id=none -o %s " SOURCES
                "/pclntab_program.S",
                version, options, path);
    *handler = symbol_value(path, "handler");
    run_command("strip -s %s", path);
    return path;
}

static void check_names(const char *path, uint64_t handler)
{
    struct symbol_fixture fixture;
    symbol_fixture_open(&fixture, (const char *const[]){path, NULL});
    struct function_bounds bounds = symbol_fixture_find(&fixture, 0, handler + 20);
    const struct function *function = symbols_function(fixture.symbols, bounds.function);
    assert_string_equal(function->name, "main.handler");
    assert_int_equal(function->start, handler);
    assert_int_equal(function->end, handler + HANDLER_SIZE);
    assert_string_equal(symbol_fixture_name(&fixture, 0, handler + HANDLER_SIZE),
                        "main.Map[...].func1");
    assert_string_not_equal(symbol_fixture_name(&fixture, 0, handler - 1), "main.handler");
    symbol_fixture_close(&fixture);
}

static void test_names(void **state)
{
    for (size_t i = 0; i < VERSIONS; i++) {
        uint64_t handler;
        char *path = make_program(*state, versions[i], "-static -fno-pic", &handler);
        check_names(path, handler);
        free(path);
    }
}

/* The linker leaves pointers to the loader, and the table has no section of its own. */
static void test_position_independent(void **state)
{
    for (size_t i = 0; i < VERSIONS; i++) {
        uint64_t handler;
        char *path = make_program(*state, versions[i], "-shared -fPIC", &handler);
        check_names(path, handler);
        free(path);
    }
}

/* e_shoff, e_shnum and e_shstrndx of the ELF header. */
static void remove_section_headers(const char *path)
{
    FILE *file = fopen(path, "r+b");
    static const char zeros[8];
    assert_non_null(file);
    fseek(file, 0x28, SEEK_SET);
    fwrite(zeros, 8, 1, file);
    fseek(file, 0x3c, SEEK_SET);
    fwrite(zeros, 4, 1, file);
    fclose(file);
}

static void test_without_section_headers(void **state)
{
    for (size_t i = 0; i < VERSIONS; i++) {
        uint64_t handler;
        char *path = make_program(*state, versions[i], "-static -fno-pic", &handler);
        remove_section_headers(path);
        check_names(path, handler);
        free(path);
    }
}

static void test_list_of_functions(void **state)
{
    uint64_t handler;
    char *path = make_program(*state, 120, "-static -fno-pic", &handler);
    struct function_list list;
    assert_true(function_list_open(&list, path, NULL));
    assert_int_equal(list.functions.count, 2);
    const struct listed_function *first = array_at(&list.functions, 0);
    assert_string_equal(first->symbol, "main.handler");
    assert_int_equal(first->address, handler);
    function_list_close(&list);
    free(path);
}

/* What a symbol table names counts. */
static void test_symbols_first(void **state)
{
    char *path = memory_format("%s/unstripped", (char *)*state);
    run_command("cc -DVERSION=118 -static -fno-pic -nostdlib -o %s " SOURCES "/pclntab_program.S",
                path);
    struct symbol_fixture fixture;
    uint64_t handler = symbol_value(path, "handler");
    symbol_fixture_open(&fixture, (const char *const[]){path, NULL});
    assert_string_equal(symbol_fixture_name(&fixture, 0, handler), "handler");
    symbol_fixture_close(&fixture);
    free(path);
}

/* ---- Programs that Go made ---- */

static const char go_source[] =
    "package main\n"
    "type pair struct { a string; b int }\n"
    "type named interface { name() string }\n"
    "func (p *pair) name() string { return p.a }\n"
    "func Map[T, U any](in []T, f func(T) U) []U {\n"
    "    var out []U\n"
    "    for _, x := range in { out = append(out, f(x)) }\n"
    "    return out\n"
    "}\n"
    "func small(x int) int { return x*3 + 1 }\n"
    "//go:noinline\n"
    "func handler(n int) int {\n"
    "    total := 0\n"
    "    for i := 0; i < n; i++ { total += small(i) }\n"
    "    return total\n"
    "}\n"
    "func main() {\n"
    "    done := make(chan int)\n"
    "    go func() { done <- handler(9) }()\n"
    "    values := map[pair]int{{\"a\", 1}: <-done}\n"
    "    var n named = &pair{\"b\", len(values)}\n"
    "    get := n.name\n"
    "    println(len(Map([]int{1, 2}, func(i int) string { return get() })))\n"
    "}\n";

/* The go command; NULL: none is installed. */
static char *find_go(void)
{
    return command_line_output("command -v go || ls /usr/lib/go-*/bin/go 2>/dev/null || true");
}

struct go_program {
    char *full, *stripped;
};

static struct go_program build_go(const char *folder, const char *go, const char *mode)
{
    char *source = memory_format("%s/main.go", folder);
    FILE *file = fopen(source, "w");
    assert_non_null(file);
    fputs(go_source, file);
    fclose(file);
    struct go_program program = {memory_format("%s/full", folder),
                                 memory_format("%s/stripped", folder)};
    const char *build = "cd %s && HOME=%s GOFLAGS=-mod=mod GOTOOLCHAIN=local %s build %s -o %s "
                        "main.go";
    run_command(build, folder, folder, go, mode, program.full);
    char *options = memory_format("%s -ldflags '-s -w'", mode);
    run_command(build, folder, folder, go, options, program.stripped);
    free(options);
    free(source);
    return program;
}

static void go_program_free(struct go_program *program)
{
    free(program->full);
    free(program->stripped);
}

/* Whether `stripped` is what the linker writes for `name`: it leaves type arguments out. */
static bool is_same_name(const char *name, const char *stripped)
{
    const char *open = strchr(name, '['), *close = strrchr(name, ']');
    if (!open || !close || close < open)
        return strcmp(name, stripped) == 0;
    char *left_out = memory_format("%.*s[...]%s", (int)(open - name), name, close + 1);
    bool is_same = strcmp(left_out, stripped) == 0;
    free(left_out);
    return is_same;
}

/* All functions of the program have the same names and beginnings when it is stripped. */
static void compare_names(const struct go_program *program)
{
    struct function_list full, stripped;
    assert_true(function_list_open(&full, program->full, NULL));
    assert_true(function_list_open(&stripped, program->stripped, NULL));
    assert_true(stripped.functions.count > 1000);
    size_t next = 0;
    for (size_t i = 0; i < stripped.functions.count; i++) {
        const struct listed_function *function = array_at(&stripped.functions, i);
        const struct listed_function *named = NULL;
        bool found = false;
        for (; next < full.functions.count; next++) {
            named = array_at(&full.functions, next);
            if (named->address > function->address)
                break;
            found |=
                named->address == function->address && is_same_name(named->name, function->name);
        }
        if (!found)
            fail_msg("%s is %s", function->name, named ? named->name : "unknown");
    }
    function_list_close(&full);
    function_list_close(&stripped);
}

static void test_go_names(void **state)
{
    static const char *const modes[] = {"", "-buildmode=pie"};
    char *go = find_go();
    if (!go)
        skip();
    for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++) {
        struct go_program program = build_go(*state, go, modes[i]);
        compare_names(&program);
        go_program_free(&program);
    }
    free(go);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_names, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_position_independent, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_without_section_headers, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_list_of_functions, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_symbols_first, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_go_names, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
