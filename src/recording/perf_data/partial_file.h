/* A perf.data whose writing was cut off: by the death of its writer, or by a full disk.
 *
 * raw_perf_data_writer writes PATH.partial, whose header says from the beginning where the records
 * begin; only their end is missing. It holds a lock (flock) on the file, which processes that it
 * forks share.
 *
 * Called by the writer itself, by engines that finish what a killed magic-trace left, and by
 * cli/salvage.c.
 */
#ifndef MAGIC_TRACE_RECORDING_PERF_DATA_PARTIAL_FILE_H
#define MAGIC_TRACE_RECORDING_PERF_DATA_PARTIAL_FILE_H

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

/* The end of the last whole record (with the packets that follow an AUXTRACE), in bytes from the
 * file's beginning; 0: there is not even a whole header, or no record. */
uint64_t partial_file_end(int descriptor);

/* Cuts the open file after its last whole record and writes that into its header. Needs no space on
 * the disk. False: nothing worth keeping is in it. */
bool partial_file_complete(int descriptor);

/* Completes DIRECTORY/perf.data.partial and renames it to perf.data, which must not exist. True also
 * when there is nothing to do. False: it is being written just now, or cannot be completed. */
bool partial_file_salvage(const char *directory, struct error *error);

#endif
