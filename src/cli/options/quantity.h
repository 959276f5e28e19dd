/* Numbers as people write and read them: sizes with a suffix, counts with separators. Durations:
 * output/duration.h. */
#ifndef MAGIC_TRACE_CLI_OPTIONS_QUANTITY_H
#define MAGIC_TRACE_CLI_OPTIONS_QUANTITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* "65536", "256K", "4M", "1G" (powers of 1024; also "4MB", "4MiB") into bytes. False when it is
 * none of these or does not fit. */
bool quantity_parse_bytes(const char *text, uint64_t *bytes);

/* The smallest power of two that is not below `value`; 0 when that is more than 2^63. */
uint64_t quantity_power_of_two(uint64_t value);

/* Long enough for every formatted number here. */
struct quantity_text {
    char text[40];
};

struct quantity_text quantity_count(uint64_t count); /* "1,234,567" */
struct quantity_text quantity_bytes(uint64_t bytes); /* "4.2 MB" (powers of 1000) */

#endif
