/* Compressing a stream of blocks into one gzip member and writing it to a file.
 *
 * Used by output/block_writer.h. The compressor is isa-l's igzip (docs/compression.md).
 */
#ifndef MAGIC_TRACE_OUTPUT_GZIP_ENCODER_H
#define MAGIC_TRACE_OUTPUT_GZIP_ENCODER_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gzip_encoder;

struct gzip_encoder *gzip_encoder_new(void);
void gzip_encoder_free(struct gzip_encoder *encoder);

/* Compresses `size` bytes (less than 4 GiB) and writes the result. `last` ends the member; nothing
 * may follow. `path` is for the message. */
bool gzip_encoder_write(struct gzip_encoder *encoder, const uint8_t *bytes, size_t size, bool last,
                        int descriptor, const char *path, struct error *error);

#endif
