/* The kernel's code and its names: from a copy of kcore, from vmlinux, and as it changes. */
#include "../image/image_fixture.h"
#include "base/memory.h"
#include "symbol/symbols.h"

#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define TEXT UINT64_C(0xffffffff9b000000) /* where the kernel lies in the recordings */
#define LINKED UINT64_C(0xffffffff81000000)
#define MODULE UINT64_C(0xffffffffc0100000)

enum { SIZE = 0x1000, CODE = 0x400 };

static int set_up(void **state)
{
    *state = make_test_folder();
    setenv("PERF_BUILDID_DIR", *state, 1);
    return 0;
}

static int tear_down(void **state)
{
    unsetenv("PERF_BUILDID_DIR");
    remove_test_folder(*state);
    return 0;
}

/* Two segments, of which every byte is the low byte of its address in the file, plus 1. */
static void write_kernel(const char *folder, const char *name, uint16_t type, uint64_t text,
                         uint64_t module)
{
    uint8_t bytes[SIZE];
    for (size_t i = 0; i < SIZE; i++)
        bytes[i] = (uint8_t)(i / 16 + 1);
    const Elf64_Ehdr header = {
        .e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
        .e_type = type,
        .e_machine = EM_X86_64,
        .e_version = EV_CURRENT,
        .e_phoff = sizeof header,
        .e_ehsize = sizeof header,
        .e_phentsize = sizeof(Elf64_Phdr),
        .e_phnum = 2,
    };
    const Elf64_Phdr segments[] = {
        {PT_LOAD, PF_R | PF_X, CODE, text, text, 0x200, 0x200, 0x1000},
        {PT_LOAD, PF_R | PF_X, CODE + 0x200, module, module, 0x200, 0x200, 0x1000},
    };
    memcpy(bytes, &header, sizeof header);
    memcpy(bytes + sizeof header, segments, sizeof segments);
    char *path = memory_format("%s/%s", folder, name);
    write_file(path, bytes, sizeof bytes);
    free(path);
}

static void write_kallsyms(const char *folder)
{
    char *path = memory_format("%s/kcore_dir/kallsyms", folder);
    char *text = memory_format("%llx T _text\n%llx D data\n%llx t do_work\n0 T hidden\nrubbish\n"
                               "%llx t in_module\t[module]\n",
                               (unsigned long long)TEXT, (unsigned long long)TEXT + 0x20,
                               (unsigned long long)TEXT + 0x40, (unsigned long long)MODULE);
    write_file(path, text, strlen(text));
    free(text);
    free(path);
}

struct opened {
    struct recording recording;
    struct address_spaces spaces;
    struct symbols *symbols;
};

static struct sideband_record *add_record(struct opened *opened, enum sideband_kind kind,
                                          uint64_t time)
{
    struct sideband_record *record = array_add(&opened->recording.records);
    record->kind = kind;
    record->time.value = time;
    record->pid = record->tid = UINT32_MAX;
    return record;
}

static struct opened new_recording(void)
{
    struct opened opened = {.recording = recording_new()};
    struct sideband_record *kernel = add_record(&opened, SIDEBAND_MAPPING, 0);
    kernel->mapping.start = kernel->mapping.file_offset = TEXT;
    kernel->mapping.length = 0x1000000;
    kernel->mapping.kernel = kernel->mapping.executable = true;
    kernel->mapping.path = "[kernel.kallsyms]_text";
    add_mapping(&opened.recording, 0, 7, 0x1000, 0x2000, 0, "//user");
    return opened;
}

static void open_recording(struct opened *opened, const char *folder)
{
    struct perf_data data = recording_of(&opened->recording);
    data.setup.kernel = true;
    assert_true(address_spaces_build(&opened->spaces, &data, folder, NULL));
    opened->symbols = symbols_open(&opened->spaces, NULL);
}

static void close_recording(struct opened *opened)
{
    symbols_close(opened->symbols);
    address_spaces_free(&opened->spaces);
    recording_free(&opened->recording);
}

