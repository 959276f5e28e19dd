#include "recording/perf_data/decompressor.h"

#include "base/memory.h"

#ifdef HAVE_ZSTD

#include <stdlib.h>
#include <zstd.h>

/* A few damaged bytes can claim to be gigabytes. Real records shrink less: perf's, with the same
 * sample over and over, to a 200th at most. */
enum { MAX_EXPANSION = 1024, MAX_BEFORE_INPUT = 1 << 20 };

struct decompressor decompressor_new(void)
{
    return (struct decompressor){.output = array_of(1)};
}

static bool is_too_much(const struct decompressor *decompressor)
{
    return decompressor->output.count >
           MAX_BEFORE_INPUT + decompressor->taken * (uint64_t)MAX_EXPANSION;
}

static bool decompress(struct decompressor *decompressor, ZSTD_inBuffer *input, uint8_t *space,
                       size_t space_size, struct error *error)
{
    ZSTD_outBuffer output = {space, space_size, 0};
    do {
        output.pos = 0;
        size_t result = ZSTD_decompressStream(decompressor->stream, &output, input);
        if (ZSTD_isError(result))
            return error_set(error, ERROR_FORMAT, "its compressed records are damaged (%s)",
                             ZSTD_getErrorName(result));
        array_add_all(&decompressor->output, space, output.pos);
        if (is_too_much(decompressor))
            return error_set(error, ERROR_FORMAT,
                             "its compressed records claim to be more than %d times their size",
                             MAX_EXPANSION);
    } while (input->pos < input->size || output.pos == output.size);
    return true;
}

bool decompressor_add(struct decompressor *decompressor, const uint8_t *bytes, size_t size,
                      struct error *error)
{
    if (!decompressor->stream)
        decompressor->stream = ZSTD_createDStream();
    decompressor->taken += size;
    size_t space_size = ZSTD_DStreamOutSize();
    uint8_t *space = memory_allocate(space_size);
    ZSTD_inBuffer input = {bytes, size, 0};
    bool ok = decompress(decompressor, &input, space, space_size, error);
    free(space);
    return ok;
}

void decompressor_end(struct decompressor *decompressor)
{
    ZSTD_freeDStream(decompressor->stream);
    decompressor->stream = NULL;
}

#else

struct decompressor decompressor_new(void)
{
    return (struct decompressor){.output = array_of(1)};
}

bool decompressor_add(struct decompressor *decompressor, const uint8_t *bytes, size_t size,
                      struct error *error)
{
    return error_set(error, ERROR_UNSUPPORTED,
                     "its records are compressed (perf record -z), and this magic-trace was built "
                     "without libzstd. Install libzstd-dev and build again, or record without -z");
}

void decompressor_end(struct decompressor *decompressor)
{
}

#endif
