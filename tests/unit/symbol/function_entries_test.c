/* The functions of units, as every entry says that libdw is asked about. */
#include "symbol/dwarf/function_entries.h"
#include "symbol_fixture.h"

#include "base/memory.h"

#include <dwarf.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

static const char source[] =
    "struct pair { long first; double second; struct pair *next; enum { A, B = 70000 } kind; };\n"
    "static inline int half(int x) { return x / 2; }\n"
    "int twice(struct pair *pair) { return half(pair->kind) * 2; }\n"
    "int outer(int x) { int inner(int y) { return x + half(y); } int z = x; return inner(z) * z; "
    "}\n"
    "__attribute__((cold)) void rare(void) { __builtin_trap(); }\n"
    "int split(int x) { if (__builtin_expect(x, 0)) { rare(); } return half(x); }\n";

static const char classes[] =
    "namespace space { template <int N> struct Box { int values[N]; int sum() const { int s = 0;\n"
    "for (int v : values) s += v; return s; } }; }\n"
    "int total(const space::Box<5> &box) { struct Local { static __attribute__((noinline)) int "
    "f(int x)\n"
    "{ return x * 3; } }; auto add = [](int x) __attribute__((noinline)) { return x + 1; };\n"
    "return Local::f(box.sum()) + add(2); }\n";

/* Adds all ranges of functions at any depth. */
static void ask_libdw(Dwarf_Die *parent, struct array *functions)
{
    Dwarf_Die entry;
    Dwarf_Addr base, start, end;
    if (dwarf_child(parent, &entry) != 0)
        return;
    do {
        if (dwarf_tag(&entry) == DW_TAG_subprogram)
            for (ptrdiff_t next = 0; (next = dwarf_ranges(&entry, next, &base, &start, &end)) > 0;)
                *(struct function_entry *)array_add(functions) = (struct function_entry){
                    .start = start, .end = end, .offset = dwarf_dieoffset(&entry)};
        ask_libdw(&entry, functions);
    } while (dwarf_siblingof(&entry, &entry) == 0);
}

static bool has(const struct array *functions, const struct function_entry *wanted)
{
    for (size_t i = function_entries_find(functions, wanted->start); i < functions->count; i++) {
        const struct function_entry *function = array_at(functions, i);
        if (function->start == wanted->start && function->end == wanted->end &&
            function->offset == wanted->offset)
            return true;
    }
    return false;
}

static size_t check_unit(Dwarf *debug, Dwarf_Die *unit)
{
    struct array expected = array_of(sizeof(struct function_entry));
    struct array functions = array_of(sizeof(struct function_entry));
    ask_libdw(unit, &expected);
    assert_true(function_entries_list(debug, unit, &functions));
    assert_int_equal(functions.count, expected.count);
    for (size_t i = 0; i < expected.count; i++)
        assert_true(has(&functions, array_at(&expected, i)));
    size_t count = functions.count;
    array_free(&expected);
    array_free(&functions);
    return count;
}

/* Gives how many ranges the functions of all units have. */
static size_t check_file(const char *path)
{
    int file = open(path, O_RDONLY | O_CLOEXEC);
    assert_true(file >= 0);
    Dwarf *debug = dwarf_begin(file, DWARF_C_READ);
    assert_non_null(debug);
    Dwarf_CU *unit = NULL;
    Dwarf_Die die;
    size_t count = 0;
    while (dwarf_get_units(debug, unit, &unit, NULL, NULL, &die, NULL) == 0)
        if (dwarf_tag(&die) == DW_TAG_compile_unit) /* the others have no code */
            count += check_unit(debug, &die);
    dwarf_end(debug);
    close(file);
    return count;
}

static void check_built(const char *folder, const char *compiler, const char *options)
{
    run_command("cd %s && %s %s -c program.* -o object && %s -shared -nostdlib object -o library",
                folder, compiler, options, compiler);
    char *path = memory_format("%s/library", folder);
    assert_true(check_file(path) >= 4);
    free(path);
}

static void put_source(const char *folder, const char *name, const char *text)
{
    char *path = memory_format("%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
    free(path);
}

/* Forms differ by version, producer and level of optimization. */
static void every_version_of_dwarf(void **state)
{
    put_source(*state, "program.c", source);
    static const char *const options[] = {"-fPIC -O0 -gdwarf-2 -gno-strict-dwarf",
                                          "-fPIC -O2 -gdwarf-3",
                                          "-fPIC -O2 -gdwarf-4 -gz=none",
                                          "-fPIC -O2 -gdwarf-5",
                                          "-fPIC -O3 -gdwarf-5 -g3 -ffunction-sections",
                                          "-fPIC -O2 -gdwarf64 -gdwarf-5"};
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        check_built(*state, "gcc", options[i]);
}

static void classes_and_local_functions(void **state)
{
    put_source(*state, "program.cpp", classes);
    check_built(*state, "g++", "-fPIC -O0 -gdwarf-5");
    check_built(*state, "g++", "-fPIC -O0 -gdwarf-4 -fdebug-types-section");
    check_built(*state, "clang++", "-fPIC -O0 -gdwarf-5");
    check_built(*state, "clang++", "-fPIC -O0 -gdwarf-4");
}

/* The unit's length is cut in half: entries end in the middle of one. */
static void unit_that_ends_early_is_damage(void **state)
{
    put_source(*state, "program.c", source);
    run_command(
        "cd %s && gcc -fPIC -O2 -gdwarf-5 -gz=none -shared -nostdlib program.c -o library && "
        "objcopy --dump-section .debug_info=info library && "
        "length=$(od -An -tu4 -N4 info) && half=$((length / 2)) && "
        "printf \"\\\\$(printf %%o $((half %% 256)))\\\\$(printf %%o $((half / 256)))\" | "
        "dd of=info bs=1 conv=notrunc status=none && "
        "objcopy --update-section .debug_info=info library",
        (const char *)*state);
    char *path = memory_format("%s/library", (const char *)*state);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    Dwarf *debug = dwarf_begin(file, DWARF_C_READ);
    assert_non_null(debug);
    Dwarf_CU *unit = NULL;
    Dwarf_Die die;
    assert_int_equal(dwarf_get_units(debug, unit, &unit, NULL, NULL, &die, NULL), 0);
    struct array functions = array_of(sizeof(struct function_entry));
    assert_false(function_entries_list(debug, &die, &functions));
    array_free(&functions);
    dwarf_end(debug);
    close(file);
    free(path);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make_folder, remove_folder)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(every_version_of_dwarf),
        TEST(classes_and_local_functions),
        TEST(unit_that_ends_early_is_damage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
