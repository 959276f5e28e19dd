/* Hashes of memory, word by word: of code that is dumped and of what lies on stacks. */
#ifndef MAGIC_TRACE_RUNTIME_TRANSLATOR_WORD_HASH_H
#define MAGIC_TRACE_RUNTIME_TRANSLATOR_WORD_HASH_H

#include <stdint.h>

/* The hash of what came before, and this word. */
static inline uint64_t tr_hash_word(uint64_t hash, uint64_t word)
{
    const uint64_t golden_ratio = 0x9e3779b97f4a7c15; /* 2^64 by it */
    hash = (hash ^ word) * golden_ratio;
    return hash ^ hash >> 29;
}

#endif
