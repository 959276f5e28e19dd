/* Reads the text that perf script prints of an Intel PT trace, or of samples, record by record.
 *
 *     perf script --ns --itrace=bep -F pid,tid,time,flags,ip,addr,sym,symoff,synth,dso,event,period
 *
 * Fields may be missing where the meaning stays clear (period, event, symbol offset, object), and
 * the name of the program and the number of the processor may stand before. A record is one line;
 * that of a sample goes on in lines that begin with a tab, one per frame, innermost first, up to an
 * empty line.
 *
 * The bytes are not trusted. A line that is no record, or one cut in the middle, is counted and
 * skipped; so are events that do not matter for call stacks. Records point into the bytes, which
 * are borrowed. Memory: the frames of one sample.
 *
 * Called by decode/text/text_flow.c. Source: tools/perf/builtin-script.c of Linux 6.1.
 */
#ifndef MAGIC_TRACE_RECORDING_PERF_SCRIPT_PERF_TEXT_H
#define MAGIC_TRACE_RECORDING_PERF_SCRIPT_PERF_TEXT_H

#include "base/array.h"
#include "base/clock.h"
#include "recording/perf_script/perf_text_branch.h"
#include "recording/perf_script/perf_text_place.h"

enum perf_text_kind {
    PERF_TEXT_BRANCH,
    PERF_TEXT_SAMPLE, /* where the thread was at that time, with its stack if it was asked for */
    PERF_TEXT_DECODE_ERROR, /* perf could not decode the packets from here on */
    PERF_TEXT_FREQUENCY,    /* the processor's, from here on */
};

enum {
    /* perf gives this number where it does not know the process, thread or processor: -1. */
    PERF_TEXT_NOBODY = UINT32_MAX,
    /* Frames of one sample. Of deeper stacks (/proc/sys/kernel/perf_event_max_stack can allow
     * them) the outermost are dropped. */
    PERF_TEXT_FRAMES_MAX = 1024,
};

struct perf_text_record {
    enum perf_text_kind kind;
    uint64_t line; /* its number, from 1 */
    uint32_t pid, tid;
    uint32_t processor;        /* of DECODE_ERROR; PERF_TEXT_NOBODY: unknown */
    struct text_slice program; /* its name, if it was printed; not of DECODE_ERROR */
    struct nanoseconds time;
    bool has_time;                        /* false for some decode errors */
    struct perf_text_branch branch;       /* of BRANCH */
    struct perf_text_place from, to;      /* of BRANCH; address 0: unknown. Of DECODE_ERROR: from */
    struct text_slice message;            /* of DECODE_ERROR */
    uint64_t megahertz;                   /* of FREQUENCY; not 0 */
    const struct perf_text_place *frames; /* of SAMPLE, innermost first; valid until the next record
                                           */
    size_t frame_count;
};

struct perf_text_statistics {
    uint64_t branches, samples, errors;
    uint64_t other;            /* records of events that are not shown */
    char other_event[32];      /* the first such event */
    uint64_t unreadable;       /* lines that are no record */
    uint64_t first_unreadable; /* number of the first such line */
};

struct perf_text {
    struct text_cursor rest;
    uint64_t line;       /* lines read so far */
    struct array frames; /* struct perf_text_place */
    struct perf_text_statistics statistics;
};

void perf_text_open(struct perf_text *text, struct text_slice bytes);
void perf_text_close(struct perf_text *text);

/* False at the end. */
bool perf_text_next(struct perf_text *text, struct perf_text_record *record);

#endif
