/* The decoder's fast path and slow path, compared: an observer makes it take the slow path. */
#ifndef MAGIC_TRACE_TESTS_FLOW_BOTH_WAYS_H
#define MAGIC_TRACE_TESTS_FLOW_BOTH_WAYS_H

#include "fixture.h"

#include <stdbool.h>

/* Adds the packets and the sideband to the fixture. */
typedef void make_recording(struct fixture *fixture, const void *choices);

void both_ways_decode(struct fixture *fixture, make_recording *make, const void *choices,
                      unsigned cores, bool at_length);

/* Fails the test unless both paths give the same events and instructions. */
void both_ways_expect_same(struct fixture *fixture, struct fixture *expected);

/* Fails the test unless blocks and branches are as many when they are reported with their numbers
 * (flow_observer.repeated) as when they are reported one by one: all of them, and those of parts of
 * the time (flow_observer.counts). */
void both_ways_expect_same_counts(make_recording *make, const void *choices);

#endif
