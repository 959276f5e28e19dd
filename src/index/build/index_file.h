/* The index file while it is written: it appears when it is complete (output/output_file.h).
 *
 * The header's place is kept free; chunks follow, and then the other sections. What fails is kept
 * and told by index_file_commit(), so that callers can write on without looking.
 */
#ifndef MAGIC_TRACE_INDEX_BUILD_INDEX_FILE_H
#define MAGIC_TRACE_INDEX_BUILD_INDEX_FILE_H

#include "base/error.h"
#include "base/file.h"
#include "index/index_format.h"
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

/* Maps what has been written, with INDEX_PADDING bytes more behind it; file_unmap() it. */
bool index_file_map(struct index_file *file, struct file_view *view, struct error *error);

/* Writes the header and gives the file its name. On failure nothing is left of it, and what lay
 * there before stays. Frees the file either way. */
bool index_file_commit(struct index_file *file, const struct index_header *header,
                       struct error *error);
void index_file_abandon(struct index_file *file);

#endif
