/* Files by build id: which file is the right one, and where it is found when it is not at its path.
 */
#include "base/memory.h"
#include "image/address_space.h"
#include "image/build_id_cache.h"
#include "image_fixture.h"

#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { OBJECT_SIZE = 0x200, NOTE = 0x100, CODE = 0x180 };

static int set_up(void **state)
{
    *state = make_test_folder();
    setenv("PERF_BUILDID_DIR", *state, 1);
    unsetenv("DEBUGINFOD_URLS");
    return 0;
}

static int tear_down(void **state)
{
    unsetenv("PERF_BUILDID_DIR");
    remove_test_folder(*state);
    return 0;
}

/* An object whose build id is 20 times `mark`, and one byte of whose code too. */
static void write_object(const char *path, uint8_t mark)
{
    uint8_t bytes[OBJECT_SIZE] = {0};
    const Elf64_Ehdr header = {
        .e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
        .e_type = ET_DYN,
        .e_machine = EM_X86_64,
        .e_version = EV_CURRENT,
        .e_phoff = sizeof header,
        .e_ehsize = sizeof header,
        .e_phentsize = sizeof(Elf64_Phdr),
        .e_phnum = 2,
    };
    const Elf64_Phdr segments[] = {
        {.p_type = PT_LOAD,
         .p_flags = PF_R | PF_X,
         .p_filesz = OBJECT_SIZE,
         .p_memsz = OBJECT_SIZE},
        {.p_type = PT_NOTE, .p_offset = NOTE, .p_filesz = 36, .p_memsz = 36, .p_align = 4},
    };
    const Elf64_Nhdr note = {4, 20, NT_GNU_BUILD_ID};
    memcpy(bytes, &header, sizeof header);
    memcpy(bytes + sizeof header, segments, sizeof segments);
    memcpy(bytes + NOTE, &note, sizeof note);
    memcpy(bytes + NOTE + sizeof note, "GNU", 4);
    memset(bytes + NOTE + sizeof note + 4, mark, 20);
    bytes[CODE] = mark;
    write_file(path, bytes, sizeof bytes);
}

/* The object with that mark, as today's perf keeps it, or by another name. */
static void put_into_cache(const char *folder, uint8_t mark, const char *name)
{
    char *path = memory_format("%s/.build-id/%02x/", folder, mark), *longer;
    for (int i = 1; i < 20; i++, free(path), path = longer)
        longer = memory_format("%s%02x", path, mark);
    longer = memory_format("%s%s", path, name);
    write_object(longer, mark);
    free(longer);
    free(path);
}

static void cache_of_every_age_is_searched(void **state)
{
    put_into_cache(*state, 0x11, "/elf");
    put_into_cache(*state, 0x22, "/vdso");
    put_into_cache(*state, 0x33, "");
    for (int mark = 0x11; mark <= 0x44; mark += 0x11) {
        struct build_id id = {.size = 20};
        memset(id.bytes, mark, 20);
        char *found = build_id_cache_find(&id);
        assert_int_equal(found != NULL, mark != 0x44);
        free(found);
    }
}

/* The mark of the file that a recording's mapping of `path`, with build id `wanted`, gets; 0: none.
 */
static uint8_t mark_found(const char *path, uint8_t wanted, bool in_feature)
{
    struct recording recording = recording_new();
    add_mapping(&recording, 0, 7, 0x1000, 0x2000, 0, path);
    struct recorded_build_id feature = {.path = path, .size = 20};
    memset(feature.id, wanted, 20);
    struct sideband_record *record = array_at(&recording.records, 0);
    if (!in_feature) {
        memset(record->mapping.build_id, wanted, 20);
        record->mapping.build_id_size = 20;
    }
    struct perf_data data = recording_of(&recording);
    data.build_ids = &feature;
    data.build_id_count = in_feature;
    struct address_spaces spaces;
    assert_true(address_spaces_build(&spaces, &data, NULL, NULL));
    const struct image_file *file = spaces.files[0];
    uint8_t mark = file->local_path ? file->view.bytes[CODE] : 0;
    if (mark)
        assert_int_equal(file->build_id.bytes[19], mark);
    address_spaces_free(&spaces);
    recording_free(&recording);
    return mark;
}

static void right_file_is_taken(void **state)
{
    char *path = memory_format("%s/bin/program", (char *)*state);
    write_object(path, 0x55);
    assert_int_equal(mark_found(path, 0x55, false), 0x55);
    assert_int_equal(mark_found(path, 0x55, true), 0x55);
    /* Another one is there, and nothing better. */
    assert_int_equal(mark_found(path, 0x66, true), 0x55);
    put_into_cache(*state, 0x66, "/elf");
    assert_int_equal(mark_found(path, 0x66, true), 0x66);
    assert_int_equal(mark_found(path, 0x66, false), 0x66);
    assert_int_equal(mark_found("/no/such/file", 0x66, true), 0x66);
    assert_int_equal(mark_found("/no/such/file", 0x77, true), 0);
    free(path);
}

static void kernels_own_object_is_found(void **state)
{
    put_into_cache(*state, 0x22, "/vdso");
    assert_int_equal(mark_found("[vdso]", 0x22, true), 0x22);
    assert_int_equal(mark_found("[vdso]", 0x23, true), 0);
}

/* As an engine dumps it: with the recording, under a name of its own. */
static void dump_of_an_object_has_symbols_of_its_own(void **state)
{
    char *path = memory_format("%s/images/memory-7-1000", (char *)*state);
    write_object(path, 0x22);
    struct recording recording = recording_new();
    add_mapping(&recording, 0, 7, 0x1000, 0x1000 + OBJECT_SIZE, 0, path);
    struct perf_data data = recording_of(&recording);
    struct address_spaces spaces;
    assert_true(address_spaces_build(&spaces, &data, *state, NULL));
    assert_true(spaces.files[0]->elf);
    assert_false(spaces.files[0]->jit);
    assert_int_equal(spaces.files[0]->view.bytes[CODE], 0x22);
    address_spaces_free(&spaces);
    recording_free(&recording);
    free(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(cache_of_every_age_is_searched, set_up, tear_down),
        cmocka_unit_test_setup_teardown(right_file_is_taken, set_up, tear_down),
        cmocka_unit_test_setup_teardown(dump_of_an_object_has_symbols_of_its_own, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(kernels_own_object_is_found, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
