/* Objects with flipped bytes or a missing end: whatever is asked about them, nothing crashes and
 * every answer has bounds that hold the address.
 */
#include "symbol_fixture.h"

#include "base/file.h"
#include "base/memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MAPPED = 0x4000, BIAS = 0x10000000 };

/* Asks for the function and line at addresses all over the object's first pages. */
static void ask(const char *path)
{
    struct recording recording = recording_new();
    add_mapping(&recording, 0, FIXTURE_PID, BIAS, BIAS + MAPPED, 0, path);
    struct symbol_fixture fixture;
    symbol_fixture_open_recording(&fixture, &recording, NULL, NULL);
    symbols_find_inlined(fixture.symbols);
    for (uint64_t address = BIAS; address < BIAS + MAPPED; address += 16) {
        const struct mapping *mapping = address_space_find(&fixture.cursor, address);
        struct function_bounds bounds = symbols_find(fixture.symbols, mapping, address);
        assert_true(bounds.start <= address && address < bounds.end);
        assert_true(bounds.start >= BIAS && bounds.end <= BIAS + MAPPED);
        symbols_landing_pad(fixture.symbols, mapping, address);
        assert_non_null(symbols_function(fixture.symbols, bounds.function)->name);
        symbols_line(fixture.symbols, bounds.function);
        if (bounds.inlined) {
            struct inlined_place place = symbols_inlined_at(fixture.symbols, mapping, address);
            assert_true(place.start <= address && address < place.end);
            symbols_line(fixture.symbols,
                         symbols_inlined(fixture.symbols, place.inlined)->function);
        }
    }
    symbol_fixture_close(&fixture);
    recording_free(&recording);
}

static char *build_object(const char *folder)
{
    char *source = memory_format("%s/small.c", folder);
    static const char text[] = "int puts(const char *);\n"
                               "int first(int x) { return puts(\"\") + x; }\n"
                               "__asm__(\".section .stapsdt.base, \\\"a\\\"\\n4: .byte 0\\n\"\n"
                               "\".section .note.ocaml_eh, \\\"\\\", \\\"note\\\"\\n\"\n"
                               "\".long 6, 8*8, 1\\n.asciz \\\"OCaml\\\"\\n.balign 4\\n\"\n"
                               "\".quad 4b, first, 0, first, second, 0, second, 0\\n.text\");\n"
                               "void let_go(int *x) { *x = 0; }\n"
                               "static inline int half(int x) { return x / 2; }\n"
                               "int third(int x, int y) { return half(x) * half(y); }\n"
                               "int second(int x)\n"
                               "{\n"
                               "    __attribute__((cleanup(let_go))) int y = x;\n"
                               "    return first(y) + 1;\n"
                               "}\n";
    write_file(source, text, strlen(text));
    char *path = memory_format("%s/small.so", folder);
    run_command(
        "gcc -O1 -g -fexceptions -shared -fpic -nostartfiles -Wl,-z,max-page-size=4096 %s -o %s",
        source, path);
    free(source);
    return path;
}

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

static void flipped_bytes_do_no_harm(void **state)
{
    char *path = build_object(*state);
    struct file_view view;
    assert_true(file_map(&view, path, NULL));
    uint8_t *bytes = memory_allocate(view.size);
    char *damaged = memory_format("%s/damaged.so", (char *)*state);
    /* Every 97th byte, and every byte of the ELF and program headers. */
    for (size_t i = 0; i < view.size; i += i < 512 ? 1 : 97) {
        memcpy(bytes, view.bytes, view.size);
        bytes[i] ^= 0xff;
        write_file(damaged, bytes, view.size);
        ask(damaged);
    }
    free(damaged);
    free(bytes);
    file_unmap(&view);
    free(path);
}

static void missing_end_does_no_harm(void **state)
{
    char *path = build_object(*state);
    struct file_view view;
    assert_true(file_map(&view, path, NULL));
    char *damaged = memory_format("%s/damaged.so", (char *)*state);
    for (size_t size = 0; size < view.size; size += 97) {
        write_file(damaged, view.bytes, size);
        ask(damaged);
    }
    free(damaged);
    file_unmap(&view);
    free(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(flipped_bytes_do_no_harm, set_up, tear_down),
        cmocka_unit_test_setup_teardown(missing_end_does_no_harm, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
