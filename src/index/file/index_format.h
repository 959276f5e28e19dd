/* The bytes of an index file (docs/viewer.md section 2), version INDEX_VERSION.
 *
 * A header, then sections: arrays of the structures below, 8-byte aligned, little-endian, as they
 * are in memory. Only bytes of chunks and buckets are packed (span_codec.h, tile_codec.h, bucket_codec.h). Written by
 * index_builder.c, checked and read by trace_index.c. A change here or in the codecs must raise
 * INDEX_VERSION: an index of another version is built again.
 */
#ifndef MAGIC_TRACE_INDEX_FILE_INDEX_FORMAT_H
#define MAGIC_TRACE_INDEX_FILE_INDEX_FORMAT_H

#include <stdint.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "index files are mapped as they are");

#define INDEX_MAGIC "MTINDEX\n"

enum {
    INDEX_VERSION = 9,
    INDEX_CHUNK_ITEMS = 4096, /* at most, of one chunk */
    INDEX_PADDING = 64, /* at least this many bytes after the last chunk: decoders read ahead */
    INDEX_BUCKET_CALLS = 1 << 18, /* about, of a bucket */
    INDEX_SIEVE_WORDS = 16,
    INDEX_SIEVE_BITS = INDEX_SIEVE_WORDS * 64,
    INDEX_SHIFT_MAX = 62, /* resolutions are 1 << shift */
};

/* Times are below 1 << INDEX_SHIFT_MAX, 146 years, so that bins can be counted without overflow. */
#define INDEX_TIME_MAX ((UINT64_C(1) << INDEX_SHIFT_MAX) - 1)

#define INDEX_NO_STRING UINT32_MAX
#define INDEX_NO_CROSSING UINT32_MAX
#define INDEX_NO_TEXT UINT64_MAX
#define INDEX_NOT_PASSED UINT64_MAX
#define INDEX_NOT_HAPPENED UINT32_MAX /* the trace, or what a filter kept of it, ends before */

enum index_section {
    SECTION_CHUNK_BYTES, /* of uint8_t */
    SECTION_CHUNKS,      /* of struct index_chunk; those of spans first, by track; then by level */
    SECTION_SIEVES,      /* of struct index_sieve, one for each chunk of spans */
    SECTION_LEVELS,      /* of struct index_level, by track and then by resolution */
    SECTION_TRACKS,      /* of struct track_record */
    SECTION_FUNCTIONS,   /* of struct function_record, by id */
    SECTION_CROSSING,    /* of struct crossing_span */
    SECTION_MARKS,       /* of struct mark_record, by time */
    SECTION_HITS,        /* of struct hit_record, by start */
    SECTION_COUNTERS,    /* of struct counter_record */
    SECTION_SAMPLES,     /* of struct sample_record, by counter and then by time */
    SECTION_VALUED,      /* of struct valued_record, by track and then in the order of their ends */
    SECTION_VALUES,      /* of struct value_record; those of a call together */
    SECTION_VALUE_TEXTS, /* of char: their texts with their NUL; not shared, as they differ from call to call */
    SECTION_SWITCHES, /* of struct switch_record, by to_time */
    SECTION_STACKS,   /* of struct stack_record, the busiest first */
    SECTION_PARTS,    /* of struct stack_part (output/stack_parts.h), by stack and then by time */
    SECTION_BUCKETS,  /* of struct bucket_record, by time */
    SECTION_BUCKET_BYTES, /* of uint8_t: how many calls of each function begin in a bucket (bucket_codec.h) */
    SECTION_STRINGS, /* of char: strings with their NUL; others name them by offset */
    INDEX_SECTIONS
};

struct section_place {
    uint64_t offset; /* in the file */
    uint64_t count;  /* of elements */
};

struct index_header {
    char magic[8];
    uint32_t version;
    uint32_t damage;   /* string or INDEX_NO_STRING */
    uint32_t recorded; /* likewise */
    uint32_t sampled;  /* the spans are what samples have in common */
    uint64_t file_size;
    uint64_t id;
    uint64_t spans;
    uint64_t duration;
    uint64_t wall_clock;
    struct section_place sections[INDEX_SECTIONS];
};

/* Items of one track at one level, in the order of their ends. */
struct index_chunk {
    uint64_t offset;              /* of its bytes, in SECTION_CHUNK_BYTES */
    uint64_t first_end, last_end; /* ns, of its first and its last item */
    uint32_t size;                /* bytes */
    uint32_t count;               /* items; at least 1 */
    uint32_t crossing;            /* of spans: the innermost that is active at the end; or
                                   * INDEX_NO_CROSSING */
    uint32_t padding;
};

