/* Calls one after the other, each with its number, its caller and its self time.
 *
 *     struct call_scan *scan = call_scan_new(numbers);
 *     call_scan_begin(scan, &bounds);
 *     while (call_scan_next(scan, &error))
 *         ... call_scan_call(scan), call_scan_self(scan) ...
 *     ok = error.code == ERROR_NONE;
 *
 * Called by the tables of SQL (analysis/query/calls_table.c). Only chunks that may hold calls within
 * the bounds are read. The tracks of hits hold no calls.
 *
 * A call's number counts from 1: thread by thread, and in each in the order in which calls end.
 */
#ifndef MAGIC_TRACE_INDEX_CALL_SCAN_H
#define MAGIC_TRACE_INDEX_CALL_SCAN_H

#include "index/trace_index.h"

/* The numbers of an index's calls; belongs to one thread, since it remembers what it has searched.
 */
struct call_numbers;

struct call_numbers *call_numbers_new(const struct trace_index *index);
void call_numbers_free(struct call_numbers *numbers);

/* The number of the call before which `ended` spans of its track ended. */
uint64_t call_numbers_of(const struct call_numbers *numbers, uint32_t track, uint64_t ended);
/* The other way round: how many spans of its track ended before the call. */
uint64_t call_numbers_ended(const struct call_numbers *numbers, uint32_t track, uint64_t number);

/* Both inclusive. */
struct call_bound {
    uint64_t min, max;
};

#define CALL_ANY UINT32_MAX

struct call_bounds {
    struct call_bound number, start, end, duration;
    uint32_t group; /* or CALL_ANY */
    uint32_t depth; /* or CALL_ANY */
    /* By track, whether its calls are wanted; NULL: those of all are. */
    const bool *tracks;
};

/* All calls. */
struct call_bounds call_bounds_all(void);

struct call_scan;

struct call_scan *call_scan_new(struct call_numbers *numbers);
void call_scan_free(struct call_scan *scan);

/* Before the first call within the bounds; `bounds->tracks` must live as long as they are in use. */
void call_scan_begin(struct call_scan *scan, const struct call_bounds *bounds);

/* Goes to the next call; calls come in the order of their numbers. False at the end, or with an
 * error. */
bool call_scan_next(struct call_scan *scan, struct error *error);

/* The call that the scan is at. */
struct index_span call_scan_call(const struct call_scan *scan);
uint32_t call_scan_track(const struct call_scan *scan);
uint64_t call_scan_number(const struct call_scan *scan);

/* Its duration without that of the calls in it. */
bool call_scan_self(struct call_scan *scan, uint64_t *self, struct error *error);

/* The number of its caller; 0: it is an outermost call. */
bool call_scan_caller(struct call_scan *scan, uint64_t *caller, struct error *error);

#endif
