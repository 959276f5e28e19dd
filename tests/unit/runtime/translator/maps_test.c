/* Lines of /proc/self/maps as the kernel writes them, damaged ones, and what the kernel says of our own pages. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "arena_stand_in.h"
#include "runtime/translator/syscalls/maps.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static const char *parse(const char *text, struct tr_map_line *line)
{
    return tr_maps_line(text, text + strlen(text), line);
}

static void test_line_of_a_file(void **state)
{
    static const char text[] =
        "7f1234560000-7f1234586000 r-xp 00001000 fe:01 332383                     "
        "/usr/lib/a b.so\nnext";
    struct tr_map_line line;
    char path[64];
    assert_ptr_equal(parse(text, &line), strstr(text, "next"));
    assert_int_equal(line.start, 0x7f1234560000);
    assert_int_equal(line.end, 0x7f1234586000);
    assert_int_equal(line.offset, 0x1000);
    assert_int_equal(line.major, 0xfe);
    assert_int_equal(line.minor, 1);
    assert_int_equal(line.inode, 332383);
    assert_int_equal(line.protection, PROT_READ | PROT_EXEC);
    assert_false(line.shared);
    tr_maps_path(&line, path, sizeof path);
    assert_string_equal(path, "/usr/lib/a b.so");
}

static void test_line_without_a_path(void **state)
{
    struct tr_map_line line;
    char path[8] = "x";
    assert_non_null(parse("1000-2000 rw-s 00000000 00:00 0 \n", &line));
    assert_int_equal(line.protection, PROT_READ | PROT_WRITE);
    assert_true(line.shared);
    assert_int_equal(line.path_size, 0);
    tr_maps_path(&line, path, sizeof path);
    assert_string_equal(path, "");
}

static void test_line_feeds_in_a_path(void **state)
{
    struct tr_map_line line;
    char path[64], cut[6];
    assert_non_null(parse("1000-2000 r-xp 00000000 08:01 5 /tmp/a\\012b\\0x\n", &line));
    tr_maps_path(&line, path, sizeof path);
    assert_string_equal(path, "/tmp/a\nb\\0x");
    tr_maps_path(&line, cut, sizeof cut);
    assert_string_equal(cut, "/tmp/");
}

static void test_damaged_lines(void **state)
{
    static const char *const lines[] = {
        "",
        "\n",
        "1000-2000 r-xp 00000000 08:01 5 /without/end",
        "1000 2000 r-xp 00000000 08:01 5 /x\n",
        "1000-2000 r-x\n",
        "1000-2000 r-xp 00000000 0801 5\n",
        "1000-2000 r-xp 00000000 08:01 \n",
        "xyz-2000 r-xp 00000000 08:01 5\n",
    };
    struct tr_map_line line;
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        assert_null(parse(lines[i], &line));
}

static void test_own_maps(void **state)
{
    struct tr_maps_text maps = {0};
    struct tr_map_line line;
    bool found = false;
    assert_true(tr_maps_read(&maps));
    const char *end = maps.text + maps.size;
    unsigned lines = 0;
    for (const char *at = maps.text; (at = tr_maps_line(at, end, &line)); lines++) {
        uint64_t here = (uint64_t)test_own_maps;
        found |= line.start <= here && here < line.end && (line.protection & PROT_EXEC);
    }
    assert_true(found);
    assert_true(lines > 10);
    /* More lines than fit into the first buffer. */
    enum { PAGES = 3000 };
    uint8_t *pages = mmap(NULL, PAGES * 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (unsigned i = 0; i < PAGES; i += 2)
        mprotect(pages + i * 4096, 4096, PROT_NONE);
    assert_true(tr_maps_read(&maps));
    unsigned more = 0;
    for (const char *at = maps.text; (at = tr_maps_line(at, maps.text + maps.size, &line));)
        more++;
    assert_true(more >= lines + PAGES - 2);
    munmap(pages, PAGES * 4096);
}

/* A file of `pages` pages, mapped privately. */
static uint8_t *map_file(unsigned pages, char path[64])
{
    strcpy(path, "/tmp/magic-trace-maps-XXXXXX");
    int file = mkstemp(path);
    assert_true(file >= 0);
    for (unsigned i = 0; i < pages * 4096; i++)
        assert_int_equal(write(file, &(char){(char)(i / 7)}, 1), 1);
    uint8_t *bytes = mmap(NULL, pages * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE, file, 0);
    close(file);
    assert_ptr_not_equal(bytes, MAP_FAILED);
    return bytes;
}

static void test_written_pages(void **state)
{
    stand_in_begin();
    char path[64];
    volatile uint8_t *bytes = map_file(4, path);
    uint64_t start = (uint64_t)bytes, end = start + 4 * 4096;
    (void)bytes[0];
    assert_int_equal(tr_maps_written(start, end), end);
    bytes[2 * 4096 + 5] = bytes[2 * 4096 + 5];
    if (tr_maps_written(start, end) == end)
        skip(); /* a kernel without /proc/self/pagemap */
    assert_int_equal(tr_maps_written(start, end), start + 2 * 4096);
    assert_int_equal(tr_maps_written(start + 3 * 4096, end), end);
    assert_true(tr_maps_equals_file(start + 2 * 4096, path, 2 * 4096));
    bytes[2 * 4096 + 5]++;
    assert_false(tr_maps_equals_file(start + 2 * 4096, path, 2 * 4096));
    assert_false(tr_maps_equals_file(start, "/nonexistent", 0));
    assert_false(tr_maps_equals_file(start, "/tmp", 0));
    munmap((void *)bytes, 4 * 4096);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_line_of_a_file),
        cmocka_unit_test(test_line_without_a_path),
        cmocka_unit_test(test_line_feeds_in_a_path),
        cmocka_unit_test(test_damaged_lines),
        cmocka_unit_test(test_own_maps),
        cmocka_unit_test(test_written_pages),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
