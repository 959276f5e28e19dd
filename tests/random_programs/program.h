/* A random program: functions of blocks of random instructions, linked by every kind of branch, run some thousand times.
 *
 * It ends always: loops count down, and branches backward and calls of earlier functions use up fuel. All its memory is
 * its own data (layout.h), at fixed addresses, so that two runs of it write the same, whatever runs it.
 */
#ifndef MAGIC_TRACE_TESTS_RANDOM_PROGRAMS_PROGRAM_H
#define MAGIC_TRACE_TESTS_RANDOM_PROGRAMS_PROGRAM_H

#include "code.h"
#include "layout.h"

#include <stdbool.h>

enum { FUNCTIONS_MOST = 8, BLOCKS_MOST = 8, PARTS_MOST = 4096, PROGRAM_HEADERS_SIZE = 0x1000 };

struct program {
    uint64_t seed;
    unsigned iterations;
    bool is_dropped[PARTS_MOST]; /* parts that are left out: what a failing program does not need */
    struct code code;            /* skeleton.S and the random part */
    uint64_t data_address;
    uint8_t data[SLOTS]; /* what it has at first; the rest is 0 */
    unsigned part_count;
};

/* Makes code and data of `seed`, `iterations` and `is_dropped`. */
void program_make(struct program *program);

/* A static executable. Ends the process when it cannot be written. */
void program_write(const struct program *program, const char *path);

#endif
