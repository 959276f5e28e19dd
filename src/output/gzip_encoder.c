#include "output/gzip_encoder.h"

#include "base/file.h"
#include "base/memory.h"

#include <isa-l/igzip_lib.h>
#include <stdlib.h>

enum {
    GZIP_LEVEL = 1,
    GZIP_OUTPUT_SIZE = 256 << 10,
};

struct gzip_encoder {
    struct isal_zstream stream;
    uint8_t level_buffer[ISAL_DEF_LVL1_DEFAULT];
    uint8_t output[GZIP_OUTPUT_SIZE];
};

struct gzip_encoder *gzip_encoder_new(void)
{
    struct gzip_encoder *encoder = memory_allocate(sizeof *encoder);
    isal_deflate_init(&encoder->stream);
    encoder->stream.level = GZIP_LEVEL;
    encoder->stream.level_buf = encoder->level_buffer;
    encoder->stream.level_buf_size = sizeof encoder->level_buffer;
    encoder->stream.gzip_flag = IGZIP_GZIP;
    return encoder;
}

void gzip_encoder_free(struct gzip_encoder *encoder)
{
    free(encoder);
}

bool gzip_encoder_write(struct gzip_encoder *encoder, const uint8_t *bytes, size_t size, bool last,
                        int descriptor, const char *path, struct error *error)
{
    struct isal_zstream *stream = &encoder->stream;
    stream->next_in = (uint8_t *)bytes; /* read only, though isa-l's type does not say so */
    stream->avail_in = (uint32_t)size;
    stream->end_of_stream = last;
    do {
        stream->next_out = encoder->output;
        stream->avail_out = sizeof encoder->output;
        if (isal_deflate(stream) != COMP_OK)
            return error_set(error, ERROR_IO, "cannot compress %s: isa-l refused its own settings",
                             path);
        if (!file_write_all(descriptor, encoder->output, sizeof encoder->output - stream->avail_out,
                            path, error))
            return false;
    } while (stream->avail_out == 0);
    return true;
}
