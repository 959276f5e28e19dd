/* The kernel's code is copied out of a /proc made for it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "made_folder.h"

#include "base/file.h"
#include "base/memory.h"
#include "engine/kernel_code.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PAGE = 4096, TEXT_PAGES = 40, MODULE_PAGES = 6 };

#define TEXT UINT64_C(0xffffffff81000000)
#define MODULES UINT64_C(0xffffffffc0200000)

struct fixture {
    struct made_folder folder;
    char *proc, *recording;
};

static uint8_t byte_of(uint64_t address)
{
    return (uint8_t)(address / PAGE * 7 + 1);
}

/* Text with the data before and after it, then modules, whose second page is not mapped. */
static void put_kcore(const struct fixture *fixture)
{
    const Elf64_Phdr segments[] = {
        {.p_type = PT_NOTE, .p_offset = PAGE},
        {.p_type = PT_LOAD,
         .p_offset = PAGE,
         .p_vaddr = TEXT - PAGE,
         .p_filesz = (TEXT_PAGES + 2) * PAGE,
         .p_memsz = (TEXT_PAGES + 2) * PAGE},
        {.p_type = PT_LOAD,
         .p_offset = (TEXT_PAGES + 3) * PAGE,
         .p_vaddr = MODULES,
         .p_filesz = MODULE_PAGES * PAGE,
         .p_memsz = MODULE_PAGES * PAGE},
    };
    enum { SIZE = (TEXT_PAGES + 3 + MODULE_PAGES) * PAGE };
    uint8_t *bytes = memory_allocate_zeroed(SIZE);
    const Elf64_Ehdr header = {
        .e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
        .e_phoff = sizeof header,
        .e_phentsize = sizeof *segments,
        .e_phnum = sizeof segments / sizeof *segments,
    };
    memcpy(bytes, &header, sizeof header);
    memcpy(bytes + sizeof header, segments, sizeof segments);
    for (size_t i = 1; i < sizeof segments / sizeof *segments; i++)
        for (uint64_t at = 0; at < segments[i].p_filesz; at++)
            bytes[segments[i].p_offset + at] = byte_of(segments[i].p_vaddr + at);
    memset(bytes + (TEXT_PAGES + 4) * PAGE, 0, PAGE);
    made_folder_put_bytes(&fixture->folder, "proc/kcore", bytes, SIZE);
    free(bytes);
}

static int set_up(void **state)
{
    struct fixture *fixture = memory_allocate_zeroed(sizeof *fixture);
    made_folder_begin(&fixture->folder);
    fixture->proc = made_folder_path(&fixture->folder, "proc");
    fixture->recording = made_folder_path(&fixture->folder, "recording");
    made_folder_make(&fixture->folder, "recording");
    made_folder_put(&fixture->folder, "proc/kallsyms",
                    "0000000000000000 A fixed_percpu_data\n"
                    "ffffffff81000000 T _stext\n"
                    "ffffffff81000040 T start_kernel\n"
                    "ffffffff81027123 T _etext\n"
                    "ffffffffc0204010 t last\t[b]\n"
                    "ffffffffc0200100 t first\t[a]\n");
    put_kcore(fixture);
    *state = fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;
    made_folder_end(&fixture->folder);
    free(fixture->proc);
    free(fixture->recording);
    free(fixture);
    return 0;
}

static void it_lies_where_kallsyms_says(void **state)
{
    const struct fixture *fixture = *state;
    struct kernel_text text;
    assert_true(kernel_text_find(&text, fixture->proc, NULL));
    assert_int_equal(text.start, TEXT);
    assert_int_equal(text.end, TEXT + TEXT_PAGES * PAGE);
    assert_int_equal(text.modules_start, MODULES);
    assert_int_equal(text.modules_end, MODULES + 6 * PAGE);
}

static void hidden_addresses_are_explained(void **state)
{
    const struct fixture *fixture = *state;
    struct kernel_text text;
    struct error error;
    made_folder_put(&fixture->folder, "proc/kallsyms",
                    "0000000000000000 T _stext\n0000000000000000 T _etext\n");
    assert_false(kernel_text_find(&text, fixture->proc, &error));
    assert_non_null(strstr(error.text, "kernel.kptr_restrict=0"));
}

/* The byte of the copy for an address; -1: it has none. */
static int copied_byte(const struct file_view *copy, uint64_t address)
{
    Elf64_Ehdr header;
    memcpy(&header, copy->bytes, sizeof header);
    for (unsigned i = 0; i < header.e_phnum; i++) {
        Elf64_Phdr segment;
        memcpy(&segment, copy->bytes + header.e_phoff + i * sizeof segment, sizeof segment);
        if (address >= segment.p_vaddr && address - segment.p_vaddr < segment.p_filesz)
            return copy->bytes[segment.p_offset + address - segment.p_vaddr];
    }
    return -1;
}

static void the_copy_has_text_and_modules_and_nothing_else(void **state)
{
    const struct fixture *fixture = *state;
    struct kernel_text text;
    struct error error = {0};
    assert_true(kernel_text_find(&text, fixture->proc, NULL));
    if (!kernel_code_keep(&text, fixture->proc, fixture->recording, &error))
        fail_msg("%s", error.text);
    char *path = memory_format("%s/kcore_dir/kcore", fixture->recording);
    struct file_view copy;
    assert_true(file_map(&copy, path, NULL));
    assert_int_equal(copied_byte(&copy, TEXT - 1), -1);
    assert_int_equal(copied_byte(&copy, TEXT + TEXT_PAGES * PAGE), -1);
    for (uint64_t at = TEXT; at < TEXT + TEXT_PAGES * PAGE; at += 512)
        assert_int_equal(copied_byte(&copy, at), byte_of(at));
    assert_int_equal(copied_byte(&copy, MODULES + 100), byte_of(MODULES));
    assert_int_equal(copied_byte(&copy, MODULES + PAGE + 100), 0);
    assert_int_equal(copied_byte(&copy, MODULES + 5 * PAGE), byte_of(MODULES + 5 * PAGE));
    file_unmap(&copy);
    free(path);
    path = memory_format("%s/kcore_dir/kallsyms", fixture->recording);
    assert_int_equal(access(path, R_OK), 0);
    free(path);
}

static void what_is_no_kcore_leaves_nothing(void **state)
{
    const struct fixture *fixture = *state;
    struct kernel_text text;
    struct error error;
    assert_true(kernel_text_find(&text, fixture->proc, NULL));
    made_folder_put(&fixture->folder, "proc/kcore", "");
    assert_false(kernel_code_keep(&text, fixture->proc, fixture->recording, &error));
    assert_non_null(strstr(error.text, "is not the ELF file"));
    char *path = memory_format("%s/kcore", fixture->proc);
    unlink(path);
    free(path);
    assert_false(kernel_code_keep(&text, fixture->proc, fixture->recording, &error));
    assert_non_null(strstr(error.text, "as root"));
    assert_int_equal(rmdir(fixture->recording), 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(it_lies_where_kallsyms_says),
        TEST(hidden_addresses_are_explained),
        TEST(the_copy_has_text_and_modules_and_nothing_else),
        TEST(what_is_no_kcore_leaves_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
