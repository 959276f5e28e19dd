/* The distribution of many durations: its quantiles, in bounded memory.
 *
 * Used by the table of functions, one per function. Up to 64 durations are kept as they are and
 * quantiles are exact. Beyond that they are counted in classes: below 256 ns each nanosecond has
 * its own; above, each power of two is cut into 128, so that the middle of a class is within 1/256
 * (0.4 %) of what is in it. At most 58 KiB each, 1 KiB for each power of two that occurs.
 */
#ifndef MAGIC_TRACE_OUTPUT_REPORT_DURATIONS_H
#define MAGIC_TRACE_OUTPUT_REPORT_DURATIONS_H

#include <stdbool.h>
#include <stdint.h>

enum {
    DURATIONS_EXACT = 64,
    DURATIONS_OCTAVES = 57, /* the first holds 0..255, the others a power of two each, up to 2^64 */
};

/* All zero is empty. */
struct durations {
    uint64_t count;
    uint64_t min, max;  /* nanoseconds; exact always */
    uint64_t *exact;    /* the first DURATIONS_EXACT ones; owned */
    uint64_t **octaves; /* counts by class; NULL while exact, each NULL while empty; owned */
};

void durations_add(struct durations *durations, uint64_t nanoseconds);

/* The duration that `share` (0..1) of all are not above: the ceil(share * count)-th in ascending
 * order. 0 for no lengths. Sorts in place. */
uint64_t durations_quantile(struct durations *durations, double share);

/* Whether that quantile may be off by the width of a class: what prints it should say so. */
bool durations_is_approximate(const struct durations *durations, uint64_t quantile);

void durations_free(struct durations *durations);

#endif
