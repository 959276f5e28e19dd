/* Code without an object: names from perf-PID.map, and what it is called without one. */
#include "symbol_fixture.h"

#include "base/file.h"
#include "base/memory.h"
#include "symbol/perf_map.h"

#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

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

static void write_map(const char *folder, uint32_t pid, const char *text)
{
    char *path = memory_format("%s/perf-%u.map", folder, pid);
    write_file(path, text, strlen(text));
    free(path);
}

static struct function_bounds find(struct symbol_fixture *fixture, uint64_t address)
{
    return symbols_find(fixture->symbols, address_space_find(&fixture->cursor, address), address);
}

static const char *name_at(struct symbol_fixture *fixture, uint64_t address)
{
    return symbols_function(fixture->symbols, find(fixture, address).function)->name;
}

/* One anonymous mapping of FIXTURE_PID at [0x10000, 0x20000). */
static void open_with_map(struct symbol_fixture *fixture, const char *folder, const char *map)
{
    struct recording recording = recording_new();
    add_mapping(&recording, 0, FIXTURE_PID, 0x10000, 0x20000, 0, "//anon");
    if (map)
        write_map(folder, FIXTURE_PID, map);
    symbol_fixture_open_recording(fixture, &recording, NULL, folder);
    recording_free(&recording);
}

static void names_come_from_the_map(void **state)
{
    struct symbol_fixture fixture;
    open_with_map(&fixture, *state,
                  "10100 20 first\n"
                  "0x10200 0x10 LazyCompile:*a name with spaces file.js:3:1\r\n"
                  "12000 100 _ZN3foo3barEi\n"
                  "1f000 ffff reaches beyond the mapping");
    assert_string_equal(name_at(&fixture, 0x10100), "first");
    assert_string_equal(name_at(&fixture, 0x1011f), "first");
    assert_string_equal(name_at(&fixture, 0x10205), "LazyCompile:*a name with spaces file.js:3:1");
    assert_string_equal(name_at(&fixture, 0x12000), "foo::bar(int)");
    struct function_bounds bounds = find(&fixture, 0x1f100);
    assert_int_equal(bounds.start, 0x1f000);
    assert_int_equal(bounds.end, 0x20000);
    symbol_fixture_close(&fixture);
}

static void code_between_the_named_is_unnamed(void **state)
{
    struct symbol_fixture fixture;
    open_with_map(&fixture, *state, "10100 20 first\n10200 10 second\n");
    struct function_bounds between = find(&fixture, 0x10150), before = find(&fixture, 0x10000);
    assert_string_equal(name_at(&fixture, 0x10150), "[JIT code]");
    assert_int_equal(between.start, 0x10120);
    assert_int_equal(between.end, 0x10200);
    assert_int_equal(before.start, 0x10000);
    assert_int_equal(before.end, 0x10100);
    assert_int_equal(between.function, before.function);
    symbol_fixture_close(&fixture);
}

static void later_lines_take_the_addresses_of_earlier_ones(void **state)
{
    struct symbol_fixture fixture;
    open_with_map(&fixture, *state,
                  "10100 100 old\n10180 100 new\n10000 10 other\n10180 8 newest\n");
    assert_string_equal(name_at(&fixture, 0x1017f), "old");
    assert_string_equal(name_at(&fixture, 0x10180), "newest");
    assert_string_equal(name_at(&fixture, 0x10188), "new");
    assert_string_equal(name_at(&fixture, 0x1027f), "new");
    assert_string_equal(name_at(&fixture, 0x10005), "other");
    symbol_fixture_close(&fixture);
}

static void damaged_lines_are_skipped(void **state)
{
    struct symbol_fixture fixture;
    open_with_map(&fixture, *state,
                  "\n\n-1 10 negative\nxyz\n10100\n10100 20\n10100 20 \n10300 0 empty\n"
                  "ffffffffffffffff 10 wraps\n11111111111111111111 1 too long\n"
                  "   10400  20  good\n10500 10 cut o");
    assert_string_equal(name_at(&fixture, 0x10100), "[JIT code]");
    assert_string_equal(name_at(&fixture, 0x10300), "[JIT code]");
    assert_string_equal(name_at(&fixture, 0x10400), "good");
    assert_string_equal(name_at(&fixture, 0x10500), "cut o");
    symbol_fixture_close(&fixture);
}

