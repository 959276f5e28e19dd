/* The index file while it is written: it appears when it is complete (output/output_file.h).
 *
 * Space for the header is left at the beginning; chunks follow, and then the other sections.
 * Failures are kept and reported by index_file_commit(), so callers need not check each write.
 */
#ifndef MAGIC_TRACE_INDEX_BUILD_INDEX_FILE_H
#define MAGIC_TRACE_INDEX_BUILD_INDEX_FILE_H

#include "base/error.h"
#include "base/file.h"
#include "index/file/index_format.h"
#include "output/output_file.h"

struct index_file {
    struct output_file output;
    uint64_t size;   /* so far, with what is still in the buffer */
    uint8_t *buffer; /* owned */
    size_t used;
    struct error failed;
};

bool index_file_create(struct index_file *file, const char *path, struct error *error);
void index_file_append(struct index_file *file, const void *bytes, size_t size);

/* Bytes of chunks so far. */
uint64_t index_file_chunk_bytes(const struct index_file *file);

/* Begins a section of elements of the next size that is a multiple of 8, and gives its place. */
uint64_t index_file_align(struct index_file *file);

/* Maps the file so far, with INDEX_PADDING more bytes at the end; release it with file_unmap(). */
bool index_file_map(struct index_file *file, struct file_view *view, struct error *error);

/* Writes the header and gives the file its name. On failure it is removed, and an older file of
 * that name stays. Frees the file either way. */
bool index_file_commit(struct index_file *file, const struct index_header *header,
                       struct error *error);
void index_file_abandon(struct index_file *file);

#endif
