#include "engine/translator/code_dumps.h"

#include "base/array.h"
#include "base/file.h"
#include "base/memory.h"
#include "engine/packets/code_image.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct code_dump {
    uint64_t offset, size; /* in the dump area; the tail included */
    uint64_t address;
    bool unused;
};

static bool find_dump(const struct translator_arena *arena, const struct logged_mapping *mapping,
                      struct code_dump *dump)
{
    int length = 0;
    uint64_t number, whole = arena->geometry.dump_size;
    uint64_t place = mapping->file_offset - CODE_IMAGE_OFFSET;
    if (sscanf(mapping->path, "images/dump.%" SCNx64 "%n", &number, &length) != 1 ||
        mapping->path[length] != 0 || number > whole / TR_DUMP_SPAN || place >= TR_DUMP_SPAN)
        return false;
    *dump = (struct code_dump){.offset = number * TR_DUMP_SPAN + place,
                               .address = mapping->start,
                               .unused = mapping->record.kind == LOGGED_UNUSED};
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

/* ---- files ---- */

static int by_offset(const void *left, const void *right)
{
    const struct code_dump *a = left, *b = right;
    return a->offset < b->offset ? -1 : a->offset > b->offset;
}

static struct array list_dumps(const struct translator_arena *arena)
{
    struct array dumps = array_of(sizeof(struct code_dump));
    struct log_reader reader = translator_arena_sideband(arena);
    for (const struct logged_record *record; (record = log_reader_next(&reader));) {
        const struct logged_mapping *mapping = (const struct logged_mapping *)record;
        struct code_dump dump;
        if ((record->kind == LOGGED_MAPPING || record->kind == LOGGED_UNUSED) && mapping->jit &&
            find_dump(arena, mapping, &dump))
            array_add_all(&dumps, &dump, 1);
    }
    if (dumps.count > 1)
        qsort(dumps.elements, dumps.count, dumps.element_size, by_offset);
    return dumps;
}

/* The dumps of one file. */
struct span {
    const struct translator_arena *arena;
    const struct code_dump *dumps;
    size_t count;
    const char *path;
};

static uint64_t file_offset(const struct code_dump *dump)
{
    return CODE_IMAGE_OFFSET + dump->offset % TR_DUMP_SPAN;
}

static bool write_at(int descriptor, uint64_t offset, const void *bytes, size_t size,
                     const char *path, struct error *error)
{
    if (lseek(descriptor, (off_t)offset, SEEK_SET) < 0)
        return error_set_errno(error, ERROR_IO, errno, "cannot write %s", path);
    return file_write_all(descriptor, bytes, size, path, error);
}

/* What is not used is a hole. */
static bool write_code(const struct span *span, int descriptor, struct error *error)
{
    bool ok = true;
    for (size_t i = 0; ok && i < span->count; i++) {
        const struct code_dump *dump = &span->dumps[i];
        ok = dump->unused || write_at(descriptor, file_offset(dump), dumped_code(span->arena, dump),
                                      dump->size, span->path, error);
    }
    return ok;
}

static void describe(const struct span *span, struct code_image *image)
{
    code_image_begin(image);
    for (size_t i = 0; i < span->count; i++) {
        const struct code_dump *dump = &span->dumps[i];
        if (!dump->unused)
            code_image_add(image, file_offset(dump), dump->address, dump->size);
    }
}

static bool write_span(const struct span *span, enum code_dumps_part part, struct error *error)
{
    struct code_image image;
    describe(span, &image);
    if (image.header.e_phnum == 0) {
        unlink(span->path);
        return true;
    }
    int descriptor = file_create_private(span->path, error);
    if (descriptor < 0)
        return false;
    bool ok = file_write_all(descriptor, &image, sizeof image, span->path, error) &&
              (part == CODE_DUMPS_HEADERS || write_code(span, descriptor, error));
    close(descriptor);
    return ok;
}

bool code_dumps_write(const struct translator_arena *arena, const char *directory,
                      enum code_dumps_part part, struct error *error)
{
    struct array dumps = list_dumps(arena);
    const struct code_dump *all = dumps.elements;
    bool ok = true;
    for (size_t first = 0, end; ok && first < dumps.count; first = end) {
        uint64_t number = all[first].offset / TR_DUMP_SPAN;
        for (end = first; end < dumps.count && all[end].offset / TR_DUMP_SPAN == number;)
            end++;
        char *path = memory_format("%s/images/dump.%" PRIx64, directory, number);
        struct span span = {arena, &all[first], end - first, path};
        ok = write_span(&span, part, error);
        free(path);
    }
    array_free(&dumps);
    return ok;
}
