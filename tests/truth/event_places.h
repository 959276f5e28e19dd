/* Finds the events of a recording that lost packets among those of the whole recording.
 *
 * Both are made of the same packets, so events are the same except near the losses; after a loss
 * they are found again by their addresses and their times. Used by cut_judge.
 */
#ifndef MAGIC_TRACE_TESTS_EVENT_PLACES_H
#define MAGIC_TRACE_TESTS_EVENT_PLACES_H

#include "base/array.h"
#include "decode/flow_event.h"

#include <stdbool.h>
#include <stddef.h>

enum { NO_PLACE = -1 };

/* The same branch; times are not compared. */
bool is_same_event(const struct flow_event *left, const struct flow_event *right);

/* Where in `whole` the events of `part` from index `from` on happened: the index of the first one,
 * at or after `least`; NO_PLACE when it cannot be found. Both are arrays of struct flow_event. */
long find_place(const struct array *whole, long least, const struct array *part, size_t from);

#endif
