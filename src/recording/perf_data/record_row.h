/* A row of records, one after the other: the data section of a perf.data file, all of a file in the
 * form of a pipe, a file data.N of perf record --threads, or decompressed records.
 *
 * Used by perf_data_reader.c, private to recording/perf_data.
 */
#ifndef MAGIC_TRACE_RECORDING_PERF_DATA_RECORD_ROW_H
#define MAGIC_TRACE_RECORDING_PERF_DATA_RECORD_ROW_H

#include "recording/perf_data/decompressor.h"
#include "recording/perf_data/perf_data_input.h"

#include <stdint.h>

struct record_row {
    struct perf_data_input *input;
    const char *name; /* of the file, for messages; what is decompressed has a name of its own */
    const uint8_t *bytes;  /* borrowed; offsets count from here */
    uint64_t end;          /* offset of the end of the last record */
    bool decompressed;     /* out of compressed records: may not hold such itself */
    bool has_known_chunks; /* input->known_chunks are offsets of this row */
    size_t next_known_chunk;
    struct decompressor decompressor;
};

/* Reads the records from `offset` on, then those that were compressed among them. Damage and
 * refusal are noted in row->input. */
void record_row_read(struct record_row *row, uint64_t offset);

#endif
