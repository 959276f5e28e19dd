/* The translator's runtime as it lies in memory: the contents of an ELF file that is linked to address 0.
 *
 * The file is made by runtime/translator/ and is part of the magic-trace binary. Called once per recording, by the
 * engine.
 */
#ifndef MAGIC_TRACE_ENGINE_TRANSLATOR_RUNTIME_IMAGE_H
#define MAGIC_TRACE_ENGINE_TRANSLATOR_RUNTIME_IMAGE_H

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

struct runtime_image {
    uint8_t *bytes;      /* from address 0 to the end of what the file contains; owned */
    size_t size;         /* of them, at most TR_IMAGE_LIMIT */
    uint64_t memory;     /* bytes in memory: zeros follow */
    uint64_t entry;      /* offset of symbol tr_start */
    uint64_t start_info; /* offset of symbol tr_start_info */
};

/* The one that is part of this binary. */
bool runtime_image_embedded(struct runtime_image *image, struct error *error);

/* Any other, from the bytes of its file. ERROR_FORMAT when it is not fit to be loaded. */
bool runtime_image_read(struct runtime_image *image, const uint8_t *file, size_t size,
                        struct error *error);

void runtime_image_free(struct runtime_image *image);

#endif
