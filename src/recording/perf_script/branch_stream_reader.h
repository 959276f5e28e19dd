/* Reads the stream of our filter inside perf script (branch_stream.h) from a pipe.
 *
 * The bytes are not trusted: an invalid record ends the stream with `damage`, and the records
 * before it are valid. Lines that perf printed itself are decode errors, or are kept for messages.
 * Called by decode/perf/perf_decoder.c.
 */
#ifndef MAGIC_TRACE_RECORDING_PERF_SCRIPT_BRANCH_STREAM_READER_H
#define MAGIC_TRACE_RECORDING_PERF_SCRIPT_BRANCH_STREAM_READER_H

#include "base/clock.h"
#include "base/error.h"
#include "recording/perf_script/branch_stream.h"
#include "recording/perf_script/text_cursor.h"

#include <stddef.h>

enum branch_event_kind {
    BRANCH_EVENT_BRANCH,
    BRANCH_EVENT_STACK_POINTER, /* it was `to` at the instruction at `from` */
    BRANCH_EVENT_DECODE_ERROR,  /* perf could not decode the packets from here on */
};

struct branch_event {
    enum branch_event_kind kind;
    uint32_t pid, tid, processor; /* UINT32_MAX: unknown */
    struct nanoseconds time;      /* of DECODE_ERROR: that of the event before */
    uint64_t from, to;            /* 0 unknown. Of DECODE_ERROR: from */
    uint32_t flags;               /* of BRANCH: enum branch_flag */
    struct text_slice message;    /* of DECODE_ERROR; valid until the next event */
};

struct branch_stream_reader {
    int descriptor;            /* borrowed */
    uint8_t *buffer;           /* owned */
    size_t start, end;         /* what of the buffer was not consumed yet */
    bool at_end;               /* of the input; or what follows is of no use */
    bool begun, ended;         /* the records that say so have come */
    uint64_t records;          /* of the stream so far */
    uint64_t offset;           /* of buffer[start] in the stream */
    struct branch_event state; /* thread and time of what follows */
    struct error damage;       /* ERROR_NONE: none so far; complete after the last event */
};

void branch_stream_open(struct branch_stream_reader *reader, int descriptor);
void branch_stream_close(struct branch_stream_reader *reader);

/* False at the end. */
bool branch_stream_next(struct branch_stream_reader *reader, struct branch_event *event);

#endif
