/* The name a person probably meant: the nearest by edit distance (insert, delete, replace, swap
 * neighbours); of long names also those that contain what was written.
 *
 *     struct nearest nearest = nearest_to("ouput");
 *     nearest_offer(&nearest, "output");
 *     if (nearest.names[0]) ...
 *
 * Called by the command line for flags and commands, by engine/trigger.c for functions.
 */
#ifndef MAGIC_TRACE_BASE_EDIT_DISTANCE_H
#define MAGIC_TRACE_BASE_EDIT_DISTANCE_H

#include <stdbool.h>
#include <stddef.h>

enum { NEAREST_NAMES = 5 };

struct nearest {
    const char *wanted;
    /* The nearest, nearest first; NULL: nothing (more) that was offered comes near. */
    const char *names[NEAREST_NAMES];
    size_t distances[NEAREST_NAMES]; /* an offer has to be nearer than the initial value */
};

struct nearest nearest_to(const char *wanted);

/* `candidate` must live as long as the nearest is used. */
void nearest_offer(struct nearest *nearest, const char *candidate);

/* Whether offering it would change anything: for candidates that do not live long. */
bool nearest_would_take(const struct nearest *nearest, const char *candidate);

/* "a, b or c"; empty when nothing came near. */
void nearest_list(const struct nearest *nearest, char *text, size_t size);

#endif
