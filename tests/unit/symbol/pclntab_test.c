/* Go's table of functions and lines: of each version made by hand, and of programs that Go made. */
#include "symbol_fixture.h"

#include "base/memory.h"
#include "symbol/dwarf/inlined_search.h"
#include "symbol/dwarf/line_search.h"
#include "symbol/function_list.h"
#include "symbol/object.h"

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

/* ---- Lines and inlined calls ---- */

/* An object by itself. */
struct opened_object {
    struct arena memory;
    struct image_file file;
    struct object *object;
};

static void opened_object_open(struct opened_object *opened, const char *path)
{
    *opened = (struct opened_object){.file = {.path = path, .local_path = path}};
    assert_true(image_file_open(&opened->file, &opened->memory, NULL));
    opened->object = object_open(&opened->file);
}

static void opened_object_close(struct opened_object *opened)
{
    object_close(opened->object);
    image_file_close(&opened->file);
    arena_free(&opened->memory);
}

static void check_line(struct opened_object *opened, uint64_t address, const char *file,
                       uint32_t line)
{
    struct source_line found =
        object_line(opened->object, address, SOURCE_ROW_LAST, &opened->memory);
    assert_non_null(found.file);
    assert_string_equal(found.file, file);
    assert_int_equal(found.line, line);
}

static void test_lines(void **state)
{
    for (size_t i = 0; i < VERSIONS; i++) {
        uint64_t handler;
        char *path = make_program(*state, versions[i], "-static -fno-pic", &handler);
        struct opened_object opened;
        opened_object_open(&opened, path);
        check_line(&opened, handler, "/src/main.go", 10);
        check_line(&opened, handler + 15, "/src/main.go", 10);
        check_line(&opened, handler + 16, "/src/other.go", 20);
        check_line(&opened, handler + 47, "/src/main.go", 11);
        check_line(&opened, handler + HANDLER_SIZE, "/src/main.go", 30);
        assert_null(object_line(opened.object, handler - 1, SOURCE_ROW_LAST, &opened.memory).file);
        opened_object_close(&opened);
        free(path);
    }
}

static void check_inlined(const struct inlined_code *code, uint64_t address, const char *symbol,
                          const char *caller_file, uint32_t caller_line, const char *outer)
{
    const struct inlined_run *run =
        inlined_runs_find(code->runs.elements, code->runs.count, address);
    assert_non_null(run);
    if (!symbol) {
        assert_int_equal(run->innermost, 0);
        return;
    }
    const struct inlined_call *call = array_at(&code->calls, run->innermost);
    const struct inlined_nesting *nesting = array_at(&code->nesting, run->innermost);
    assert_string_equal(call->symbol, symbol);
    assert_string_equal(call->file, caller_file);
    assert_int_equal(call->line, caller_line);
    assert_int_equal(nesting->depth, outer ? 2 : 1);
    assert_int_equal(nesting->entry, address);
    if (outer)
        assert_string_equal(
            ((struct inlined_call *)array_at(&code->calls, nesting->parent))->symbol, outer);
}

static void test_inlined(void **state)
{
    static const char *const options[] = {"-static -fno-pic", "-shared -fPIC"};
    for (size_t i = 0; i < 2 * VERSIONS; i++) {
        uint64_t handler;
        int version = versions[i / 2];
        char *path = make_program(*state, version, options[i % 2], &handler);
        struct opened_object opened;
        opened_object_open(&opened, path);
        struct inlined_code code =
            object_inlined_code(opened.object, handler, handler + HANDLER_SIZE);
        if (version == 102) {
            assert_int_equal(code.runs.count, 0);
        } else {
            check_inlined(&code, handler, NULL, NULL, 0, NULL);
            check_inlined(&code, handler + 16, "main.middle", "/src/main.go", 10, NULL);
            check_inlined(&code, handler + 24, "main.small", "/src/other.go", 20, "main.middle");
            check_inlined(&code, handler + 32, NULL, NULL, 0, NULL);
        }
        assert_false(opened.object->inlined_units.damaged);
        inlined_code_free(&code);
        opened_object_close(&opened);
        free(path);
    }
}

