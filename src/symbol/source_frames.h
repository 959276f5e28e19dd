/* Which lines of which functions an instruction was compiled from: the function itself, and what was inlined into it.
 *
 * As debug information has it: no run is merged and no short call left out, unlike in inlined_runs.h, which makes spans. For
 * profiles by source, so used by counts/export_autofdo.c; not shared between threads.
 */
#ifndef MAGIC_TRACE_SYMBOL_SOURCE_FRAMES_H
#define MAGIC_TRACE_SYMBOL_SOURCE_FRAMES_H

#include "base/array.h"
#include "image/image_file.h"

#include <stdbool.h>
#include <stdint.h>

struct source_frame {
    const char *symbol;     /* as in a symbol table, without suffixes of compilers (.part.0) */
    uint32_t declared_line; /* of the function; 0: unknown */
    uint32_t line;          /* of the instruction, or of the inlined call; 0: unknown */
    uint32_t discriminator; /* distinguishes the code of one line */
};

struct source_frames;

/* `file` must be ELF and outlive it. */
struct source_frames *source_frames_open(const struct image_file *file);
void source_frames_close(struct source_frames *frames);

/* A range of code of a function. Addresses are the object's own. */
struct source_range {
    uint64_t start, end; /* end exclusive */
    uint64_t entry;      /* where the function begins, in this or another range */
};

/* Appends the frames of the instruction at `address` of the range (struct source_frame), the
 * function itself first. False: there is no debug information of the function.
 * Strings live as long as `frames`. Fast for addresses of one range after the other. */
bool source_frames_find(struct source_frames *frames, const struct source_range *range,
                        uint64_t address, struct array *found);

/* The symbol of the function that begins at `entry`; NULL: there is no debug information of it. */
const char *source_frames_symbol(struct source_frames *frames, uint64_t entry);

#endif
