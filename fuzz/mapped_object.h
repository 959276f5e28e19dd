/* Any bytes as an object file that a process has mapped as code: what elf_fuzz.c and unwinding_fuzz.c ask about. */
#ifndef MAGIC_TRACE_FUZZ_MAPPED_OBJECT_H
#define MAGIC_TRACE_FUZZ_MAPPED_OBJECT_H

#include "base/memory.h"
#include "image/address_space.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { OBJECT_START = 0x10000000, OBJECT_LENGTH = 0x10000, OBJECT_PID = 1 };

struct mapped_object {
    int file;
    char *path; /* owned */
    struct address_spaces spaces;
};

static inline void mapped_object_make(struct mapped_object *object, const uint8_t *bytes,
                                      size_t size)
{
    object->file = memfd_create("object", MFD_CLOEXEC);
    if (object->file < 0 || write(object->file, bytes, size) != (ssize_t)size)
        abort();
    object->path = memory_format("/proc/self/fd/%d", object->file);
    struct sideband_record record = {
        .kind = SIDEBAND_MAPPING,
        .pid = OBJECT_PID,
        .tid = OBJECT_PID,
        .mapping = {.start = OBJECT_START,
                    .length = OBJECT_LENGTH,
                    .executable = true,
                    .path = object->path},
    };
    struct perf_data data = {.records = &record, .record_count = 1};
    if (!address_spaces_build(&object->spaces, &data, NULL, NULL))
        abort();
}

/* The address space at the mapping's time; address_space_cursor_free(). */
static inline struct address_space_cursor mapped_object_cursor(const struct mapped_object *object)
{
    struct address_space_cursor cursor;
    address_space_cursor_init(&cursor, address_spaces_process(&object->spaces, OBJECT_PID));
    address_space_cursor_advance(&cursor, (struct ticks){0});
    return cursor;
}

static inline void mapped_object_free(struct mapped_object *object)
{
    address_spaces_free(&object->spaces);
    free(object->path);
    close(object->file);
}

#endif
