/* The names a user probably meant: the closest by edit distance (insert, delete, replace, swap
 * neighbours); of long names also those that contain what was written.
 *
 *     struct closest_names closest = closest_names_to("ouput");
 *     closest_names_offer(&closest, "output");
 *     if (closest.names[0]) ...
 *
 * Called by the command line for flags and commands, by engine/trigger/trigger.c for functions.
 */
#ifndef MAGIC_TRACE_BASE_EDIT_DISTANCE_H
#define MAGIC_TRACE_BASE_EDIT_DISTANCE_H

#include <stdbool.h>
#include <stddef.h>

enum { CLOSEST_NAMES = 5 };

struct closest_names {
    const char *wanted;
    /* The closest first; NULL: no (further) candidate was close enough. */
    const char *names[CLOSEST_NAMES];
    size_t distances[CLOSEST_NAMES]; /* a candidate is taken if its distance is below the initial
                                      * value */
};

struct closest_names closest_names_to(const char *wanted);

/* `candidate` must live as long as `closest` is used. */
void closest_names_offer(struct closest_names *closest, const char *candidate);

/* Whether offering it would change anything: lets callers copy only the candidates that are taken.
 */
bool closest_names_would_take(const struct closest_names *closest, const char *candidate);

/* Writes "a, b or c"; empty when no candidate was close enough. */
void closest_names_list(const struct closest_names *closest, char *text, size_t size);

#endif
