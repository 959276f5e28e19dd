/* ELF objects, whole, foreign and damaged. */
#include "image/image_file.h"

#include "base/memory.h"
#include "image_fixture.h"

#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Headers of an object with one readable and one executable segment, and `code` bytes of it. */
struct small_object {
    Elf64_Ehdr header;
    Elf64_Phdr segments[2];
    uint8_t code[64];
};

static struct small_object make_object(void)
{
    struct small_object object = {0};
    memcpy(object.header.e_ident, ELFMAG, SELFMAG);
    object.header.e_ident[EI_CLASS] = ELFCLASS64;
    object.header.e_ident[EI_DATA] = ELFDATA2LSB;
    object.header.e_ident[EI_VERSION] = EV_CURRENT;
    object.header.e_type = ET_DYN;
    object.header.e_machine = EM_X86_64;
    object.header.e_version = EV_CURRENT;
    object.header.e_ehsize = sizeof object.header;
    object.header.e_phoff = offsetof(struct small_object, segments);
    object.header.e_phentsize = sizeof *object.segments;
    object.header.e_phnum = 2;
    /* Not in the order of addresses. */
    object.segments[0] = (Elf64_Phdr){
        .p_type = PT_LOAD,
        .p_flags = PF_R | PF_X,
        .p_offset = offsetof(struct small_object, code),
        .p_vaddr = 0x7000 + offsetof(struct small_object, code),
        .p_filesz = sizeof object.code,
        .p_memsz = sizeof object.code,
    };
    object.segments[1] = (Elf64_Phdr){
        .p_type = PT_LOAD,
        .p_flags = PF_R,
        .p_filesz = offsetof(struct small_object, code),
        .p_memsz = offsetof(struct small_object, code),
    };
    return object;
}

struct opened_image {
    struct image_file file;
    struct arena memory;
    char *path;
};

static void open_image(struct opened_image *image, const char *folder, const void *bytes,
                       size_t size, bool jit)
{
    *image = (struct opened_image){.path = memory_format("%s/object", folder)};
    write_file(image->path, bytes, size);
    image->file = (struct image_file){.path = image->path, .local_path = image->path, .jit = jit};
    assert_true(image_file_open(&image->file, &image->memory, NULL));
    assert_int_equal(image->file.view.size, size);
}

static void close_image(struct opened_image *image)
{
    image_file_close(&image->file);
    arena_free(&image->memory);
    free(image->path);
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

static void segments_are_sorted_and_addresses_found(void **state)
{
    struct small_object object = make_object();
    for (int jit = 0; jit < 2; jit++) {
        struct opened_image image;
        open_image(&image, *state, &object, sizeof object, jit);
        assert_true(image.file.elf);
        assert_int_equal(image.file.segment_count, 2);
        assert_false(image.file.segments[0].executable);
        assert_true(image.file.segments[1].executable);
        uint64_t address, code = offsetof(struct small_object, code);
        assert_true(image_file_address(&image.file, code + 5, &address));
        assert_int_equal(address, 0x7000 + code + 5);
        assert_true(image_file_address(&image.file, 0, &address));
        assert_int_equal(address, 0);
        assert_false(image_file_address(&image.file, sizeof object, &address));
        assert_false(image_file_address(&image.file, UINT64_MAX, &address));
        close_image(&image);
    }
}

static void segments_are_found_by_address(void **state)
{
    struct small_object object = make_object();
    uint64_t code = object.segments[0].p_vaddr, offset;
    object.segments[0].p_memsz += 100;
    struct opened_image image;
    open_image(&image, *state, &object, sizeof object, false);
    const struct image_segment *executable = image_file_segment(&image.file, code);
    assert_non_null(executable);
    assert_true(executable->executable);
    /* In memory, but not in the file. */
    assert_ptr_equal(image_file_segment(&image.file, code + sizeof object.code + 99), executable);
    assert_false(image_file_offset(&image.file, code + sizeof object.code, &offset, NULL));
    assert_true(image_file_offset(&image.file, code + sizeof object.code - 1, &offset, NULL));
    assert_int_equal(offset, sizeof object - 1);
    assert_null(image_file_segment(&image.file, code + sizeof object.code + 100));
    assert_null(image_file_segment(&image.file, code - 1));
    close_image(&image);
}

static void foreign_files_are_no_elf_objects(void **state)
{
    struct opened_image image;
    open_image(&image, *state, "#!/bin/sh\n", 10, false);
    assert_false(image.file.elf);
    close_image(&image);
    open_image(&image, *state, "", 0, false);
    assert_false(image.file.elf);
    close_image(&image);
    struct small_object object = make_object();
    object.header.e_machine = EM_AARCH64;
    open_image(&image, *state, &object, sizeof object, false);
    assert_false(image.file.elf);
    close_image(&image);
}

static void segments_never_reach_beyond_the_file(void **state)
{
    struct small_object object = make_object();
    object.segments[0].p_filesz = object.segments[0].p_memsz = UINT64_MAX / 2;
    object.segments[1].p_offset = UINT64_MAX - 5;
    struct opened_image image;
    open_image(&image, *state, &object, sizeof object, false);
    assert_int_equal(image.file.segment_count, 1);
    assert_int_equal(image.file.segments[0].file_size, sizeof object.code);
    close_image(&image);
}

static void truncation_and_flipped_bytes_do_no_harm(void **state)
{
    struct small_object object = make_object();
    for (size_t i = 0; i < sizeof object; i++) {
        struct small_object damaged = object;
        ((uint8_t *)&damaged)[i] ^= 0xff;
        for (int cut = 0; cut < 2; cut++) {
            struct opened_image image;
            size_t size = cut ? i : sizeof object;
            open_image(&image, *state, &damaged, size, false);
            for (uint32_t j = 0; j < image.file.segment_count; j++) {
                const struct image_segment *segment = &image.file.segments[j];
                assert_true(segment->file_offset + segment->file_size <= size);
                assert_true(segment->address + segment->memory_size > segment->address);
            }
            close_image(&image);
        }
    }
}

static void vanished_file_becomes_a_missing_one(void **state)
{
    struct image_file file = {.path = "/no/such/file", .local_path = "/no/such/file"};
    struct arena memory = {0};
    assert_false(image_file_open(&file, &memory, NULL));
    assert_null(file.local_path);
    image_file_close(&file);
    arena_free(&memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(segments_are_sorted_and_addresses_found, set_up, tear_down),
        cmocka_unit_test_setup_teardown(segments_are_found_by_address, set_up, tear_down),
        cmocka_unit_test_setup_teardown(foreign_files_are_no_elf_objects, set_up, tear_down),
        cmocka_unit_test_setup_teardown(segments_never_reach_beyond_the_file, set_up, tear_down),
        cmocka_unit_test_setup_teardown(truncation_and_flipped_bytes_do_no_harm, set_up, tear_down),
        cmocka_unit_test(vanished_file_becomes_a_missing_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
