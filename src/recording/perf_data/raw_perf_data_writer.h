/* Writes perf.data, file mode, out of records as the kernel made them: for engines that read the
 * kernel's rings. Stock `perf script` of Linux 6.1 reads the file.
 *
 * Called by the engines, and by perf_data_writer.h, which is this for packets that no kernel made.
 * Order of calls: open; then, when there are packets, the AUXTRACE_INFO; then records and AUX
 * chunks in any order, and ids whenever events are opened; then close, which writes the header, the
 * ids and the features. Until close the file is not valid: it is written under a temporary name
 * beside `path` and renamed by close, so what stood there before stays whole. If the writer is killed
 * before, partial_file.h completes it. After a failure (the disk is full) every later call fails in
 * the same way.
 */
#ifndef MAGIC_TRACE_RECORDING_PERF_DATA_RAW_PERF_DATA_WRITER_H
#define MAGIC_TRACE_RECORDING_PERF_DATA_RAW_PERF_DATA_WRITER_H

#include "base/error.h"
#include "base/file.h"
#include "recording/perf_data/perf_data.h"
#include "recording/sideband.h"

#include <linux/perf_event.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

/* The arguments of perf_event_open for one event, on any number of threads and CPUs. If a file has
 * several events, each has PERF_SAMPLE_IDENTIFIER, and all have the same of TID, TIME, ID,
 * STREAM_ID and CPU: readers find a record's event by them. */
struct raw_perf_data_event {
    struct perf_event_attr attribute; /* written up to PERF_ATTR_SIZE_VER5 */
    const char *name;                 /* as perf calls it: "cycles:u"; borrowed until close */
};

struct raw_perf_data_writer;

/* At least one event; the list is copied. `command_line` (argv of magic-trace, NULL-terminated,
 * borrowed until close) goes into the CMDLINE feature; NULL: none. */
struct raw_perf_data_writer *
raw_perf_data_writer_open(const char *path, const struct raw_perf_data_event *events,
                          size_t event_count, char *const *command_line, struct error *error);

/* Adds an id (PERF_EVENT_IOC_ID, or read_format PERF_FORMAT_ID) of records of events[event]. Each
 * event needs at least one: perf ignores events without ids. Events that a child inherits have
 * their parent's. Ids that are added before the first record also serve readers of a file that was
 * cut off. */
void raw_perf_data_add_id(struct raw_perf_data_writer *writer, size_t event, uint64_t id);

/* How the packets were made; the PT event's attr.type is `pmu_type`. Before all records. */
bool raw_perf_data_write_pt_setup(struct raw_perf_data_writer *writer, const struct pt_setup *setup,
                                  uint32_t pmu_type, struct error *error);

/* Whole records with their headers, one after the other, as in a ring. */
bool raw_perf_data_write_records(struct raw_perf_data_writer *writer, const void *records,
                                 size_t size, struct error *error);

/* A record that the kernel did not make: what was mapped before the recording began. It gets the
 * sample id that events[0] asks for, and that event's first id, which must have been added. A path
 * is cut at PATH_MAX and the name of a thread at 15 bytes, as the kernel does. */
bool raw_perf_data_write_sideband(struct raw_perf_data_writer *writer,
                                  const struct sideband_record *record, struct error *error);

/* `chunk->bytes` and `chunk->size` are ignored; the bytes are those of `parts`, one after the other
 * (a ring that wrapped has two). PAD packets bring the chunk's size to a multiple of 8, so only the
 * last chunk of a ring may end in the middle of a packet. */
bool raw_perf_data_write_aux(struct raw_perf_data_writer *writer, const struct aux_chunk *chunk,
                             const struct iovec *parts, size_t part_count, struct error *error);

/* Until this is called again parts that lie in `mapped`, which is the file of `descriptor` (both borrowed), are copied by the
 * kernel from one file to the other, which costs less than half as much. -1: none do. */
void raw_perf_data_set_source(struct raw_perf_data_writer *writer, const struct file_view *mapped,
                              int descriptor);

/* The SAMPLE_TIME feature: the first and the last time of all. Without it the feature is left out,
 * which perf minds only when asked for a percentage of the time. */
void raw_perf_data_set_times(struct raw_perf_data_writer *writer, struct nanoseconds first,
                             struct nanoseconds last);

/* So far. */
uint64_t raw_perf_data_size(const struct raw_perf_data_writer *writer);

/* What was written so far is in the file, and stays when this process is killed. The ids must be
 * known by then, as for the first record. */
bool raw_perf_data_flush(struct raw_perf_data_writer *writer, struct error *error);

/* In a process that was forked from the writer's after a flush: goes on after the last whole record,
 * wherever the writer got before it was killed. */
bool raw_perf_data_continue(struct raw_perf_data_writer *writer, struct error *error);

/* Completes the file and frees the writer, in any case. After a failure what was written until then
 * stands at `path`, without features, if that is a record or more. */
bool raw_perf_data_writer_close(struct raw_perf_data_writer *writer, struct error *error);

/* Gives up: removes the temporary file, frees the writer. After a failure, as close. */
void raw_perf_data_writer_abandon(struct raw_perf_data_writer *writer);

#endif