/* Which functions a chunk may hold: bit sieve_bit() of each is set. */
struct index_sieve {
    uint64_t words[INDEX_SIEVE_WORDS];
};

/* A span that is open at the end of a chunk. */
struct crossing_span {
    uint64_t start, end;
    uint64_t self;     /* ns */
    uint64_t children; /* spans that it called directly */
    uint32_t function;
    uint32_t depth;
    uint32_t parent; /* a crossing span with a smaller number; or INDEX_NO_CROSSING */
    uint8_t flags, ending;
    uint8_t padding[2];
};

/* The tiles of a track at a resolution. */
struct index_level {
    uint32_t shift; /* the resolution is 1 << shift ns */
    uint32_t chunk_count;
    uint64_t first_chunk;
};

struct track_record {
    uint32_t pid, tid;
    uint32_t process, thread; /* strings */
    uint64_t spans;
    uint64_t first, last;
    uint32_t depth;
    uint32_t is_hits;
    uint64_t first_chunk; /* of its spans */
    uint64_t chunk_count;
    uint32_t first_level;
    uint32_t level_count; /* resolutions grow */
};

struct function_record {
    uint32_t name, symbol, file; /* strings; the latter two or INDEX_NO_STRING */
    uint32_t line;
    uint64_t address;
    uint64_t calls;
    uint32_t group;
    uint32_t colour; /* enum index_colour */
};

struct mark_record {
    uint64_t time;
    uint32_t track;
    uint32_t text;
    uint32_t kind;  /* enum mark_kind */
    uint32_t depth; /* spans of the track that are active */
    uint64_t spans; /* of the track, that began before */
};

struct hit_record {
    uint64_t start, end;
    int64_t argument;
    uint64_t address;
    uint64_t passed; /* ns that the program says have passed; INDEX_NOT_PASSED */
    uint64_t spans;  /* of its thread, that began before it happened, at `end` */
    uint64_t marks;  /* of the trace, that were before */
    uint32_t track;
    uint32_t name;
    uint32_t pid, tid;
    uint32_t
        thread;     /* the track of the thread in which it happened; its own, where that has none */
    uint32_t depth; /* spans of that track that were active */
    uint32_t number; /* of those that happened, in their order; or INDEX_NOT_HAPPENED */
    uint32_t has_argument;
};

struct counter_record {
    uint32_t name;
    uint32_t pid;
    uint64_t first_sample;
    uint64_t sample_count;
};

struct sample_record {
    uint64_t time;
    double value;
};

/* A call whose arguments or result were recorded. */
struct valued_record {
    uint64_t start, end;
    uint64_t number;      /* of the span in its track, from 0, in the order of ends */
    uint64_t first_value; /* in SECTION_VALUES */
    uint32_t track;
    uint32_t depth;
    uint32_t function;
    uint32_t value_count : 31; /* at least 1 */
    uint32_t has_result : 1;   /* the last of its values is its result */
};

/* An argument or a result (base/named_values.h). */
struct value_record {
    uint64_t number; /* as many bits as a number has; of a text 0 */
    uint64_t call;   /* in SECTION_VALUED */
    uint64_t text;   /* in SECTION_VALUE_TEXTS */
    uint64_t string; /* likewise; INDEX_NO_TEXT: it is no string */
    uint32_t name;   /* string */
    uint32_t kind;   /* enum named_value_kind */
};

/* A stack (of a fiber, a goroutine) that was suspended is resumed. */
struct switch_record {
    uint64_t from_time; /* of its suspension; or to_time: that was not seen */
    uint64_t to_time;
    uint32_t from_track, to_track;
    uint32_t stack; /* its number (span_event.stack) */
    uint32_t was_seen;
};

/* A stack (of a goroutine, a fiber, a thread's own) that was suspended or resumed. */
struct stack_record {
    uint64_t parts;
    uint64_t running; /* ns: the time in them */
    uint64_t first, last;
    uint32_t name;  /* string: of the function that it runs */
    uint32_t depth; /* spans open at once at most */
    uint32_t track; /* of its process */
    uint32_t unused;
};

/* A part of the trace, in which about INDEX_BUCKET_CALLS calls of threads begin: from its `from`, the first one from 0 on, to the
 * next one's `from`. */
struct bucket_record {
    uint64_t from; /* ns: when its first call begins */
    uint64_t
        first_byte; /* of SECTION_BUCKET_BYTES: its counts, which end where the next one's begin */
};

/* Bits of neighbouring functions are spread. */
static inline uint32_t sieve_bit(uint32_t function)
{
    return (function * UINT32_C(0x9e3779b1)) >> 22;
}
_Static_assert(INDEX_SIEVE_BITS == 1 << 10, "sieve_bit() gives 10 bits");

#endif