static void without_a_map_all_code_is_one_function(void **state)
{
    struct symbol_fixture fixture;
    open_with_map(&fixture, *state, NULL);
    struct function_bounds bounds = find(&fixture, 0x12345);
    assert_string_equal(name_at(&fixture, 0x12345), "[JIT code]");
    assert_int_equal(bounds.start, 0x10000);
    assert_int_equal(bounds.end, 0x20000);
    assert_null(symbols_line(fixture.symbols, bounds.function).file);
    symbol_fixture_close(&fixture);
}

/* A forked interpreter runs code that its parent compiled; after exec nothing of that is left. */
static void forked_child_uses_its_parents_map_until_exec(void **state)
{
    struct recording recording = recording_new();
    add_mapping(&recording, 1, 7, 0x10000, 0x20000, 0, "//anon");
    add_fork(&recording, 10, 7, 7, FIXTURE_PID, FIXTURE_PID);
    write_map(*state, 7, "10100 20 compiled\n");
    struct symbol_fixture fixture;
    symbol_fixture_open_recording(&fixture, &recording, NULL, *state);
    assert_string_equal(name_at(&fixture, 0x10100), "compiled");
    symbol_fixture_close(&fixture);

    add_name(&recording, 20, FIXTURE_PID, FIXTURE_PID, "other", true);
    add_mapping(&recording, 20, FIXTURE_PID, 0x10000, 0x20000, 0, "//anon");
    symbol_fixture_open_recording(&fixture, &recording, NULL, *state);
    assert_string_equal(name_at(&fixture, 0x10100), "[JIT code]");
    symbol_fixture_close(&fixture);
    recording_free(&recording);
}

static void map_of_the_recording_is_found(void **state)
{
    char *images = memory_format("%s/images", (char *)*state);
    write_map(images, FIXTURE_PID, "10100 20 recorded\n");
    free(images);
    struct recording recording = recording_new();
    add_mapping(&recording, 0, FIXTURE_PID, 0x10000, 0x20000, 0, "//anon");
    struct symbol_fixture fixture;
    symbol_fixture_open_recording(&fixture, &recording, *state, NULL);
    assert_string_equal(name_at(&fixture, 0x10100), "recorded");
    symbol_fixture_close(&fixture);
    recording_free(&recording);
}

static void thousands_of_entries(void **state)
{
    enum { ENTRIES = 50000 };
    struct recording recording = recording_new();
    add_mapping(&recording, 0, FIXTURE_PID, 0x100000, 0x100000 + 16 * ENTRIES, 0, "//anon");
    char *path = memory_format("%s/perf-%d.map", (char *)*state, FIXTURE_PID);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    for (int i = ENTRIES - 1; i >= 0; i--)
        fprintf(file, "%x 10 function %d\n", 0x100000 + 16 * i, i);
    fclose(file);
    free(path);
    struct symbol_fixture fixture;
    symbol_fixture_open_recording(&fixture, &recording, NULL, *state);
    for (int i = 0; i < ENTRIES; i++) {
        char expected[32];
        snprintf(expected, sizeof expected, "function %d", i);
        assert_string_equal(name_at(&fixture, 0x100000 + 16 * (uint64_t)i + 7), expected);
    }
    symbol_fixture_close(&fixture);
    recording_free(&recording);
}

/* A program that patches its own code: the dumped page hides the object's, but not its names.
 * Memory that was reused for other code keeps nothing. */
