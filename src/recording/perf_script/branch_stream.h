/* The form in which our filter inside perf script (dlfilter/) hands branches over.
 *
 * The filter writes to perf's standard output, through the same FILE, so that what perf itself
 * prints, its decode errors, stands where it happened. A stream is records one after the other, and
 * lines of text between them:
 *
 *     BRANCH_STREAM_BEGIN                               once, first
 *     BRANCH_STREAM_THREAD   pid, tid, processor        of all that follows
 *     BRANCH_STREAM_TIME     nanoseconds                of all that follows
 *     BRANCH_STREAM_BRANCH   flags, from, to
 *     BRANCH_STREAM_STACK    address, stack pointer
 *     BRANCH_STREAM_END      number of records          once, last: without it the stream is cut
 *
 * A record begins with its kind, a byte above 127, which no line that perf prints begins with, and
 * has the size of its kind. Numbers are in the machine's order: writer and reader run on one
 * machine, and both were built from this file, as the version says.
 *
 * Written by dlfilter/branch_filter.c; read by branch_stream_reader.c.
 */
#ifndef MAGIC_TRACE_RECORDING_PERF_SCRIPT_BRANCH_STREAM_H
#define MAGIC_TRACE_RECORDING_PERF_SCRIPT_BRANCH_STREAM_H

#include <stdint.h>

enum { BRANCH_STREAM_VERSION = 1 };

enum branch_stream_kind {
    BRANCH_STREAM_BEGIN = 0xe0,
    BRANCH_STREAM_THREAD,
    BRANCH_STREAM_TIME,
    BRANCH_STREAM_BRANCH,
    BRANCH_STREAM_STACK,
    BRANCH_STREAM_END,
};

/* perf's own words for a branch: PERF_DLFILTER_FLAG_* of perf_dlfilter.h (perf-dlfilter(1)). */
enum branch_flag {
    BRANCH_IS_BRANCH = 1 << 0,
    BRANCH_IS_CALL = 1 << 1,
    BRANCH_IS_RETURN = 1 << 2,
    BRANCH_IS_CONDITIONAL = 1 << 3,
    BRANCH_IS_SYSCALL = 1 << 4, /* with CALL: into the kernel; with RETURN: out of it */
    BRANCH_IS_ASYNCHRONOUS = 1 << 5,
    BRANCH_IS_INTERRUPT = 1 << 6,
    BRANCH_IS_ABORT = 1 << 7, /* of a transaction */
    BRANCH_STARTS_TRACE = 1 << 8,
    BRANCH_ENDS_TRACE = 1 << 9,
    BRANCH_IN_TRANSACTION = 1 << 10,
    BRANCH_ENTERS_GUEST = 1 << 11,
    BRANCH_LEAVES_GUEST = 1 << 12,
};

struct branch_stream_begin {
    uint8_t kind;
    char magic[11]; /* branch_stream_magic */
    uint32_t version;
};

struct branch_stream_thread {
    uint8_t kind, reserved[3];
    uint32_t pid, tid;  /* UINT32_MAX: perf does not know */
    uint32_t processor; /* UINT32_MAX: likewise, or packets of a thread */
};

struct branch_stream_time {
    uint8_t kind, reserved[7];
    uint64_t nanoseconds; /* of perf's clock */
};

struct branch_stream_branch {
    uint8_t kind, reserved[3];
    uint32_t flags;    /* enum branch_flag */
    uint64_t from, to; /* 0: unknown, or not traced */
};

/* A stack pointer that the recorder wrote (pt_encoder_emit_stack_pointer). */
struct branch_stream_stack {
    uint8_t kind, reserved[7];
    uint64_t address, value;
};

struct branch_stream_end {
    uint8_t kind, reserved[7];
    uint64_t records; /* of all kinds, this one not counted */
};

static const char branch_stream_magic[11] = "magic-trace";

#endif
