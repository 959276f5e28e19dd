/* Builds perf.data files byte by byte, as other programs and other versions of perf write them. */
#ifndef MAGIC_TRACE_TESTS_FOREIGN_FILE_H
#define MAGIC_TRACE_TESTS_FOREIGN_FILE_H

#include "base/array.h"

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct foreign_file {
    struct perf_event_attr events[4];
    uint64_t ids[4]; /* one per event; 0 for none */
    size_t event_count;
    size_t attribute_size; /* bytes of each event that are written */
    struct array records;  /* bytes of the data section */
    bool folder;           /* has the feature DIR_FORMAT: more files lie beside it */
    const char *cpuid;     /* contents of the CPUID feature; NULL for no such feature */
};

struct foreign_file foreign_file_new(void);

/* A record with its header; `body` is `word_count` 64-bit words. */
void foreign_file_add(struct foreign_file *file, uint32_t type, uint16_t misc, const uint64_t *body,
                      size_t word_count);

/* Two 32-bit numbers as they lie in one word. */
static inline uint64_t pair(uint32_t first, uint32_t second)
{
    return first | (uint64_t)second << 32;
}

/* Any bytes as records: what follows an AUXTRACE record, say. */
void foreign_file_add_bytes(struct foreign_file *file, const void *bytes, size_t size);

/* Replaces the records from byte `from` on by COMPRESSED records of at most `part` bytes each. */
void foreign_file_compress(struct foreign_file *file, size_t from, size_t part);

/* The complete file, element_size 1; the caller frees. Frees `file`. */
struct array foreign_file_finish(struct foreign_file *file);

/* The same in the form of a pipe. */
struct array foreign_file_finish_pipe(struct foreign_file *file);

#endif
