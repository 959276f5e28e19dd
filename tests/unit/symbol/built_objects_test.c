/* Objects built here, in all the ways that objects come: what they name is found, and nothing else.
 */
#include "symbol_fixture.h"

#include "base/memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char c_source[] = "#include <stdio.h>\n"
                               "#include <stdlib.h>\n"
                               "\n"
                               "__attribute__((noinline)) int twice(int x)\n"
                               "{\n"
                               "    return 2 * x;\n"
                               "}\n"
                               "\n"
                               "static __attribute__((noinline)) int hidden(int x)\n"
                               "{\n"
                               "    return twice(x) + getpagesize();\n"
                               "}\n"
                               "\n"
                               "__attribute__((weak, alias(\"twice\"))) int _twice(int x);\n"
                               "\n"
                               "int main(int argc, char **argv)\n"
                               "{\n"
                               "    puts(argv[0]);\n"
                               "    return hidden(argc);\n"
                               "}\n";

/* Each test has a folder with program.c in it. */
static int set_up(void **state)
{
    char *folder = make_test_folder();
    char *path = memory_format("%s/program.c", folder);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs("int getpagesize(void);\n#line 1\n", file);
    fputs(c_source, file);
    fclose(file);
    free(path);
    *state = folder;
    return 0;
}

static int tear_down(void **state)
{
    remove_test_folder(*state);
    return 0;
}

