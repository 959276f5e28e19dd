/* The bodies of the kernel's records, as far as the engines need them while they record.
 * (recording/perf_data/record_decoder.h reads all of them, from files.)
 *
 * Source: perf_event_open(2), enum perf_event_type in linux/perf_event.h. Used by src/perf_event/,
 * engine/pt/ and engine/sample/.
 */
#ifndef MAGIC_TRACE_PERF_EVENT_RECORD_LAYOUTS_H
#define MAGIC_TRACE_PERF_EVENT_RECORD_LAYOUTS_H

#include <linux/perf_event.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct birth_record { /* PERF_RECORD_FORK, PERF_RECORD_EXIT */
    uint32_t pid, parent_pid, tid, parent_tid;
};

struct named_record { /* PERF_RECORD_COMM; the name follows */
    uint32_t pid, tid;
};

struct mapping_record { /* PERF_RECORD_MMAP2; the path follows */
    struct named_record named;
    uint64_t start, length;
    uint64_t unused[5]; /* file offset, device and inode, protection and flags */
};
_Static_assert(sizeof(struct mapping_record) == 64, "as the kernel writes it");

/* PERF_RECORD_SAMPLE of a breakpoint: PERF_SAMPLE_IP, TID, TIME, ID and REGS_USER (SI, DI). */
struct sample_record {
    uint64_t ip;
    uint32_t pid, tid;
    uint64_t time, id;
    uint64_t registers_kind; /* PERF_SAMPLE_REGS_ABI_*; 0: none follow */
    uint64_t rsi, rdi;       /* by the registers' numbers, asm/perf_regs.h */
};

/* NULL: the record is shorter than that. */
static inline const void *body_of(const struct perf_event_header *record, size_t size)
{
    return record->size >= sizeof *record + size ? record + 1 : NULL;
}

/* Words of 64 bits after the header. */
static inline size_t record_words(const struct perf_event_header *record)
{
    return (record->size - sizeof *record) / sizeof(uint64_t);
}

/* 0: the record is shorter than that. */
static inline uint64_t record_word(const struct perf_event_header *record, size_t index)
{
    uint64_t word = 0;
    if (index < record_words(record))
        memcpy(&word, (const uint8_t *)(record + 1) + index * sizeof word, sizeof word);
    return word;
}

/* How many records were lost because the ring was full; 0 if the record is not a PERF_RECORD_LOST.
 */
static inline uint64_t record_lost(const struct perf_event_header *record)
{
    enum { ID, LOST };
    return record->type == PERF_RECORD_LOST ? record_word(record, LOST) : 0;
}

#endif