static void patched_page_keeps_the_names_of_its_object(void **state)
{
    char *folder = *state, *source = memory_format("%s/object.s", folder);
    char *object = memory_format("%s/object.so", folder);
    static const char text[] = "    .text\n    .globl first\n    .type first, @function\nfirst:\n"
                               "    .fill 0x800, 1, 0x90\n    ret\n    .size first, . - first\n"
                               "    .globl second\n    .type second, @function\nsecond:\n"
                               "    .fill 0x900, 1, 0x90\n    ret\n    .size second, . - second\n";
    write_file(source, text, strlen(text));
    run_command("gcc -shared -nostdlib -Wl,-z,max-page-size=4096 %s -o %s", source, object);
    uint64_t first = symbol_value(object, "first");
    assert_int_equal(first % 4096, 0);

    struct file_view view;
    assert_true(file_map(&view, object, NULL));
    uint8_t page[4096];
    memcpy(page, view.bytes + first, sizeof page); /* this layout has offset and address equal */
    memset(page + 16, 0xcc, 64);
    char *patched = memory_format("%s/images/code-0-0", folder);
    write_file(patched, page, sizeof page);
    memset(page, 0x55, sizeof page);
    char *other = memory_format("%s/images/code-0-1", folder);
    write_file(other, page, sizeof page);

    struct recording recording = recording_new();
    add_mapping(&recording, 0, FIXTURE_PID, 0x10000, 0x12000, first, object);
    add_mapping(&recording, 10, FIXTURE_PID, 0x10000, 0x11000, 0, patched);
    struct symbol_fixture fixture;
    symbol_fixture_open_recording(&fixture, &recording, folder, NULL);
    assert_string_equal(name_at(&fixture, 0x10000 + 20), "first");
    assert_string_equal(name_at(&fixture, 0x10000 + 0x900), "second");
    assert_int_equal(find(&fixture, 0x10900).function, find(&fixture, 0x11000).function);
    symbol_fixture_close(&fixture);

    add_mapping(&recording, 20, FIXTURE_PID, 0x10000, 0x11000, 0, other);
    add_mapping(&recording, 20, FIXTURE_PID, 0x11000, 0x12000, 0, other);
    symbol_fixture_open_recording(&fixture, &recording, folder, NULL);
    assert_string_equal(name_at(&fixture, 0x10000), "[JIT code]");
    assert_string_equal(name_at(&fixture, 0x11000), "[JIT code]");
    symbol_fixture_close(&fixture);

    recording_free(&recording);
    file_unmap(&view);
    free(other);
    free(patched);
    free(object);
    free(source);
}

/* A file that is mapped but missing is still called by its name. */
static void missing_object_is_named_in_brackets(void **state)
{
    struct recording recording = recording_new();
    add_mapping(&recording, 0, FIXTURE_PID, 0x10000, 0x20000, 0, "/no/such/libgone.so");
    add_mapping(&recording, 0, FIXTURE_PID, 0x30000, 0x40000, 0, "[vdso]");
    struct symbol_fixture fixture;
    symbol_fixture_open_recording(&fixture, &recording, NULL, *state);
    assert_string_equal(name_at(&fixture, 0x10100), "[libgone.so]");
    assert_string_equal(name_at(&fixture, 0x30100), "[vdso]");
    symbol_fixture_close(&fixture);
    recording_free(&recording);
}

