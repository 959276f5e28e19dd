/* Text by perf script, damaged: bits flipped, parts cut out or repeated, lines joined. */
#ifndef MAGIC_TRACE_TESTS_TEXT_MUTANT_H
#define MAGIC_TRACE_TESTS_TEXT_MUTANT_H

#include <stddef.h>
#include <stdint.h>

enum { MUTANT_SIZE = 8192 };

struct mutant {
    char bytes[MUTANT_SIZE];
    size_t size;
};

/* The next of a sequence that begins again with each value of *seed. */
void text_mutate(struct mutant *mutant, uint64_t *seed);

#endif
