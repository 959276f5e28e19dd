/* The numbers of the Fuchsia trace format.
 *
 * Used by the writer and the reader. Source:
 * https://fuchsia.dev/fuchsia-src/reference/tracing/trace-format; what Perfetto makes of it was
 * measured with its trace processor (2026-08).
 *
 * A trace is a sequence of records of little-endian 64-bit words. The first word of a record, its
 * header, holds the type in bits 0-3 and the size in words, header included, in bits 4-15.
 */
#ifndef MAGIC_TRACE_OUTPUT_FXT_FXT_FORMAT_H
#define MAGIC_TRACE_OUTPUT_FXT_FXT_FORMAT_H

#include <stdint.h>

/* The record every trace begins with (metadata, trace info, magic number). */
#define FXT_MAGIC UINT64_C(0x0016547846040010)

enum fxt_record_type {
    FXT_RECORD_METADATA = 0,
    FXT_RECORD_INITIALIZATION = 1, /* word 1: ticks per second */
    FXT_RECORD_STRING = 2, /* bits 16-30 index, 32-46 length; then the bytes, padded with 0 */
    FXT_RECORD_THREAD = 3, /* bits 16-23 index; word 1 process id, word 2 thread id */
    FXT_RECORD_EVENT = 4,  /* 16-19 event type, 20-23 arguments, 24-31 thread, 32-47 category, 48-63
                              name;  word 1 time */
    FXT_RECORD_BLOB = 5,   /* 16-31 name, 32-46 length, 48-55 blob type */
    FXT_RECORD_KERNEL_OBJECT = 7, /* 16-23 object type, 24-39 name, 40-43 arguments; word 1 id */
    FXT_RECORD_LARGE = 15,        /* its size is in bits 4-35 */
};

enum fxt_event_type {
    FXT_EVENT_INSTANT = 0,
    FXT_EVENT_COUNTER = 1, /* the word after the arguments is the counter's id */
    FXT_EVENT_BEGIN = 2,
    FXT_EVENT_END = 3,
    FXT_EVENT_COMPLETE = 4, /* the word after the arguments is the time of the end */
    /* An arrow: the word after the arguments is its number. Each binds to the span that is open on
     * its thread. */
    FXT_EVENT_FLOW_BEGIN = 8,
    FXT_EVENT_FLOW_END = 10,
};

/* Arguments have a header like a record's: type, size, and the reference of the name in bits 16-31.
 */
enum fxt_argument_type {
    FXT_ARGUMENT_INT32 = 1,   /* value in bits 32-63 */
    FXT_ARGUMENT_UINT32 = 2,  /* value in bits 32-63 */
    FXT_ARGUMENT_INT64 = 3,   /* value in word 1 */
    FXT_ARGUMENT_UINT64 = 4,  /* value in word 1 */
    FXT_ARGUMENT_DOUBLE = 5,  /* value in word 1 */
    FXT_ARGUMENT_STRING = 6,  /* reference in bits 32-47 */
    FXT_ARGUMENT_POINTER = 7, /* value in word 1 */
    FXT_ARGUMENT_KOID = 8,    /* value in word 1 */
};

enum fxt_object_type {
    FXT_OBJECT_PROCESS = 1,
    /* With an argument "process" of type KOID; Perfetto loses the name without it. */
    FXT_OBJECT_THREAD = 2,
};

enum {
    FXT_BLOB_PERFETTO = 3, /* the bytes are a Perfetto protobuf trace */

    FXT_WORD = 8, /* bytes */
    FXT_RECORD_WORDS_MAX = 4095,
    FXT_ARGUMENTS_MAX = 15,

    /* String references: 0 is the empty string, 1-32767 an index, with the top bit set the length
     * of a string that follows in the record. Thread references: 0 means that process and thread id
     * follow. */
    FXT_STRING_INDEX_MAX = 32767,
    FXT_STRING_INLINE = 0x8000,
    FXT_THREAD_INDEX_MAX = 255,
    FXT_RECORDED_INDEX = FXT_STRING_INDEX_MAX - 1,

    /* Bytes of the longest string that fits a string record. */
    FXT_STRING_LENGTH_MAX = (FXT_RECORD_WORDS_MAX - 1) * FXT_WORD,

    /* Perfetto keeps this many spans open per thread and drops deeper ones. */
    FXT_DEPTH_MAX = 512,
};

/* Threads for deep frames are numbered from here on: above every id that Linux gives
 * (PID_MAX_LIMIT, 2^22, in linux/threads.h), and within the 32 bits that Perfetto keeps. */
#define FXT_SYNTHETIC_TID_BASE UINT32_C(0x40000000)

/* The format has no place for what spans are: a string of this text, to which no event refers, says
 * that they come from samples. */
#define FXT_SAMPLES_MARK "magic-trace: spans of samples"
/* Likewise, followed by how it was recorded. */
#define FXT_RECORDED_MARK "magic-trace: recorded: "

/* Names of arguments and their values, as fxt_writer.h describes them. */
#define FXT_NAME_ADDRESS "address"
#define FXT_NAME_SYMBOL "symbol"
#define FXT_NAME_FILE "file"
#define FXT_NAME_LINE "line"
#define FXT_NAME_START_INFERRED "inferred_start_time"
#define FXT_NAME_END_INFERRED "inferred_end_time"
#define FXT_NAME_ACROSS_GAP "across_gap"
#define FXT_NAME_TRUE "true"
#define FXT_NAME_END "end"
#define FXT_NAME_TAIL_CALL "tail call"
#define FXT_NAME_UNWOUND "unwound"
#define FXT_NAME_GAP "gap"
#define FXT_NAME_END_OF_TRACE "end of trace"
#define FXT_NAME_EXEC "exec"
#define FXT_NAME_FILTER "filter"
#define FXT_NAME_SWITCH "switch"
#define FXT_NAME_STACK "stack"
#define FXT_NAME_TIMESTAMP "timestamp"
#define FXT_NAME_PID "pid"
#define FXT_NAME_TID "tid"
#define FXT_NAME_IP "ip"
#define FXT_NAME_PASSED "timestamp_passed"
#define FXT_NAME_ARGUMENT "arg"
/* In front of the names of a call's arguments; its result is called like this. */
#define FXT_VALUE_PREFIX "args."
#define FXT_NAME_RESULT "result"
#define FXT_NAME_PROCESS "process"
#define FXT_NAME_SPECIAL "special"
#define FXT_NAME_LIBRARY "library"
#define FXT_NAME_KERNEL "kernel"
#define FXT_NAME_INLINED "inlined"

/* The name of a row of deep frames: thread name, first and last depth, thread id. */
#define FXT_DEEP_SUFFIX_FORMAT " (frames %u-%u of thread %u)"

static inline uint64_t fxt_header(enum fxt_record_type type, uint64_t words)
{
    return (uint64_t)type | words << 4;
}

static inline uint64_t fxt_argument_header(enum fxt_argument_type type, uint64_t words,
                                           uint64_t name)
{
    return (uint64_t)type | words << 4 | name << 16;
}

/* Bits `low` to `high` of `word`, both included. */
static inline uint32_t fxt_bits(uint64_t word, unsigned low, unsigned high)
{
    return (uint32_t)(word >> low & ((UINT64_C(1) << (high - low + 1)) - 1));
}

/* Words that `bytes` bytes take. */
static inline uint64_t fxt_words(uint64_t bytes)
{
    return (bytes + FXT_WORD - 1) / FXT_WORD;
}

#endif