/* In /tmp any user may put a link to another user's file, or a FIFO without a writer. */
static void only_a_file_of_ones_own_is_taken_from_a_shared_folder(void **state)
{
    write_map(*state, 1, "10100 20 first\n");
    char *map = memory_format("%s/perf-1.map", (char *)*state);
    char *link = memory_format("%s/perf-2.map", (char *)*state);
    char *pipe = memory_format("%s/perf-3.map", (char *)*state);
    assert_int_equal(symlink(map, link), 0);
    assert_int_equal(mkfifo(pipe, 0600), 0);
    struct perf_map *own = perf_map_open(*state, 1, true),
                    *linked = perf_map_open(*state, 2, false);
    assert_non_null(own);
    assert_non_null(linked);
    assert_null(perf_map_open(*state, 2, true));
    assert_null(perf_map_open(*state, 3, true));
    assert_null(perf_map_open(*state, 3, false));
    perf_map_close(own);
    perf_map_close(linked);
    free(pipe);
    free(link);
    free(map);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

/* ---- what perf inject --jit writes ---- */

enum { TEXT = 0x80, SYMBOLS = 0x100, NAMES = 0x130, SECTIONS = 0x180, OBJECT_SIZE = 0x2c0 };

/* As jit_write_elf in tools/perf/util/genelf.c: one function, and before Linux 6.2 no program
 * header. */
static void write_injected(const char *path, bool program_header)
{
    uint8_t bytes[OBJECT_SIZE] = {0};
    static const char names[] = "\0jitted_adder\0.text\0.symtab\0.strtab";
    const Elf64_Ehdr header = {
        .e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
        .e_type = ET_DYN,
        .e_machine = EM_X86_64,
        .e_version = EV_CURRENT,
        .e_phoff = program_header ? sizeof header : 0,
        .e_shoff = SECTIONS,
        .e_ehsize = sizeof header,
        .e_phentsize = program_header ? sizeof(Elf64_Phdr) : 0,
        .e_phnum = program_header,
        .e_shentsize = sizeof(Elf64_Shdr),
        .e_shnum = 4,
        .e_shstrndx = 3,
    };
    const Elf64_Phdr segment = {PT_LOAD, PF_R | PF_X, TEXT, TEXT, TEXT, 4, 4, 8};
    const Elf64_Sym symbols[2] = {{0}, {1, ELF64_ST_INFO(STB_GLOBAL, STT_FUNC), 0, 1, TEXT, 4}};
    const Elf64_Shdr sections[] = {
        {0},
        {.sh_name = 14,
         .sh_type = SHT_PROGBITS,
         .sh_flags = SHF_ALLOC | SHF_EXECINSTR,
         .sh_addr = TEXT,
         .sh_offset = TEXT,
         .sh_size = 4,
         .sh_addralign = 16},
        {.sh_name = 20,
         .sh_type = SHT_SYMTAB,
         .sh_offset = SYMBOLS,
         .sh_size = sizeof symbols,
         .sh_link = 3,
         .sh_addralign = 8,
         .sh_entsize = sizeof symbols[0]},
        {.sh_name = 28,
         .sh_type = SHT_STRTAB,
         .sh_offset = NAMES,
         .sh_size = sizeof names,
         .sh_addralign = 1},
    };
    memcpy(bytes, &header, sizeof header);
    if (program_header)
        memcpy(bytes + sizeof header, &segment, sizeof segment);
    memcpy(bytes + SYMBOLS, symbols, sizeof symbols);
    memcpy(bytes + NAMES, names, sizeof names);
    memcpy(bytes + SECTIONS, sections, sizeof sections);
    write_file(path, bytes, sizeof bytes);
}

static void injected_objects_have_their_names(void **state)
{
    for (int program_header = 0; program_header < 2; program_header++) {
        char *path = memory_format("%s/jitted-7-%d.so", (char *)*state, program_header);
        write_injected(path, program_header);
        struct recording recording = recording_new();
        add_mapping(&recording, 0, FIXTURE_PID, 0x10000, 0x10004, TEXT, path);
        struct symbol_fixture fixture;
        symbol_fixture_open_recording(&fixture, &recording, NULL, NULL);
        struct function_bounds bounds = find(&fixture, 0x10002);
        assert_string_equal(name_at(&fixture, 0x10002), "jitted_adder");
        assert_int_equal(bounds.start, 0x10000);
        assert_int_equal(bounds.end, 0x10004);
        symbol_fixture_close(&fixture);
        recording_free(&recording);
        free(path);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(injected_objects_have_their_names, set_up, tear_down),
        TEST(names_come_from_the_map),
        TEST(code_between_the_named_is_unnamed),
        TEST(later_lines_take_the_addresses_of_earlier_ones),
        TEST(damaged_lines_are_skipped),
        TEST(without_a_map_all_code_is_one_function),
        TEST(forked_child_uses_its_parents_map_until_exec),
        TEST(map_of_the_recording_is_found),
        TEST(thousands_of_entries),
        TEST(patched_page_keeps_the_names_of_its_object),
        TEST(missing_object_is_named_in_brackets),
        TEST(only_a_file_of_ones_own_is_taken_from_a_shared_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
