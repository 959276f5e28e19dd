/* Random numbers that a seed reproduces: xorshift64* (Vigna, 2014). */
#ifndef MAGIC_TRACE_TESTS_RANDOM_PROGRAMS_RANDOM_H
#define MAGIC_TRACE_TESTS_RANDOM_PROGRAMS_RANDOM_H

#include <stdbool.h>
#include <stdint.h>

struct random {
    uint64_t state; /* not 0 */
};

static inline uint64_t random_64(struct random *random)
{
    random->state ^= random->state >> 12;
    random->state ^= random->state << 25;
    random->state ^= random->state >> 27;
    return random->state * 0x2545f4914f6cdd1d;
}

static inline struct random random_of(uint64_t seed)
{
    struct random random = {seed * 0x9e3779b97f4a7c15 | 1};
    for (int i = 0; i < 8; i++)
        random_64(&random);
    return random;
}

/* 0 to `limit` - 1 */
static inline unsigned random_below(struct random *random, unsigned limit)
{
    return (unsigned)((random_64(random) >> 32) * limit >> 32);
}

static inline bool random_percent(struct random *random, unsigned share)
{
    return random_below(random, 100) < share;
}

#endif
