/* Decompresses the records of perf record -z.
 *
 * Used by record_row.c, private to recording/perf_data. The COMPRESSED records of one file together
 * hold one zstd stream (zstd_compress_stream_to_records in tools/perf/util/zstd.c); decompressed,
 * it is a row of records without gaps, which may begin in one COMPRESSED record and end in the
 * next.
 *
 * A build without libzstd has a decompressor that refuses.
 */
#ifndef MAGIC_TRACE_RECORDING_PERF_DATA_DECOMPRESSOR_H
#define MAGIC_TRACE_RECORDING_PERF_DATA_DECOMPRESSOR_H

#include "base/array.h"
#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

struct decompressor {
    void *stream;        /* of libzstd; NULL before the first record */
    struct array output; /* bytes */
    uint64_t taken;      /* compressed bytes so far */
};

struct decompressor decompressor_new(void);

/* Appends what `bytes` hold. False, with a sentence in `error` that lacks file and offset, when
 * they are damaged (ERROR_FORMAT) or libzstd is missing (ERROR_UNSUPPORTED); what came out before
 * stays. */
bool decompressor_add(struct decompressor *decompressor, const uint8_t *bytes, size_t size,
                      struct error *error);

/* Frees all but the output. */
void decompressor_end(struct decompressor *decompressor);

#endif