static void test_searches(void **state)
{
    uint64_t handler;
    char *path = make_program(*state, 118, "-static -fno-pic", &handler);
    struct array places = array_of(sizeof(struct code_place));
    struct array lines = array_of(sizeof(uint32_t));
    struct error error;
    const struct searched_line wanted = {"main.go", 11, 0}, missing = {"main.go", 12, 0};
    assert_true(line_search(path, &wanted, &places, &error));
    assert_int_equal(places.count, 1);
    assert_int_equal(((struct code_place *)array_at(&places, 0))->address, handler + 32);
    assert_false(line_search(path, &missing, &places, &error));
    assert_non_null(strstr(error.text, "11 and 30"));
    places.count = 0;
    assert_true(inlined_search(path, "main.small", &places, &error));
    assert_int_equal(places.count, 1);
    assert_int_equal(((struct code_place *)array_at(&places, 0))->address, handler + 24);
    assert_true(line_search_lines(path, "main.go", &lines, &error));
    assert_int_equal(lines.count, 3);
    array_free(&places);
    array_free(&lines);
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

/* Whether `stripped` is what the linker writes for `name`: it leaves type arguments out, and up to Go
 * 1.19 the lengths of arrays in names of types. */
static bool is_same_name(const char *name, const char *stripped)
{
    const char *open = strchr(name, '['), *close = strrchr(name, ']');
    if (strcmp(name, stripped) == 0 || !open || !close || close < open)
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

struct agreement {
    size_t same, total;
};

static bool is_same_line(const struct source_line *a, const struct source_line *b)
{
    return a->line == b->line && (a->line == 0 || strcmp(a->file, b->file) == 0);
}

/* Whether what is inlined at `address` is the same. */
static bool is_same_chain(const struct inlined_code *a, const struct inlined_code *b,
                          uint64_t address)
{
    const struct inlined_run *left = inlined_runs_find(a->runs.elements, a->runs.count, address);
    const struct inlined_run *right = inlined_runs_find(b->runs.elements, b->runs.count, address);
    inlined_index i = left ? left->innermost : 0, j = right ? right->innermost : 0;
    while (i != 0 && j != 0) {
        const struct inlined_call *one = array_at(&a->calls, i), *other = array_at(&b->calls, j);
        if (!is_same_name(one->symbol, other->symbol) || one->line != other->line)
            return false;
        i = ((struct inlined_nesting *)array_at(&a->nesting, i))->parent;
        j = ((struct inlined_nesting *)array_at(&b->nesting, j))->parent;
    }
    return i == j;
}

/* At each byte of the program's functions. */
static void compare_lines(const struct go_program *program, struct agreement *lines,
                          struct agreement *inlined)
{
    struct opened_object full, stripped;
    opened_object_open(&full, program->full);
    opened_object_open(&stripped, program->stripped);
    const struct symbol_table *table = &full.object->table;
    for (uint32_t i = 0; i < table->range_count; i++) {
        const struct table_range *range = &table->ranges[i];
        if (!table->functions[range->function].symbol)
            continue;
        struct inlined_code one = object_inlined_code(full.object, range->start, range->end);
        struct inlined_code other = object_inlined_code(stripped.object, range->start, range->end);
        for (uint64_t at = range->start; at < range->end; at++) {
            struct source_line by_dwarf =
                object_line(full.object, at, SOURCE_ROW_LAST, &full.memory);
            struct source_line by_go =
                object_line(stripped.object, at, SOURCE_ROW_LAST, &stripped.memory);
            lines->total++;
            inlined->total++;
            lines->same += is_same_line(&by_dwarf, &by_go);
            inlined->same += is_same_chain(&one, &other, at);
        }
        inlined_code_free(&one);
        inlined_code_free(&other);
    }
    opened_object_close(&full);
    opened_object_close(&stripped);
}

static void test_go_lines(void **state)
{
    char *go = find_go();
    if (!go)
        skip();
    struct go_program program = build_go(*state, go, "");
    struct agreement lines = {0}, inlined = {0};
    compare_lines(&program, &lines, &inlined);
    /* Go's compiler writes the tables by different passes: some twenty addresses differ by a row. */
    assert_true(lines.total - lines.same <= lines.total / 1000);
    /* Go's DWARF leaves out what is inlined into wrappers of methods. */
    assert_true(inlined.total - inlined.same <= inlined.total / 1000);
    go_program_free(&program);
    free(go);
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
        cmocka_unit_test_setup_teardown(test_lines, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_inlined, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_searches, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_go_names, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_go_lines, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
