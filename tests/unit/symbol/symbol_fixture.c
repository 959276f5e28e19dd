#include "symbol_fixture.h"

#include <fcntl.h>
#include <gelf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static uint64_t load_bias(const char *path, size_t index)
{
    Elf64_Ehdr header;
    int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    bool dynamic = descriptor >= 0 && read(descriptor, &header, sizeof header) == sizeof header &&
                   header.e_type == ET_DYN;
    close(descriptor);
    return dynamic ? 0x10000000000 * (index + 1) : 0;
}

static void map_object(struct recording *recording, const char *path, size_t index)
{
    elf_version(EV_CURRENT);
    int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    assert_true(descriptor >= 0);
    Elf *elf = elf_begin(descriptor, ELF_C_READ, NULL);
    size_t count = 0;
    elf_getphdrnum(elf, &count);
    for (size_t i = 0; i < count; i++) {
        GElf_Phdr header;
        if (!gelf_getphdr(elf, (int)i, &header) || header.p_type != PT_LOAD ||
            !(header.p_flags & PF_X))
            continue;
        uint64_t page_offset = header.p_vaddr % 4096;
        uint64_t start = load_bias(path, index) + header.p_vaddr - page_offset;
        uint64_t length = (header.p_filesz + page_offset + 4095) / 4096 * 4096;
        add_mapping(recording, 0, FIXTURE_PID, start, start + length, header.p_offset - page_offset,
                    path);
    }
    elf_end(elf);
    close(descriptor);
}

void symbol_fixture_open(struct symbol_fixture *fixture, const char *const *paths)
{
    struct recording recording = recording_new();
    for (size_t i = 0; paths[i]; i++)
        map_object(&recording, paths[i], i);
    symbol_fixture_open_recording(fixture, &recording, NULL, NULL);
    recording_free(&recording);
}

void symbol_fixture_open_recording(struct symbol_fixture *fixture,
                                   const struct recording *recording, const char *directory,
                                   const char *perf_map_directory)
{
    struct perf_data data = recording_of(recording);
    assert_true(address_spaces_build(&fixture->spaces, &data, directory, NULL));
    address_space_cursor_init(&fixture->cursor,
                              address_spaces_process(&fixture->spaces, FIXTURE_PID));
    address_space_cursor_advance(&fixture->cursor, (struct ticks){UINT64_MAX});
    fixture->symbols = symbols_open(&fixture->spaces, perf_map_directory);
}

void symbol_fixture_close(struct symbol_fixture *fixture)
{
    symbols_close(fixture->symbols);
    address_space_cursor_free(&fixture->cursor);
    address_spaces_free(&fixture->spaces);
}

struct function_bounds symbol_fixture_find(struct symbol_fixture *fixture, size_t object,
                                           uint64_t address)
{
    uint64_t bias = load_bias(fixture->spaces.files[object]->path, object);
    const struct mapping *mapping = address_space_find(&fixture->cursor, bias + address);
    struct function_bounds bounds = symbols_find(fixture->symbols, mapping, bias + address);
    bounds.start -= bias;
    bounds.end -= bias;
    return bounds;
}

uint64_t symbol_fixture_landing_pad(struct symbol_fixture *fixture, size_t object,
                                    uint64_t return_address)
{
    uint64_t bias = load_bias(fixture->spaces.files[object]->path, object);
    const struct mapping *mapping = address_space_find(&fixture->cursor, bias + return_address);
    uint64_t pad = symbols_landing_pad(fixture->symbols, mapping, bias + return_address);
    return pad ? pad - bias : 0;
}

const char *symbol_fixture_name(struct symbol_fixture *fixture, size_t object, uint64_t address)
{
    function_id id = symbol_fixture_find(fixture, object, address).function;
    return symbols_function(fixture->symbols, id)->name;
}

void run_command(const char *format, ...)
{
    char *command = NULL;
    va_list arguments;
    va_start(arguments, format);
    assert_true(vasprintf(&command, format, arguments) >= 0);
    va_end(arguments);
    if (system(command) != 0)
        fail_msg("command failed: %s", command);
    free(command);
}

char *command_line_output(const char *format, ...)
{
    char *command = NULL;
    va_list arguments;
    va_start(arguments, format);
    assert_true(vasprintf(&command, format, arguments) >= 0);
    va_end(arguments);
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    free(command);
    char *line = NULL;
    size_t capacity = 0;
    ssize_t length = getline(&line, &capacity, pipe);
    /* Let the command finish writing. */
    while (fgetc(pipe) != EOF)
        ;
    pclose(pipe);
    if (length <= 0) {
        free(line);
        return NULL;
    }
    line[strcspn(line, "\n")] = 0;
    return line;
}

uint64_t symbol_value(const char *path, const char *name)
{
    char *line = command_line_output("nm %s | awk '$3 == \"%s\" { print $1 }'", path, name);
    if (!line)
        fail_msg("%s has no symbol %s", path, name);
    uint64_t value = strtoull(line, NULL, 16);
    free(line);
    return value;
}
