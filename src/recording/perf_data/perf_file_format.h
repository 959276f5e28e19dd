/* The layout of a perf.data file, for its writer and its reader; private to recording/perf_data.
 *
 * A file is: file_header; sections of attributes and their ids; the data section, a row of records
 * each starting with struct perf_event_header (linux/perf_event.h); then one `file_section` per
 * feature bit that is set, in the order of the bits, and the features' contents. Everything is in
 * the byte order of the machine that wrote it.
 *
 * Pipe mode (perf record -o -) has no sections: a pipe_header, then records to the end; attributes
 * and features are records, too.
 *
 * Sources: tools/perf/Documentation/perf.data-file-format.txt, tools/perf/util/header.h (enum
 * HEADER_*), tools/lib/perf/include/perf/event.h (records that perf itself adds, type 64 and up),
 * tools/perf/util/intel-pt.h (the words of AUXTRACE_INFO), all of Linux 6.1.
 */
#ifndef MAGIC_TRACE_RECORDING_PERF_DATA_PERF_FILE_FORMAT_H
#define MAGIC_TRACE_RECORDING_PERF_DATA_PERF_FILE_FORMAT_H

#include <stdint.h>

/* The first bytes: the magic, and the size of the header, which distinguishes the two forms of the
 * file. */
struct pipe_header {
    char magic[8];
    uint64_t size; /* 16 */
};
_Static_assert(sizeof(struct pipe_header) == 16, "pipe mode's header has 16 bytes");

#define PERF_FILE_MAGIC "PERFILE2"
#define PERF_FILE_MAGIC_SWAPPED "2ELIFREP"
#define PERF_FILE_MAGIC_OLD "PERFFILE" /* before Linux 2.6.38 */

struct file_section {
    uint64_t offset; /* bytes from the start of the file */
    uint64_t size;   /* bytes */
};

enum { FEATURE_BITS = 256 };

struct file_header {
    char magic[8];
    uint64_t size; /* of this header */
    uint64_t attribute_size;
    struct file_section attributes;
    struct file_section data;
    struct file_section event_types; /* no longer used */
    uint64_t features[FEATURE_BITS / 64];
};
_Static_assert(sizeof(struct file_header) == 104, "perf.data's header has 104 bytes");

/* One element of the attributes section is a struct perf_event_attr of any published size and its
 * ids. */
enum {
    ATTRIBUTE_SIZE_MINIMUM = 64, /* PERF_ATTR_SIZE_VER0 */
    /* PERF_ATTR_SIZE_VER5, Linux 4.1: known to every perf that knows Intel PT. */
    ATTRIBUTE_SIZE_WRITTEN = 112,
};

enum feature {
    FEATURE_TRACING_DATA = 1,
    FEATURE_BUILD_ID = 2,
    FEATURE_HOSTNAME = 3,
    FEATURE_OS_RELEASE = 4,
    FEATURE_VERSION = 5,
    FEATURE_ARCHITECTURE = 6,
    FEATURE_CPU_COUNT = 7,
    FEATURE_CPUID = 9,
    FEATURE_COMMAND_LINE = 11,
    FEATURE_EVENT_DESCRIPTION = 12,
    FEATURE_AUXTRACE = 18,
    FEATURE_SAMPLE_TIME = 21,
    FEATURE_DIRECTORY_FORMAT = 24,
};

/* Record types that perf adds to those of the kernel. */
enum user_record_type {
    USER_RECORD_HEADER_ATTRIBUTE = 64,
    USER_RECORD_TRACING_DATA = 66, /* as many bytes as its first word says follow the record */
    USER_RECORD_BUILD_ID = 67,
    USER_RECORD_AUXTRACE_INFO = 70,
    USER_RECORD_AUXTRACE = 71,
    USER_RECORD_EVENT_UPDATE = 78,
    USER_RECORD_FEATURE = 80,
    USER_RECORD_COMPRESSED = 81,  /* bytes of a zstd stream: records */
    USER_RECORD_COMPRESSED2 = 83, /* the same after the number of bytes, followed by padding */
};

enum { EVENT_UPDATE_NAME = 2 };

enum { AUXTRACE_INFO_INTEL_PT = 1 };

/* The private words of AUXTRACE_INFO. Files of Linux 4.1 and 4.2 end after PT_WORD_PER_CPU. */
enum pt_word {
    PT_WORD_PMU_TYPE,
    PT_WORD_TIME_SHIFT,
    PT_WORD_TIME_MULT,
    PT_WORD_TIME_ZERO,
    PT_WORD_HAS_CLOCK,
    PT_WORD_TSC_BIT,
    PT_WORD_NO_RETURN_COMPRESSION_BIT,
    PT_WORD_CONTEXT_SWITCHES, /* enum pt_context_switches */
    PT_WORD_SNAPSHOT,
    PT_WORD_PER_CPU,
    PT_WORD_MTC_BIT,
    PT_WORD_MTC_PERIOD_BITS,
    PT_WORD_TSC_CTC_NUMERATOR,
    PT_WORD_TSC_CTC_DENOMINATOR,
    PT_WORD_CYC_BIT,
    PT_WORD_MAX_NONTURBO_RATIO,
    PT_WORD_FILTER_LENGTH,
    PT_WORD_COUNT,
    PT_WORD_COUNT_MINIMUM = PT_WORD_PER_CPU + 1,
};

enum pt_context_switches {
    PT_CONTEXT_SWITCHES_NONE = 0,
    PT_CONTEXT_SWITCHES_SAMPLED = 1,  /* samples of sched:sched_switch, before Linux 4.3 */
    PT_CONTEXT_SWITCHES_OWN = 2,      /* PERF_RECORD_SWITCH of the traced threads */
    PT_CONTEXT_SWITCHES_CPU_WIDE = 3, /* PERF_RECORD_SWITCH_CPU_WIDE on every CPU */
};

/* Follows perf_event_header; `words` 64-bit words follow it. */
struct auxtrace_info_record {
    uint32_t type;
    uint32_t reserved;
};

/* Follows perf_event_header; `size` bytes of packets follow the record and are not counted in its
 * header. */
struct auxtrace_record {
    uint64_t size; /* a multiple of 8 */
    uint64_t offset;
    uint64_t reference;
    uint32_t index;
    uint32_t tid;
    uint32_t cpu;
    uint32_t reserved;
};

/* An element of the AUXTRACE feature's list: where an AUXTRACE record lies. */
struct auxtrace_index_entry {
    uint64_t file_offset;
    uint64_t size; /* of the record without the packets: perf 6.1 compares it with the record's own
                      header */
};

#endif
