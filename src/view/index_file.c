#include "view/index_file.h"

#include "base/memory.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BUFFER_SIZE = 1 << 18, ALIGNMENT = 8 };

bool index_file_create(struct index_file *file, const char *path, struct error *error)
{
    *file = (struct index_file){
        .path = memory_copy_string(path),
        .temporary = memory_format("%s.%ld", path, (long)getpid()),
        .size = sizeof(struct index_header),
        .buffer = memory_allocate(BUFFER_SIZE),
    };
    file->descriptor = file_create_private(file->temporary, error);
    if (file->descriptor >= 0 &&
        lseek(file->descriptor, sizeof(struct index_header), SEEK_SET) >= 0)
        return true;
    index_file_abandon(file);
    return false;
}

static void flush(struct index_file *file)
{
    if (file->failed.code == ERROR_NONE)
        file_write_all(file->descriptor, file->buffer, file->used, file->temporary, &file->failed);
    file->used = 0;
}

void index_file_append(struct index_file *file, const void *bytes, size_t size)
{
    file->size += size;
    if (size > BUFFER_SIZE - file->used)
        flush(file);
    if (size <= BUFFER_SIZE) {
        memcpy(file->buffer + file->used, bytes, size);
        file->used += size;
    } else if (file->failed.code == ERROR_NONE) {
        file_write_all(file->descriptor, bytes, size, file->temporary, &file->failed);
    }
}

uint64_t index_file_chunk_bytes(const struct index_file *file)
{
    return file->size - sizeof(struct index_header);
}

uint64_t index_file_align(struct index_file *file)
{
    static const uint8_t ZEROS[ALIGNMENT];
    index_file_append(file, ZEROS, (0 - file->size) % ALIGNMENT);
    return file->size;
}

bool index_file_map(struct index_file *file, struct file_view *view, struct error *error)
{
    static const uint8_t ZEROS[INDEX_PADDING];
    index_file_append(file, ZEROS, sizeof ZEROS);
    flush(file);
    *view = (struct file_view){0};
    if (file->failed.code != ERROR_NONE) {
        *error = file->failed;
        return false;
    }
    return file_map(view, file->temporary, error);
}

static void close_file(struct index_file *file)
{
    if (file->descriptor >= 0)
        close(file->descriptor);
    free(file->path);
    free(file->temporary);
    free(file->buffer);
    *file = (struct index_file){.descriptor = -1};
}

static bool put_in_place(struct index_file *file, const struct index_header *header,
                         struct error *error)
{
    flush(file);
    if (file->failed.code != ERROR_NONE) {
        *error = file->failed;
        return false;
    }
    if (lseek(file->descriptor, 0, SEEK_SET) != 0)
        return error_set_errno(error, ERROR_IO, errno, "cannot write to %s", file->temporary);
    return file_write_all(file->descriptor, header, sizeof *header, file->temporary, error) &&
           (rename(file->temporary, file->path) == 0 ||
            error_set_errno(error, ERROR_IO, errno, "cannot rename %s to %s", file->temporary,
                            file->path));
}

bool index_file_commit(struct index_file *file, const struct index_header *header,
                       struct error *error)
{
    struct error reason = {0};
    if (put_in_place(file, header, &reason)) {
        close_file(file);
        return true;
    }
    if (error)
        *error = reason;
    index_file_abandon(file);
    return false;
}

void index_file_abandon(struct index_file *file)
{
    if (file->descriptor >= 0)
        unlink(file->temporary);
    close_file(file);
}
