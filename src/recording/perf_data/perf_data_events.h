/* The events of a perf.data file (its attributes section, or records of pipe mode) and what they
 * append to every record: the sample id.
 *
 * Used by the reader, private to recording/perf_data. With attr.sample_id_all each record of the
 * kernel ends with pid, tid, time, ids and cpu, as far as the event's sample_type includes them
 * (struct sample_id in linux/perf_event.h, at PERF_RECORD_MMAP). Which event a record belongs to is
 * known only by the id in that same trailer.
 */
#ifndef MAGIC_TRACE_RECORDING_PERF_DATA_PERF_DATA_EVENTS_H
#define MAGIC_TRACE_RECORDING_PERF_DATA_PERF_DATA_EVENTS_H

#include "base/array.h"
#include "base/error.h"
#include "base/file.h"
#include "recording/perf_data/perf_file_format.h"

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct perf_data_event {
    struct perf_event_attr attribute; /* what the file lacks is 0 */
    size_t trailer_size;              /* bytes of its sample id; 0 without sample_id_all */
    size_t id_from_end; /* position of its id, in 8-byte words before the record's end; 0: it has
                         * none */
    /* Position of a sample's id, in 8-byte words from its start; SIZE_MAX: it has none. */
    size_t id_from_start;
    const char *name; /* as perf calls it, borrowed from the file; NULL: the file does not say */
};

struct perf_data_events {
    struct array events; /* struct perf_data_event */
    struct array ids;    /* which id belongs to which event; sorted by id when prepared */
    /* The rest is valid when prepared. */
    bool prepared;
    bool same_trailer; /* all events append the same fields */
    size_t without_id; /* index of the event that records of unknown id are taken to be of */
};

struct sample_id {
    uint32_t pid, tid;
    uint64_t time; /* nanoseconds; 0 when the record has none */
    uint32_t cpu;  /* UINT32_MAX when the record has none */
    size_t size;   /* bytes at the end of the record that were the sample id */
};

struct perf_data_events perf_data_events_new(void);

/* False when the section of attributes cannot be used; `path` is for the message. */
bool perf_data_events_read(struct perf_data_events *events, const struct file_view *view,
                           const struct file_header *header, const char *path, struct error *error);
void perf_data_events_free(struct perf_data_events *events);

/* The event of a HEADER_ATTR record of pipe mode, whose `size` bytes `body` are. False when it is
 * too short. */
bool perf_data_events_add(struct perf_data_events *events, const uint8_t *body, size_t size);

/* The event with number `id`; NULL if not found. Valid until another is added. */
struct perf_data_event *perf_data_events_find(struct perf_data_events *events, uint64_t id);

/* The sample id at the end of a record of the kernel; `body` is what follows its header. False when
 * the record is too short to hold one, or no event is known yet. */
bool perf_data_events_sample_id(struct perf_data_events *events, const uint8_t *body, size_t size,
                                struct sample_id *id);

/* The event of a sample; NULL when it is unknown. */
const struct perf_data_event *perf_data_events_of_sample(struct perf_data_events *events,
                                                         const uint8_t *body, size_t size);

/* The event whose attr.type is `type`; NULL if not found. */
const struct perf_data_event *perf_data_events_of_type(const struct perf_data_events *events,
                                                       uint64_t type);

#endif