static void write_source(const char *folder, const char *name, const char *text)
{
    char *path = memory_format("%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
    free(path);
}

static void check_line(struct symbol_fixture *fixture, uint64_t address, const char *file_name,
                       uint32_t line)
{
    function_id id = symbol_fixture_find(fixture, 0, address).function;
    struct source_line source = symbols_line(fixture->symbols, id);
    assert_non_null(source.file);
    const char *slash = strrchr(source.file, '/');
    assert_non_null(slash);
    assert_string_equal(slash + 1, file_name);
    assert_int_equal(source.line, line);
}

/* Functions, a static one, an alias, and lines, in `program` built by `build`. */
static void check_program(const char *folder, const char *build)
{
    run_command("cd %s && %s", folder, build);
    char *program = memory_format("%s/program", folder);
    struct symbol_fixture fixture;
    symbol_fixture_open(&fixture, (const char *const[]){program, NULL});
    uint64_t twice = symbol_value(program, "twice"), hidden = symbol_value(program, "hidden");
    assert_string_equal(symbol_fixture_name(&fixture, 0, twice), "twice");
    assert_string_equal(symbol_fixture_name(&fixture, 0, hidden), "hidden");
    assert_string_equal(symbol_fixture_name(&fixture, 0, hidden + 1), "hidden");
    assert_string_equal(symbol_fixture_name(&fixture, 0, symbol_value(program, "main")), "main");
    check_line(&fixture, twice, "program.c", 5);
    check_line(&fixture, hidden, "program.c", 10);
    symbol_fixture_close(&fixture);
    free(program);
}

static void position_independent_program(void **state)
{
    check_program(*state, "gcc -O1 -g -fpie -pie program.c -o program");
}

static void fixed_address_program(void **state)
{
    check_program(*state, "gcc -O1 -g -no-pie program.c -o program");
}

static void static_program(void **state)
{
    check_program(*state, "gcc -O1 -g -static program.c -o program");
}

static void static_position_independent_program(void **state)
{
    check_program(*state, "gcc -O1 -g -static-pie program.c -o program");
}

static void shared_object(void **state)
{
    check_program(*state, "gcc -O1 -g -fpic -shared program.c -o program");
}

static void dwarf_4_and_compressed_sections(void **state)
{
    check_program(*state, "gcc -O1 -gdwarf-4 -gz program.c -o program");
}

/* Without optimization: newer versions begin a function without a prologue at its first statement. */
static void program_from_clang(void **state)
{
    check_program(*state, "clang -O0 -g program.c -o program");
}

/* `whole` stripped, and what was stripped in a debug file below `place` that `objcopy_options`
 * change. */
static void check_debug_file_in(const char *folder, const char *place, const char *objcopy_options)
{
    run_command("cd %s && gcc -O1 -g -Wl,--build-id=none program.c -o whole && mkdir -p %s && "
                "objcopy --only-keep-debug %s whole %s/program.debug && "
                "objcopy --strip-all --add-gnu-debuglink=%s/program.debug whole program",
                folder, place, objcopy_options, place, place);
    char *whole = memory_format("%s/whole", folder), *program = memory_format("%s/program", folder);
    struct symbol_fixture fixture;
    symbol_fixture_open(&fixture, (const char *const[]){program, NULL});
    uint64_t hidden = symbol_value(whole, "hidden");
    assert_string_equal(symbol_fixture_name(&fixture, 0, hidden), "hidden");
    check_line(&fixture, hidden, "program.c", 10);
    symbol_fixture_close(&fixture);
    free(program);
    free(whole);
}

static void check_separate_debug_file(const char *folder, const char *objcopy_options)
{
    check_debug_file_in(folder, ".debug", objcopy_options);
}

static void separate_debug_file_by_link(void **state)
{
    check_separate_debug_file(*state, "");
}

static void debug_file_beside_the_object(void **state)
{
    check_debug_file_in(*state, ".", "");
}

static void compressed_separate_debug_file(void **state)
{
    check_separate_debug_file(*state, "--compress-debug-sections=zlib");
}

static void compressed_lines_without_debug_info_section(void **state)
{
    check_separate_debug_file(*state, "--compress-debug-sections=zlib "
                                      "--remove-section=.debug_info "
                                      "--remove-section=.debug_abbrev "
                                      "--remove-section=.debug_aranges "
                                      "--remove-section=.debug_rnglists");
}

/* The middle of each compressed section becomes something else. */
static void damaged_compressed_sections_have_no_lines(void **state)
{
    const char *folder = *state;
    run_command(
        "cd %s && gcc -O1 -g -gz program.c -o program && "
        "readelf -SW program | sed -n 's/^ *\\[ *[0-9]*\\] \\.debug_[a-z_]* *PROGBITS *[0-9a-f]* "
        "\\([0-9a-f]*\\) .*/\\1/p' | while read at; do printf XXXXXXXX | dd of=program bs=1 "
        "seek=$((0x$at + 40)) conv=notrunc status=none; done",
        folder);
    char *program = memory_format("%s/program", folder);
    struct symbol_fixture fixture;
    symbol_fixture_open(&fixture, (const char *const[]){program, NULL});
    function_id id = symbol_fixture_find(&fixture, 0, symbol_value(program, "hidden")).function;
    assert_string_equal(symbols_function(fixture.symbols, id)->name, "hidden");
    assert_null(symbols_line(fixture.symbols, id).file);
    symbol_fixture_close(&fixture);
    free(program);
}

static void debug_file_with_wrong_checksum_is_not_used(void **state)
{
    const char *folder = *state;
    run_command("cd %s && gcc -O1 -g -Wl,--build-id=none program.c -o whole && mkdir .debug && "
                "objcopy --only-keep-debug whole .debug/program.debug && "
                "objcopy --strip-all --add-gnu-debuglink=.debug/program.debug whole program && "
                "printf x >> .debug/program.debug",
                folder);
    char *whole = memory_format("%s/whole", folder), *program = memory_format("%s/program", folder);
    struct symbol_fixture fixture;
    symbol_fixture_open(&fixture, (const char *const[]){program, NULL});
    uint64_t hidden = symbol_value(whole, "hidden");
    assert_string_not_equal(symbol_fixture_name(&fixture, 0, hidden), "hidden");
    symbol_fixture_close(&fixture);
    free(program);
    free(whole);
}

static void lines_without_debug_info_section(void **state)
{
    const char *folder = *state;
    run_command("cd %s && gcc -O1 -g program.c -o whole && objcopy --remove-section=.debug_info "
                "--remove-section=.debug_abbrev --remove-section=.debug_aranges "
                "--remove-section=.debug_rnglists whole program",
                folder);
    char *program = memory_format("%s/program", folder);
    struct symbol_fixture fixture;
    symbol_fixture_open(&fixture, (const char *const[]){program, NULL});
    check_line(&fixture, symbol_value(program, "hidden"), "program.c", 10);
    symbol_fixture_close(&fixture);
    free(program);
}

static void stripped_object_is_bounded_by_its_frames(void **state)
{
    const char *folder = *state;
    run_command("cd %s && gcc -O1 program.c -o whole && strip -o program whole", folder);
    char *whole = memory_format("%s/whole", folder), *program = memory_format("%s/program", folder);
    struct symbol_fixture fixture;
    symbol_fixture_open(&fixture, (const char *const[]){program, NULL});
    uint64_t twice = symbol_value(whole, "twice"), hidden = symbol_value(whole, "hidden");
    char *expected = memory_format("program+0x%llx", (unsigned long long)hidden);
    assert_string_equal(symbol_fixture_name(&fixture, 0, hidden + 1), expected);
    assert_int_equal(symbol_fixture_find(&fixture, 0, hidden + 1).start, hidden);
    assert_int_not_equal(symbol_fixture_find(&fixture, 0, hidden).function,
                         symbol_fixture_find(&fixture, 0, twice).function);
    free(expected);
    symbol_fixture_close(&fixture);
    free(program);
    free(whole);
}

/* Whether `program`, of `whole`, still names the exported `twice` and the static `hidden`. */
static void check_names_left(const char *folder, bool has_hidden)
{
    char *whole = memory_format("%s/whole", folder), *program = memory_format("%s/program", folder);
    struct symbol_fixture fixture;
    symbol_fixture_open(&fixture, (const char *const[]){program, NULL});
    uint64_t twice = symbol_value(whole, "twice"), hidden = symbol_value(whole, "hidden");
    assert_string_equal(symbol_fixture_name(&fixture, 0, twice), "twice");
    assert_int_equal(strcmp(symbol_fixture_name(&fixture, 0, hidden), "hidden") == 0, has_hidden);
    symbol_fixture_close(&fixture);
    free(program);
    free(whole);
}

static void stripped_object_names_what_it_exports(void **state)
{
    const char *folder = *state;
    run_command("cd %s && gcc -O1 -rdynamic program.c -o whole && strip -o program whole", folder);
    check_names_left(folder, false);
}

/* As Fedora's packages come: .dynsym, and in .gnu_debugdata what it does not have. */
static void minimal_debug_data_adds_to_what_is_exported(void **state)
{
    const char *folder = *state;
    run_command(
        "cd %s && gcc -O1 -rdynamic program.c -o whole && "
        "objcopy --strip-all --keep-symbol=hidden whole few && "
        "xz -f few && objcopy --strip-all --add-section .gnu_debugdata=few.xz whole program",
        folder);
    check_names_left(folder, true);
}

static void names_lost_from_the_static_table_are_found_where_they_are_exported(void **state)
{
    const char *folder = *state;
    run_command("cd %s && gcc -O1 -rdynamic program.c -o whole && "
                "objcopy --strip-symbol=twice --strip-symbol=_twice whole program",
                folder);
    check_names_left(folder, true);
}

/* As glibc writes its restorer: the description begins one byte before it. */
static void restorer_without_a_symbol_begins_after_its_frame(void **state)
{
    const char *folder = *state;
    write_source(folder, "restorer.S",
                 ".text\n.balign 16, 0x90\n.skip 15, 0x90\n"
                 ".cfi_startproc\n.cfi_signal_frame\nnop\n"
                 "restorer: mov $15, %rax\nsyscall\n.cfi_endproc\n");
    run_command("cd %s && gcc -shared -nostdlib restorer.S -o whole.so && "
                "strip -o restorer.so --strip-all whole.so",
                folder);
    char *whole = memory_format("%s/whole.so", folder);
    char *stripped = memory_format("%s/restorer.so", folder);
    uint64_t restorer = symbol_value(whole, "restorer");
    struct symbol_fixture fixture;
    symbol_fixture_open(&fixture, (const char *const[]){stripped, NULL});
    assert_int_equal(symbol_fixture_find(&fixture, 0, restorer + 2).start, restorer);
    symbol_fixture_close(&fixture);
    free(whole);
    free(stripped);
}

/* The slots that objdump names are named the same. */
static void check_plt(const char *folder, const char *build)
{
    run_command("cd %s && %s", folder, build);
    char *program = memory_format("%s/program", folder);
    struct symbol_fixture fixture;
    symbol_fixture_open(&fixture, (const char *const[]){program, NULL});
    for (int i = 0; i < 2; i++) {
        static const char *const names[] = {"puts@plt", "getpagesize@plt"};
        char *line = command_line_output("objdump -d %s | sed -n 's/^\\([0-9a-f]*\\) <%s>:/\\1/p'",
                                         program, names[i]);
        if (!line)
            fail_msg("objdump finds no %s", names[i]);
        uint64_t address = strtoull(line, NULL, 16);
        free(line);
        assert_string_equal(symbol_fixture_name(&fixture, 0, address), names[i]);
        assert_string_equal(symbol_fixture_name(&fixture, 0, address + 5), names[i]);
        assert_int_equal(symbol_fixture_find(&fixture, 0, address + 5).start, address);
    }
    symbol_fixture_close(&fixture);
    free(program);
}

static void lazy_plt(void **state)
{
    check_plt(*state, "gcc -O1 -Wl,-z,lazy program.c -o program");
}

static void eager_plt(void **state)
{
    check_plt(*state, "gcc -O1 -Wl,-z,now program.c -o program");
}

static void plt_with_branch_tracking(void **state)
{
    check_plt(*state, "gcc -O1 -fcf-protection -Wl,-z,lazy,-z,ibtplt program.c -o program");
}

/* Debian 13 has it in a package of its own. */
static void plt_of_gold(void **state)
{
    if (system("command -v ld.gold > /dev/null") != 0)
        skip();
    check_plt(*state, "gcc -O1 -fuse-ld=gold program.c -o program");
}

/* objdump takes each of lld's slots for one of a layout that it knows, so look where the calls go.
 */
static void plt_of_lld(void **state)
{
    const char *folder = *state;
    if (system("command -v ld.lld > /dev/null") != 0)
        skip();
    run_command("cd %s && clang -O1 -fuse-ld=lld program.c -o program", folder);
    char *program = memory_format("%s/program", folder);
    char *line = command_line_output(
        "objdump -d --disassemble=main %s | sed -n 's/.*call *\\([0-9a-f]*\\).*/\\1/p'", program);
    assert_non_null(line);
    struct symbol_fixture fixture;
    symbol_fixture_open(&fixture, (const char *const[]){program, NULL});
    assert_string_equal(symbol_fixture_name(&fixture, 0, strtoull(line, NULL, 16)), "puts@plt");
    symbol_fixture_close(&fixture);
    free(line);
    free(program);
}

static void plt_of_static_program_names_indirect_functions(void **state)
{
    const char *folder = *state;
    write_source(folder, "ifunc.c",
                 "static int fast(int x) { return x + 1; }\n"
                 "static int (*resolve(void))(int) { return fast; }\n"
                 "int chosen(int x) __attribute__((ifunc(\"resolve\")));\n"
                 "int main(int argc, char **argv) { return chosen(argc); }\n");
    run_command("cd %s && gcc -O1 -static ifunc.c -o program", folder);
    char *program = memory_format("%s/program", folder);
    char *line = command_line_output(
        "objdump -d --disassemble=main %s | sed -n 's/.*\\(call\\|jmp\\) *\\([0-9a-f]*\\).*/\\2/p'",
        program);
    assert_non_null(line);
    struct symbol_fixture fixture;
    symbol_fixture_open(&fixture, (const char *const[]){program, NULL});
    assert_string_equal(symbol_fixture_name(&fixture, 0, strtoull(line, NULL, 16)), "chosen@plt");
    symbol_fixture_close(&fixture);
    free(line);
    free(program);
}

static void plt_of_stripped_program(void **state)
{
    check_plt(*state, "gcc -O1 -s program.c -o program");
}

static void plt_got_slots(void **state)
{
    /* Taking a function's address gives it a GOT entry that its slot in .plt.got shares. */
    write_source(*state, "program.c",
                 "#include <stdio.h>\n#include <unistd.h>\n"
                 "int (*volatile pointer)(const char *);\nint (*volatile other)(void);\n"
                 "int main(void) { pointer = puts; other = getpagesize; puts(\"\"); "
                 "return getpagesize(); }\n");
    check_plt(*state, "gcc -O0 -fno-plt -fplt -fpie -pie -Wl,-z,now program.c -o program");
}

static void cold_part_belongs_to_its_function(void **state)
{
    const char *folder = *state;
    write_source(folder, "cold.c",
                 "#include <stdio.h>\n"
                 "__attribute__((cold, noinline)) void report(int x) { printf(\"%d\\n\", x); }\n"
                 "__attribute__((noinline)) int work(int *x) {\n"
                 "    for (int i = 0; i < *x; i++)\n"
                 "        if (x[i] > 77) { report(x[i]); report(7 - x[i]); x[i] = 3; }\n"
                 "    return x[1] * 3; }\n"
                 "int main(int argc, char **argv) { return work(&argc); }\n");
    run_command("cd %s && gcc -O2 cold.c -o program && nm program | grep -q ' work.cold$'", folder);
    char *program = memory_format("%s/program", folder);
    struct symbol_fixture fixture;
    symbol_fixture_open(&fixture, (const char *const[]){program, NULL});
    uint64_t work = symbol_value(program, "work"), cold = symbol_value(program, "work.cold");
    struct function_bounds of_cold = symbol_fixture_find(&fixture, 0, cold);
    assert_int_equal(of_cold.function, symbol_fixture_find(&fixture, 0, work).function);
    assert_int_equal(of_cold.start, cold);
    assert_string_equal(symbol_fixture_name(&fixture, 0, cold), "work");
    assert_int_equal(symbols_function(fixture.symbols, of_cold.function)->start, work);
    symbol_fixture_close(&fixture);
    free(program);
}

static void cold_parts_of_two_static_functions_of_one_name(void **state)
{
    const char *folder = *state;
    for (int file = 'a'; file <= 'b'; file++) {
        char *name = memory_format("%c.c", file);
        char *text = memory_format(
            "#include <stdio.h>\n"
            "static __attribute__((cold, noinline)) void report(int x) { printf(\"%%d\\n\", x); }\n"
            "static __attribute__((noinline)) int work(int *x) {\n"
            "    for (int i = 0; i < *x; i++)\n"
            "        if (x[i] > 77) { report(x[i]); report(7 - x[i]); x[i] = %d; }\n"
            "    return x[1] * 3; }\n"
            "int %c_main(int x) { return work(&x); }\n",
            file, file);
        write_source(folder, name, text);
        free(text);
        free(name);
    }
    write_source(folder, "main.c",
                 "int a_main(int), b_main(int);\n"
                 "int main(int c, char **v) { return a_main(c) + b_main(c); }\n");
    run_command("cd %s && gcc -O2 a.c b.c main.c -o program", folder);
    char *program = memory_format("%s/program", folder);
    struct symbol_fixture fixture;
    symbol_fixture_open(&fixture, (const char *const[]){program, NULL});
    /* nm without sorting lists the symbols of a.c before those of b.c. */
    function_id functions[2], cold_functions[2];
    for (int i = 0; i < 2; i++) {
        char *line = command_line_output(
            "nm -p %s | awk '$3 == \"work\" { print $1 }' | sed -n %dp", program, i + 1);
        functions[i] = symbol_fixture_find(&fixture, 0, strtoull(line, NULL, 16)).function;
        free(line);
        line = command_line_output("nm -p %s | awk '$3 == \"work.cold\" { print $1 }' | sed -n %dp",
                                   program, i + 1);
        cold_functions[i] = symbol_fixture_find(&fixture, 0, strtoull(line, NULL, 16)).function;
        free(line);
    }
    assert_int_not_equal(functions[0], functions[1]);
    assert_int_equal(cold_functions[0], functions[0]);
    assert_int_equal(cold_functions[1], functions[1]);
    symbol_fixture_close(&fixture);
    free(program);
}

static void assembly_labels_are_functions(void **state)
{
    const char *folder = *state;
    write_source(folder, "code.s",
                 "    .text\n    .globl first\nfirst:\n    nop\n    nop\n"
                 "second:\n    nop\n    ret\n"
                 "    .globl sized\n    .type sized, @function\nsized:\n    nop\ninner:\n    ret\n"
                 "    .size sized, . - sized\n"
                 "    .globl unsized\n    .type unsized, @function\nunsized:\n    nop\n    ret\n"
                 "    .section .text.other, \"ax\"\n    .globl last\nlast:\n    nop\n    ret\n"
                 "    .data\n    .globl data\ndata:\n    .quad 1\n");
    run_command("cd %s && gcc -shared -nostdlib code.s -o program", folder);
    char *program = memory_format("%s/program", folder);
    struct symbol_fixture fixture;
    symbol_fixture_open(&fixture, (const char *const[]){program, NULL});
    uint64_t first = symbol_value(program, "first");
    assert_string_equal(symbol_fixture_name(&fixture, 0, first + 1), "first");
    assert_string_equal(symbol_fixture_name(&fixture, 0, first + 2), "second");
    assert_string_equal(symbol_fixture_name(&fixture, 0, first + 4), "sized");
    assert_string_equal(symbol_fixture_name(&fixture, 0, first + 5), "sized");
    assert_string_equal(symbol_fixture_name(&fixture, 0, first + 7), "unsized");
    uint64_t last = symbol_value(program, "last");
    assert_int_equal(symbol_fixture_find(&fixture, 0, last).start, last);
    assert_string_equal(symbol_fixture_name(&fixture, 0, last + 1), "last");
    symbol_fixture_close(&fixture);
    free(program);
}

static void the_name_without_underscores_is_chosen(void **state)
{
    const char *folder = *state;
    write_source(folder, "aliases.c",
                 "int __work(int x) { return x; }\n"
                 "__attribute__((weak, alias(\"__work\"))) int work(int x);\n"
                 "__attribute__((alias(\"__work\"))) int work_with_a_long_name(int x);\n"
                 "static __attribute__((used, alias(\"__work\"))) int w(int x);\n");
    run_command("cd %s && gcc -O1 -shared -fpic aliases.c -o program", folder);
    char *program = memory_format("%s/program", folder);
    struct symbol_fixture fixture;
    symbol_fixture_open(&fixture, (const char *const[]){program, NULL});
    /* Exported before local, without underscores before with, global before weak. */
    assert_string_equal(symbol_fixture_name(&fixture, 0, symbol_value(program, "work")),
                        "work_with_a_long_name");
    symbol_fixture_close(&fixture);
    free(program);
}

static void every_cpp_name_is_as_nm_demangles_it(void **state)
{
    const char *folder = *state;
    write_source(
        folder, "shapes.cc",
        "#include <string>\n#include <vector>\n#include <map>\n"
        "namespace geometry { template <typename T> struct Box { T side;\n"
        "  __attribute__((noinline)) T area(std::vector<T> const &v) const "
        "{ return side * side + v.size(); }\n"
        "  Box operator+(const Box &other) const; ~Box(); Box(T t); }; \n"
        "template <typename T> Box<T> Box<T>::operator+(const Box &o) const "
        "{ return Box{side + o.side}; }\n"
        "template <typename T> Box<T>::Box(T t) : side(t) {}\n"
        "template <typename T> Box<T>::~Box() {}\n"
        "template struct Box<int>; template struct Box<double>; }\n"
        "std::string join(std::map<std::string, int> m, char (*f)(int, ...)) { return \"\"; }\n");
    run_command("cd %s && g++ -O1 -shared -fpic shapes.cc -o program", folder);
    char *program = memory_format("%s/program", folder);
    struct symbol_fixture fixture;
    symbol_fixture_open(&fixture, (const char *const[]){program, NULL});
    char *command =
        memory_format("nm --defined-only %s | awk '$2 == \"T\" || $2 == \"W\"'", program);
    FILE *pipe = popen(command, "r");
    char mangled[1024];
    unsigned long long address;
    int count = 0;
    while (fscanf(pipe, "%llx %*s %1023s", &address, mangled) == 2) {
        function_id id = symbol_fixture_find(&fixture, 0, address).function;
        const struct function *function = symbols_function(fixture.symbols, id);
        char *expected = command_line_output("c++filt -- '%s'", function->symbol);
        assert_string_equal(function->name, expected);
        free(expected);
        count++;
    }
    assert_true(count > 8);
    pclose(pipe);
    free(command);
    symbol_fixture_close(&fixture);
    free(program);
}

static void rust_program(void **state)
{
    const char *folder = *state;
    if (system("rustc --version > /dev/null 2>&1") != 0)
        skip();
    write_source(folder, "program.rs",
                 "#[no_mangle]\n"
                 "#[inline(never)]\n"
                 "pub fn marker(x: usize) -> usize { x * 2 }\n"
                 "mod inner {\n"
                 "    pub struct Counter(pub usize);\n"
                 "    impl Counter {\n"
                 "        #[inline(never)]\n"
                 "        pub fn add(&mut self, x: usize) { self.0 += super::marker(x) }\n"
                 "    }\n"
                 "}\n"
                 "fn main() {\n"
                 "    let mut counter = inner::Counter(std::env::args().count());\n"
                 "    counter.add(7);\n"
                 "    std::process::exit(counter.0 as i32)\n"
                 "}\n");
    run_command("cd %s && rustc -g -C opt-level=1 program.rs -o program 2>&1", folder);
    char *program = memory_format("%s/program", folder);
    char *line = command_line_output("nm %s | awk '/Counter.*add/ { print $1 }'", program);
    assert_non_null(line);
    struct symbol_fixture fixture;
    symbol_fixture_open(&fixture, (const char *const[]){program, NULL});
    uint64_t add = strtoull(line, NULL, 16);
    assert_string_equal(symbol_fixture_name(&fixture, 0, add), "program::inner::Counter::add");
    check_line(&fixture, add, "program.rs", 8);
    check_line(&fixture, symbol_value(program, "marker"), "program.rs", 3);
    symbol_fixture_close(&fixture);
    free(line);
    free(program);
}

static void mapping_clips_the_bounds(void **state)
{
    const char *folder = *state;
    run_command("cd %s && gcc -O1 program.c -o program", folder);
    char *program = memory_format("%s/program", folder);
    struct symbol_fixture fixture;
    symbol_fixture_open(&fixture, (const char *const[]){program, NULL});
    uint64_t bias = 0x10000000000, main_start = symbol_value(program, "main");
    struct mapping part = *address_space_find(&fixture.cursor, bias + main_start);
    uint64_t cut = bias + main_start + 2 - part.start;
    part.start += cut;
    part.file_offset += cut;
    part.end = part.start + 3;
    struct function_bounds bounds = symbols_find(fixture.symbols, &part, part.start + 1);
    assert_string_equal(symbols_function(fixture.symbols, bounds.function)->name, "main");
    assert_int_equal(bounds.start, part.start);
    assert_int_equal(bounds.end, part.end);
    symbol_fixture_close(&fixture);
    free(program);
}

static void without_mapping_a_function_is_unknown(void **state)
{
    struct symbol_fixture fixture;
    symbol_fixture_open(&fixture, (const char *const[]){"/proc/self/exe", NULL});
    struct function_bounds bounds = symbols_find(fixture.symbols, NULL, 0x1234);
    assert_int_equal(bounds.function, FUNCTION_UNKNOWN);
    assert_int_equal(bounds.start, 0x1234);
    assert_int_equal(bounds.end, 0x1235);
    assert_string_equal(symbols_function(fixture.symbols, FUNCTION_UNKNOWN)->name, "[unknown]");
    assert_string_equal(symbols_function(fixture.symbols, FUNCTION_SYSCALL)->name, "[syscall]");
    assert_null(symbols_line(fixture.symbols, FUNCTION_SYSCALL).file);
    symbol_fixture_close(&fixture);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(position_independent_program),
        TEST(fixed_address_program),
        TEST(static_program),
        TEST(static_position_independent_program),
        TEST(shared_object),
        TEST(dwarf_4_and_compressed_sections),
        TEST(program_from_clang),
        TEST(separate_debug_file_by_link),
        TEST(debug_file_beside_the_object),
        TEST(compressed_separate_debug_file),
        TEST(compressed_lines_without_debug_info_section),
        TEST(damaged_compressed_sections_have_no_lines),
        TEST(debug_file_with_wrong_checksum_is_not_used),
        TEST(lines_without_debug_info_section),
        TEST(stripped_object_is_bounded_by_its_frames),
        TEST(stripped_object_names_what_it_exports),
        TEST(minimal_debug_data_adds_to_what_is_exported),
        TEST(names_lost_from_the_static_table_are_found_where_they_are_exported),
        TEST(restorer_without_a_symbol_begins_after_its_frame),
        TEST(lazy_plt),
        TEST(eager_plt),
        TEST(plt_with_branch_tracking),
        TEST(plt_of_gold),
        TEST(plt_of_lld),
        TEST(plt_of_static_program_names_indirect_functions),
        TEST(plt_of_stripped_program),
        TEST(plt_got_slots),
        TEST(cold_part_belongs_to_its_function),
        TEST(cold_parts_of_two_static_functions_of_one_name),
        TEST(assembly_labels_are_functions),
        TEST(the_name_without_underscores_is_chosen),
        TEST(every_cpp_name_is_as_nm_demangles_it),
        TEST(rust_program),
        TEST(mapping_clips_the_bounds),
        TEST(without_mapping_a_function_is_unknown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
