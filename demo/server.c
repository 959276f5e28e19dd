/* A server, as far as a tracer can see: it handles requests one after the other, and one of them
 * takes much longer than all others. Which one, and why? That is what docs/tutorial.md finds out.
 *
 *     server [REQUESTS]     (default 10000)
 *     server cycles         an event loop instead, with one long cycle
 *
 * The work is counted, not timed: the same on every machine, in every run.
 */
#include "magic_trace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    REQUESTS = 10000,
    CYCLES = 200,
    TABLE = 256,
    SLOW_REQUEST = 618, /* the one that finds the table full */
    SLOW_CYCLE = 123,
};

static unsigned table[TABLE];

static unsigned mix(unsigned value)
{
    value ^= value >> 16;
    value *= 0x7feb352d;
    value ^= value >> 15;
    return value;
}

__attribute__((noinline)) static unsigned look_up(unsigned key)
{
    return table[mix(key) % TABLE];
}

__attribute__((noinline)) static void rebuild_entry(unsigned index)
{
    unsigned value = index;
    for (int i = 0; i < 8000; i++)
        value = mix(value + (unsigned)i);
    table[index] = value;
}

__attribute__((noinline)) static void rebuild_table(void)
{
    for (unsigned i = 0; i < TABLE; i++)
        rebuild_entry(i);
}

__attribute__((noinline)) static unsigned handle_request(unsigned number)
{
    unsigned answer = 0;
    for (unsigned i = 0; i < 10; i++)
        answer += look_up(number + i);
    if (number == SLOW_REQUEST)
        rebuild_table();
    return answer;
}

static void serve(unsigned requests)
{
    unsigned answers = 0;
    for (unsigned i = 0; i < requests; i++) {
        magic_trace_mark_start();
        answers += handle_request(i);
        magic_trace_take_snapshot_with_arg(i);
    }
    printf("%u requests handled, sum %u\n", requests, answers);
}

__attribute__((noinline)) static void run_one_cycle(unsigned number)
{
    for (unsigned i = 0; i < 10; i++)
        look_up(number + i);
    if (number == SLOW_CYCLE)
        rebuild_table();
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "cycles") == 0) {
        for (unsigned i = 0; i < CYCLES; i++)
            run_one_cycle(i);
        printf("%d cycles\n", CYCLES);
        return 0;
    }
    serve(argc > 1 ? (unsigned)atoi(argv[1]) : REQUESTS);
    return 0;
}
