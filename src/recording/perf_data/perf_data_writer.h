/* Writes perf.data, file mode, such that stock `perf script --itrace=bei` of Linux 6.1 reads it
 * without error.
 *
 * Called by the engines (and by tests that make recordings). Order of calls: open, then records and
 * AUX chunks in any order, then close, which writes the header's sizes and features. Until close
 * the file is not valid: it is written under a temporary name beside `path` and renamed by close,
 * so what stood there before stays whole.
 */
#ifndef MAGIC_TRACE_RECORDING_PERF_DATA_PERF_DATA_WRITER_H
#define MAGIC_TRACE_RECORDING_PERF_DATA_PERF_DATA_WRITER_H

#include "base/error.h"
#include "base/file.h"
#include "recording/perf_data/perf_data.h"
#include "recording/sideband.h"

#include <stddef.h>
#include <sys/uio.h>

struct perf_data_writer;

/* `command_line` (argv of magic-trace, NULL-terminated, borrowed until close) goes into the CMDLINE
 * feature; NULL: none. */
struct perf_data_writer *perf_data_writer_open(const char *path, const struct pt_setup *setup,
                                               char *const *command_line, struct error *error);

/* A path is cut at PATH_MAX and the name of a thread at 15 bytes, as the kernel does. After a
 * failure (the disk is full) every later call fails in the same way. */
bool perf_data_write_record(struct perf_data_writer *writer, const struct sideband_record *record,
                            struct error *error);

/* `chunk->bytes` and `chunk->size` are ignored; the bytes are those of `parts`, one after the other
 * (a ring that wrapped has two). PAD packets bring the chunk's size to a multiple of 8, so only the
 * last chunk of a ring may end in the middle of a packet. */
bool perf_data_write_aux(struct perf_data_writer *writer, const struct aux_chunk *chunk,
                         const struct iovec *parts, size_t part_count, struct error *error);

/* As raw_perf_data_set_source. */
void perf_data_set_source(struct perf_data_writer *writer, const struct file_view *mapped,
                          int descriptor);

/* Completes the file and frees the writer, in any case. */
bool perf_data_writer_close(struct perf_data_writer *writer, struct error *error);

/* Gives up: removes the temporary file, frees the writer. */
void perf_data_writer_abandon(struct perf_data_writer *writer);

#endif
