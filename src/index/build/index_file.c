#include "index/build/index_file.h"

#include "base/memory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BUFFER_SIZE = 1 << 18, ALIGNMENT = 8 };

bool index_file_create(struct index_file *file, const char *path, struct error *error)
{
    *file = (struct index_file){.size = sizeof(struct index_header)};
    if (!output_file_recreate(&file->output, path, error))
        return false;
    file->buffer = memory_allocate(BUFFER_SIZE);
    if (lseek(file->output.descriptor, sizeof(struct index_header), SEEK_SET) < 0)
        error_set_errno(&file->failed, ERROR_IO, errno, "cannot write to %s", path);
    return true;
}

static void write_all(struct index_file *file, const void *bytes, size_t size)
{
    if (file->failed.code == ERROR_NONE)
        file_write_all(file->output.descriptor, bytes, size, file->output.path, &file->failed);
}

static void flush(struct index_file *file)
{
    write_all(file, file->buffer, file->used);
    file->used = 0;
}

void index_file_append(struct index_file *file, const void *bytes, size_t size)
{
    if (size == 0)
        return; /* and `bytes` may be NULL */
    file->size += size;
    if (size > BUFFER_SIZE - file->used)
        flush(file);
    if (size <= BUFFER_SIZE) {
        memcpy(file->buffer + file->used, bytes, size);
        file->used += size;
    } else {
        write_all(file, bytes, size);
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
    return file_map_descriptor(view, file->output.descriptor, file->output.path, error);
}

static bool write_header(struct index_file *file, const struct index_header *header,
                         struct error *error)
{
    flush(file);
    if (file->failed.code != ERROR_NONE) {
        *error = file->failed;
        return false;
    }
    if (lseek(file->output.descriptor, 0, SEEK_SET) != 0)
        return error_set_errno(error, ERROR_IO, errno, "cannot write to %s", file->output.path);
    return file_write_all(file->output.descriptor, header, sizeof *header, file->output.path,
                          error);
}

bool index_file_commit(struct index_file *file, const struct index_header *header,
                       struct error *error)
{
    struct error reason = {0};
    bool ok = write_header(file, header, &reason);
    if (!ok && error)
        *error = reason;
    if (!ok) {
        index_file_abandon(file);
        return false;
    }
    free(file->buffer);
    return output_file_commit(&file->output, error);
}

void index_file_abandon(struct index_file *file)
{
    free(file->buffer);
    output_file_abandon(&file->output);
}
