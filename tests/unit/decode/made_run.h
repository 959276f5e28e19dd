/* Makes the packets of a long run of program.S that repeats itself, as a processor would: with a
 * return stack of 64 calls, with TNT packets that fill up, with PSBs in between.
 *
 * A generator of its own chooses what runs, so the same choices give the same packets. Everything
 * is done several times in a row. Used by tnt_cache_test.c.
 */
#ifndef MAGIC_TRACE_TESTS_FLOW_MADE_RUN_H
#define MAGIC_TRACE_TESTS_FLOW_MADE_RUN_H

#include "fixture.h"

struct run_choices {
    uint64_t seed;
    size_t size;                     /* the run ends when there are so many bytes of packets */
    unsigned repeats;                /* of each thing, in a row */
    unsigned tnt_bits;               /* at most in one packet, to 47 */
    unsigned deepest;                /* recursion */
    unsigned compressed_percent;     /* of the returns that a processor may compress */
    unsigned cyc_percent;            /* of the packets that may have a CYC packet before them */
    unsigned longest_cyc;            /* cycles */
    unsigned deferred_percent;       /* of the TIP packets that TNT bits may precede */
    unsigned rounds_between_psbs;    /* 0: there is one PSB only */
    unsigned rounds_between_patches; /* 0: there are none */
    bool syscalls;                   /* tracing stops and goes on */
    bool trace_stops;                /* likewise, by TraceStop packets between rounds */
};

/* Adds the packets and the sideband to the fixture. */
void run_make(struct fixture *fixture, const struct run_choices *choices);

#endif
