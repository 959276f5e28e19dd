/* A growable array in a nameless file, for data that grow with the trace and are needed until the
 * index is complete; it takes no memory.
 *
 * The file is created with the first element, in the folder of the index, which needs space for the
 * index anyway; its pages are mapped, so the kernel writes them out when memory is short. When it
 * cannot grow, spill->failed says why and spill_add() returns space that is never read: check at
 * the end.
 */
#ifndef MAGIC_TRACE_INDEX_BUILD_SPILL_H
#define MAGIC_TRACE_INDEX_BUILD_SPILL_H

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

struct spill {
    char *elements; /* mapped */
    size_t count;
    size_t capacity; /* elements */
    size_t element_size;
    int descriptor;     /* -1: empty */
    const char *beside; /* the index; not owned */
    void *nowhere;      /* owned; where elements go once it has failed */
    struct error failed;
};

struct spill spill_of(size_t element_size, const char *beside);
void spill_free(struct spill *spill);

/* Adds one element, all bytes 0. Growing moves the elements. */
void *spill_add(struct spill *spill);

/* Element `index`, which has been added. */
void *spill_at(const struct spill *spill, size_t index);

#endif
