/* The name a person probably meant: the nearest by edit distance (insert, delete, replace, swap
 * neighbours).
 *
 *     struct nearest nearest = nearest_to("ouput");
 *     nearest_offer(&nearest, "output");
 *     if (nearest.best) ...
 */
#ifndef MAGIC_TRACE_CLI_NEAREST_H
#define MAGIC_TRACE_CLI_NEAREST_H

#include <stddef.h>

struct nearest {
    const char *wanted;
    const char *best; /* NULL: nothing offered comes near */
    size_t distance;  /* of best; the first offer has to be nearer than the initial value */
};

struct nearest nearest_to(const char *wanted);

/* `candidate` must live as long as the nearest is used. */
void nearest_offer(struct nearest *nearest, const char *candidate);

#endif
