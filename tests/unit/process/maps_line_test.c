/* Lines of /proc/PID/maps, as Linux 6.1 writes them and as it never should. */
#include "process/maps_line.h"

#include "base/file.h"
#include "base/memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

/* The mappings of a text, in the order of its lines. Free the text. */
struct parsed {
    char *text;
    size_t count;
    struct maps_line lines[8];
};

static struct parsed parse(const char *text)
{
    struct parsed parsed = {.text = memory_copy_string(text)};
    char *rest = parsed.text;
    while (maps_line_next(&rest, &parsed.lines[parsed.count]))
        assert_true(++parsed.count < sizeof parsed.lines / sizeof parsed.lines[0]);
    assert_null(rest);
    return parsed;
}

static void assert_path(const char *text, const char *path, bool code_of_file)
{
    struct parsed parsed = parse(text);
    assert_int_equal(parsed.count, 1);
    assert_string_equal(parsed.lines[0].path, path);
    assert_int_equal(maps_line_is_code_of_file(&parsed.lines[0]), code_of_file);
    free(parsed.text);
}

static void fields_are_read(void **state)
{
    (void)state;
    struct parsed parsed = parse("7f5c0a400000-7f5c0a555000 r-xp 00026000 fd:1a 1835046            "
                                 "        /usr/lib/libc.so.6\n"
                                 "7ffd1c7f0000-7ffd1c812000 rw-s 100000000 00:05 0 \n");
    assert_int_equal(parsed.count, 2);
    const struct maps_line *code = &parsed.lines[0], *memory = &parsed.lines[1];
    assert_int_equal(code->start, 0x7f5c0a400000);
    assert_int_equal(code->end, 0x7f5c0a555000);
    assert_int_equal(code->protection, PROT_READ | PROT_EXEC);
    assert_false(code->shared);
    assert_int_equal(code->file_offset, 0x26000);
    assert_int_equal(code->device_major, 0xfd);
    assert_int_equal(code->device_minor, 0x1a);
    assert_int_equal(code->inode, 1835046);
    assert_string_equal(code->path, "/usr/lib/libc.so.6");
    assert_int_equal(memory->protection, PROT_READ | PROT_WRITE);
    assert_true(memory->shared);
    assert_int_equal(memory->file_offset, 0x100000000);
    assert_string_equal(memory->path, "");
    free(parsed.text);
}

static void paths_are_taken_whole(void **state)
{
    (void)state;
    assert_path("1000-2000 r-xp 0 08:01 7  /opt/two words/a  b\n", "/opt/two words/a  b", true);
    assert_path("1000-2000 r-xp 0 08:01 7  /opt/old (deleted)\n", "/opt/old (deleted)", true);
    assert_path("1000-2000 r-xp 0 08:01 7  /opt/two\\012lines\n", "/opt/two\nlines", true);
    assert_path("1000-2000 r--p 0 08:01 7  /opt/data\n", "/opt/data", false);
    assert_path("1000-2000 r-xp 0 08:01 7  /opt/unended", "/opt/unended", true);
}

static void memory_without_a_file_is_no_code_of_one(void **state)
{
    (void)state;
    assert_path("1000-2000 r-xp 00000000 00:00 0                          [vdso]\n", "[vdso]",
                false);
    assert_path("1000-2000 rwxp 00000000 00:00 0 \n", "", false);
    assert_path("1000-2000 rwxp 00000000 00:00 0 [anon:of a/b]\n", "[anon:of a/b]", false);
    assert_path("1000-2000 rwxs 00000000 00:0e 12 anon_inode:[perf_event]\n",
                "anon_inode:[perf_event]", false);
}

static void odd_lines_are_left_out(void **state)
{
    (void)state;
    struct parsed parsed = parse("\n"
                                 "no mapping\n"
                                 "1000-2000\n"
                                 "1000-2000 r-xp 0 08:01\n"
                                 "1000 2000 r-xp 0 08:01 7 /a\n"
                                 "1000-2000 rx 0 08:01 7 /a\n"
                                 "2000-1000 r-xp 0 08:01 7 /a\n"
                                 "3000-4000 r-xp 0 08:01 7 /b\n");
    assert_int_equal(parsed.count, 1);
    assert_string_equal(parsed.lines[0].path, "/b");
    free(parsed.text);
    char *none = NULL;
    assert_false(maps_line_next(&none, &parsed.lines[0]));
}

static void own_code_is_found(void **state)
{
    (void)state;
    char *maps = file_read("/proc/self/maps", NULL, NULL), *rest = maps;
    uintptr_t here = (uintptr_t)own_code_is_found;
    bool found = false;
    for (struct maps_line line; maps_line_next(&rest, &line);)
        found |= maps_line_is_code_of_file(&line) && here >= line.start && here < line.end;
    assert_true(found);
    free(maps);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fields_are_read),
        cmocka_unit_test(paths_are_taken_whole),
        cmocka_unit_test(memory_without_a_file_is_no_code_of_one),
        cmocka_unit_test(odd_lines_are_left_out),
        cmocka_unit_test(own_code_is_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
