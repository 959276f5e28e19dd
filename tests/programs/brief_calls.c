/* Eight inlined functions, one in another, that take a fraction of a nanosecond each, and work without calls, in turn. Writes
 * the ticks of the time-stamp counter that each took, both as it measured them: 16 bytes for each turn.
 */
#include <stdint.h>
#include <stdio.h>

enum { TURNS = 60, BRIEF = 2000, PLAIN = 2000 };

static uint64_t ticks[TURNS][2];
static volatile uint64_t sink;

/* 24 bytes of instructions that take no time to speak of, so that the function has code of its own. */
#define FUNCTION(name, inner)                                                                      \
    static inline __attribute__((always_inline)) uint64_t name(uint64_t value)                     \
    {                                                                                              \
        __asm__ volatile(".nops 24" : "+r"(value));                                                \
        value = inner(value);                                                                      \
        __asm__ volatile(".nops 24" : "+r"(value));                                                \
        return value;                                                                              \
    }
#define ITSELF(value) (value)

FUNCTION(eighth, ITSELF)
FUNCTION(seventh, eighth)
FUNCTION(sixth, seventh)
FUNCTION(fifth, sixth)
FUNCTION(fourth, fifth)
FUNCTION(third, fourth)
FUNCTION(second, third)
FUNCTION(first, second)

static uint64_t now(void)
{
    uint32_t low, high;
    __asm__ volatile("rdtscp" : "=a"(low), "=d"(high)::"rcx", "memory");
    return (uint64_t)high << 32 | low;
}

static __attribute__((noinline, noclone)) uint64_t brief_calls(uint64_t value)
{
    for (int i = 0; i < BRIEF; i++)
        value = first(value);
    return value;
}

static __attribute__((noinline, noclone)) uint64_t plain_work(uint64_t value)
{
    for (unsigned i = 1; i <= PLAIN; i++)
        value = (value | UINT64_C(1) << 63) / (i | 3) + i;
    return value;
}

int main(void)
{
    for (int turn = 0; turn < TURNS; turn++) {
        uint64_t begin = now();
        sink = brief_calls(sink);
        uint64_t middle = now();
        sink = plain_work(sink);
        ticks[turn][0] = middle - begin;
        ticks[turn][1] = now() - middle;
    }
    fwrite(ticks, sizeof ticks, 1, stdout);
    return 0;
}
