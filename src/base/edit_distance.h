/* The name a person probably meant: the nearest by edit distance (insert, delete, replace, swap
 * neighbours); of long names also those that contain what was written.
 *
 *     struct closest_names nearest = closest_names_to("ouput");
 *     closest_names_offer(&nearest, "output");
 *     if (nearest.names[0]) ...
 *
 * Called by the command line for flags and commands, by engine/trigger.c for functions.
 */
#ifndef MAGIC_TRACE_BASE_EDIT_DISTANCE_H
#define MAGIC_TRACE_BASE_EDIT_DISTANCE_H

#include <stdbool.h>
#include <stddef.h>

enum { CLOSEST_NAMES = 5 };

struct closest_names {
    const char *wanted;
    /* The nearest, nearest first; NULL: nothing (more) that was offered comes near. */
    const char *names[CLOSEST_NAMES];
    size_t distances[CLOSEST_NAMES]; /* an offer has to be nearer than the initial value */
};

struct closest_names closest_names_to(const char *wanted);

/* `candidate` must live as long as the nearest is used. */
void closest_names_offer(struct closest_names *closest, const char *candidate);

/* Whether offering it would change anything: for candidates that do not live long. */
bool closest_names_would_take(const struct closest_names *closest, const char *candidate);

/* "a, b or c"; empty when nothing came near. */
void closest_names_list(const struct closest_names *closest, char *text, size_t size);

#endif
