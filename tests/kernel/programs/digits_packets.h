/* The packets that a processor would write for the code in digits_code.S.
 *
 * Rounds are numbered. Round n calls digit_N for each of the five decimal digits of n, most
 * significant first; and then `hundred` when n is a multiple of 100, or else `fifty` when it
 * is one of 50. So a trace says which rounds it holds.
 *
 * The packets of the first round, number 0, begin at the function `play_rounds`. Those of rounds 1
 * to the last begin after the system call of the round before, and are played again and again:
 * round 1 begins with a PSB, so that what came before does not matter to it.
 *
 * Times are left to the kernel module: all TSC packets are 19 EE EE EE EE EE EE EE.
 */
#ifndef DIGITS_PACKETS_H
#define DIGITS_PACKETS_H

#include <stddef.h>
#include <stdint.h>
#include <time.h>

enum {
    DIGITS = 5,
    FUNCTIONS = DIGITS + 2, /* of a round, with a mark and the NULL at the end */
};

typedef void (*round_function)(void);

/* What is done in one round. The assembly knows the layout, as of the next. */
struct played_round {
    const round_function *functions; /* ends with NULL */
    const uint8_t *packets;
    uint64_t length;
};

struct play {
    uint64_t remaining; /* rounds, at least one */
    const struct played_round *next, *end, *again;
    int64_t file;                /* that the packets are written to */
    const struct timespec *pace; /* slept after each round; NULL: none */
    volatile int32_t *stop;      /* not 0: end after the next round */
    /* Not known to the assembly. */
    struct played_round *rounds;
    round_function (*functions)[FUNCTIONS];
    uint8_t *packets;
};

/* Sets up everything of `play` but remaining, file and stop. False: not enough memory.
 * `psb_interval` in bytes. */
int play_prepare(struct play *play, uint64_t last_round, uint32_t psb_interval, uint8_t bus_ratio,
                 const struct timespec *pace);

void play_free(struct play *play);

#endif
