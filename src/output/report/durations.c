#include "output/report/durations.h"

#include "base/memory.h"

#include <math.h>
#include <stdlib.h>

enum {
    FINE_BITS = 8, /* values below 2^FINE_BITS have classes of their own */
    FINE_CLASSES = 1 << FINE_BITS,
    OCTAVE_CLASSES = FINE_CLASSES / 2,
};

/* Octave 0 holds the values below 2^FINE_BITS; octave n those from 2^(FINE_BITS+n-1) to
 * 2^(FINE_BITS+n), of which the FINE_BITS-1 bits after the leading one are the class. */
struct position {
    unsigned octave, class;
};

static struct position position_of(uint64_t value)
{
    if (value < FINE_CLASSES)
        return (struct position){0, (unsigned)value};
    unsigned top = 63 - (unsigned)__builtin_clzll(value);
    unsigned octave = top - FINE_BITS + 1;
    return (struct position){octave, (unsigned)(value >> octave) - OCTAVE_CLASSES};
}

static uint64_t middle_of(struct position position)
{
    if (position.octave == 0)
        return position.class;
    uint64_t low = (uint64_t)(position.class + OCTAVE_CLASSES) << position.octave;
    return low + (UINT64_C(1) << position.octave) / 2;
}

static unsigned class_count(unsigned octave)
{
    return octave == 0 ? FINE_CLASSES : OCTAVE_CLASSES;
}

static void count(struct durations *durations, uint64_t value)
{
    struct position position = position_of(value);
    uint64_t **octave = &durations->octaves[position.octave];
    if (!*octave)
        *octave = memory_allocate_zeroed(class_count(position.octave) * sizeof **octave);
    (*octave)[position.class]++;
}

static void start_counting(struct durations *durations)
{
    durations->octaves = memory_allocate_zeroed(DURATIONS_OCTAVES * sizeof *durations->octaves);
    for (size_t i = 0; i < DURATIONS_EXACT; i++)
        count(durations, durations->exact[i]);
    free(durations->exact);
    durations->exact = NULL;
}

void durations_add(struct durations *durations, uint64_t nanoseconds)
{
    if (durations->count == 0) {
        durations->exact = memory_allocate(DURATIONS_EXACT * sizeof *durations->exact);
        durations->min = nanoseconds;
    }
    if (nanoseconds < durations->min)
        durations->min = nanoseconds;
    if (nanoseconds > durations->max)
        durations->max = nanoseconds;
    if (durations->count == DURATIONS_EXACT)
        start_counting(durations);
    if (durations->octaves)
        count(durations, nanoseconds);
    else
        durations->exact[durations->count] = nanoseconds;
    durations->count++;
}

static int compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* The middle of a class may lie outside of what was really seen. */
static uint64_t within(const struct durations *durations, uint64_t value)
{
    if (value < durations->min)
        return durations->min;
    return value > durations->max ? durations->max : value;
}

uint64_t durations_quantile(struct durations *durations, double share)
{
    if (durations->count == 0)
        return 0;
    double exact_rank = ceil(share * (double)durations->count);
    uint64_t rank = exact_rank < 1 ? 1 : (uint64_t)exact_rank;
    if (rank > durations->count)
        rank = durations->count;
    if (!durations->octaves) {
        qsort(durations->exact, durations->count, sizeof *durations->exact, compare);
        return durations->exact[rank - 1];
    }
    uint64_t seen = 0;
    for (unsigned octave = 0; octave < DURATIONS_OCTAVES; octave++)
        for (unsigned class = 0; durations->octaves[octave] && class < class_count(octave);
             class ++) {
            seen += durations->octaves[octave][class];
            if (seen >= rank)
                return within(durations, middle_of((struct position){octave, class}));
        }
    return durations->max;
}

bool durations_is_approximate(const struct durations *durations, uint64_t quantile)
{
    return durations->octaves && quantile >= FINE_CLASSES && durations->min < durations->max;
}

void durations_free(struct durations *durations)
{
    free(durations->exact);
    for (unsigned octave = 0; durations->octaves && octave < DURATIONS_OCTAVES; octave++)
        free(durations->octaves[octave]);
    free(durations->octaves);
}