/* `byte`: the code at `address` at `time`, 0: there is none. */
static void check(struct opened *opened, uint64_t time, uint64_t address, uint8_t byte,
                  const char *name)
{
    struct address_space_cursor cursor;
    address_space_cursor_init(&cursor, address_spaces_process(&opened->spaces, 7));
    address_space_cursor_advance(&cursor, (struct ticks){time});
    const struct mapping *mapping = address_space_find(&cursor, address);
    assert_int_equal(mapping != NULL, byte != 0);
    if (mapping) {
        assert_int_equal(
            mapping->file->view.bytes[mapping->file_offset + (address - mapping->start)], byte);
        struct function_bounds bounds = symbols_find(opened->symbols, mapping, address);
        assert_string_equal(symbols_function(opened->symbols, bounds.function)->name, name);
    }
    address_space_cursor_free(&cursor);
}

static void copy_of_kcore_is_used(void **state)
{
    write_kernel(*state, "kcore_dir/kcore", ET_CORE, TEXT, MODULE);
    write_kallsyms(*state);
    struct opened opened = new_recording();
    struct sideband_record *program = add_record(&opened, SIDEBAND_KERNEL_SYMBOL, 5);
    program->kernel_symbol.start = MODULE + 0x100;
    program->kernel_symbol.length = 0x20;
    program->kernel_symbol.name = "bpf_prog_1";
    open_recording(&opened, *state);
    check(&opened, 0, TEXT, CODE / 16 + 1, "_text");
    check(&opened, 0, TEXT + 0x30, CODE / 16 + 4, "_text"); /* data is no function */
    check(&opened, 0, TEXT + 0x50, CODE / 16 + 6, "do_work");
    check(&opened, 0, TEXT + 0x200, 0, NULL);
    check(&opened, 0, MODULE + 0x10, (CODE + 0x200) / 16 + 2, "in_module");
    check(&opened, 0, MODULE + 0x110, (CODE + 0x200) / 16 + 0x12, "bpf_prog_1");
    close_recording(&opened);
}

static void vmlinux_is_moved_to_where_the_kernel_lay(void **state)
{
    write_kernel(*state, "images/vmlinux", ET_EXEC, LINKED, LINKED + 0x1000);
    struct opened opened = new_recording();
    open_recording(&opened, *state);
    struct address_space_cursor cursor;
    address_space_cursor_init(&cursor, address_spaces_process(&opened.spaces, 7));
    const struct mapping *mapping = address_space_find(&cursor, TEXT + 0x1010);
    assert_non_null(mapping);
    assert_int_equal(mapping->start, TEXT + 0x1000);
    assert_int_equal(mapping->file_offset, CODE + 0x200);
    address_space_cursor_free(&cursor);
    close_recording(&opened);
}

static void changes_of_code_are_seen_at_their_time(void **state)
{
    write_kernel(*state, "kcore_dir/kcore", ET_CORE, TEXT, MODULE);
    write_kallsyms(*state);
    struct opened opened = new_recording();
    static const uint8_t before[] = {0x66, 0x90}, after[] = {0xeb, 0x10};
    for (uint64_t i = 0; i < 2; i++) {
        struct sideband_record *change = add_record(&opened, SIDEBAND_CODE_CHANGE, 100 + 100 * i);
        change->code_change.address = TEXT + 0x48;
        change->code_change.old_bytes = i ? after : before;
        change->code_change.bytes = i ? before : after;
        change->code_change.size = change->code_change.old_size = 2;
    }
    add_name(&opened.recording, 150, 7, 7, "new program", true); /* clears what is the process's */
    open_recording(&opened, *state);
    check(&opened, 50, TEXT + 0x48, 0x66, "do_work");
    check(&opened, 100, TEXT + 0x49, 0x10, "do_work");
    check(&opened, 160, TEXT + 0x49, 0x10, "do_work");
    check(&opened, 160, 0x1000, 0, NULL);
    check(&opened, 200, TEXT + 0x48, 0x66, "do_work");
    close_recording(&opened);
}

static void kernel_that_is_nowhere_is_no_mapping(void **state)
{
    struct opened opened = new_recording();
    open_recording(&opened, *state);
    check(&opened, 0, TEXT, 0, NULL);
    close_recording(&opened);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(copy_of_kcore_is_used, set_up, tear_down),
        cmocka_unit_test_setup_teardown(vmlinux_is_moved_to_where_the_kernel_lay, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(changes_of_code_are_seen_at_their_time, set_up, tear_down),
        cmocka_unit_test_setup_teardown(kernel_that_is_nowhere_is_no_mapping, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
