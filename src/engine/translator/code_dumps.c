#include "engine/translator/code_dumps.h"

#include "base/file.h"
#include "base/memory.h"
#include "engine/packets/code_image.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct code_dump {
    uint32_t pid;
    uint64_t offset, size; /* in the dump area; the tail included */
    uint64_t address;
};

static bool find_dump(const struct translator_arena *arena, const struct logged_mapping *mapping,
                      struct code_dump *dump)
{
    int length = 0;
    uint64_t whole = arena->geometry.dump_size;
    if (sscanf(mapping->path, "images/dump.%" SCNu32 ".%" SCNx64 "%n", &dump->pid, &dump->offset,
               &length) != 2 ||
        mapping->path[length] != 0)
        return false;
    dump->address = mapping->start;
    return !__builtin_add_overflow(mapping->length, CODE_IMAGE_TAIL, &dump->size) &&
           dump->offset <= whole && dump->size <= whole - dump->offset;
}

static const uint8_t *dumped_code(const struct translator_arena *arena,
                                  const struct code_dump *dump)
{
    return arena->bytes + arena->geometry.dump_offset + dump->offset;
}

const uint8_t *code_dumps_find(const struct translator_arena *arena,
                               const struct logged_mapping *mapping)
{
    struct code_dump dump;
    return find_dump(arena, mapping, &dump) ? dumped_code(arena, &dump) : NULL;
}

static bool write_dump(const struct translator_arena *arena, const struct code_dump *dump,
                       const char *path, struct error *error)
{
    int descriptor = file_create_private(path, error);
    if (descriptor < 0)
        return false;
    struct code_image image;
    code_image_describe(&image, dump->address, dump->size);
    const uint8_t *code = dumped_code(arena, dump);
    bool ok = file_write_all(descriptor, &image, sizeof image, path, error) &&
              file_write_all(descriptor, code, dump->size, path, error);
    close(descriptor);
    return ok;
}

bool code_dumps_write(const struct translator_arena *arena, const char *directory,
                      struct error *error)
{
    bool ok = true;
    struct log_reader reader = translator_arena_sideband(arena);
    for (const struct logged_record *record; ok && (record = log_reader_next(&reader));) {
        const struct logged_mapping *mapping = (const struct logged_mapping *)record;
        struct code_dump dump;
        if (record->kind != LOGGED_MAPPING || !mapping->jit || !find_dump(arena, mapping, &dump))
            continue;
        char *path =
            memory_format("%s/images/dump.%" PRIu32 ".%" PRIx64, directory, dump.pid, dump.offset);
        if (access(path, F_OK) != 0)
            ok = write_dump(arena, &dump, path, error);
        free(path);
    }
    return ok;
}
