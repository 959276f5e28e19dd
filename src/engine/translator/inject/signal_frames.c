#include "engine/translator/inject/signal_frames.h"

#include <stddef.h>
#include <unistd.h>

/* A frame has, in turn, the program counter, the flags and the segments (struct sigcontext of asm/sigcontext.h). */
static bool has_frame(const uint64_t *words, size_t count, uint64_t start, uint64_t size)
{
    enum { CODE_SEGMENT_64 = 0x33, SEGMENT_MASK = 0xffff };
    for (size_t i = 0; i + 2 < count; i++)
        if (words[i] - start < size && (words[i + 2] & SEGMENT_MASK) == CODE_SEGMENT_64)
            return true;
    return false;
}

bool signal_frame_returns_to(int memory, uint64_t stack_pointer, uint64_t start, uint64_t size)
{
    enum { WORDS = 1024, OVERLAP = 2, MOST_BYTES = 1 << 20 };
    uint64_t words[WORDS];
    for (uint64_t at = 0; at < MOST_BYTES; at += (WORDS - OVERLAP) * sizeof *words) {
        ssize_t got = pread(memory, words, sizeof words,
                            (off_t)((stack_pointer & ~(uint64_t)(sizeof *words - 1)) + at));
        if (got <= 0)
            break;
        if (has_frame(words, (size_t)got / sizeof *words, start, size))
            return true;
    }
    return false;
}
