/* Spans made by hand: the input of a test, as a span source.
 *
 *     struct span_script *script = span_script_new();
 *     uint32_t main_thread = span_script_track(script, 10, 10, "prog", "main");
 *     span_script_enter(script, main_thread, 100, "f");
 *     span_script_leave(script, main_thread, 150);
 *     struct span_source *source = span_script_source(script);
 *
 * Everything belongs to the script and lives until span_script_free. Functions are distinguished by
 * name.
 */
#ifndef MAGIC_TRACE_TESTS_SPAN_SCRIPT_H
#define MAGIC_TRACE_TESTS_SPAN_SCRIPT_H

#include "base/arena.h"
#include "base/array.h"
#include "stack/spans/span.h"

struct span_script {
    struct arena arena;
    struct array tracks; /* of struct span_track */
    struct array stacks; /* of struct array of const struct span_function *, by track */
    struct array events; /* of struct span_event */
    struct script_function *functions;
    size_t function_count;
    struct span_source source;
    size_t replayed;
    size_t batch_size;        /* as span_script_in_batches sets it; 0: single events */
    struct span_event *batch; /* the newest; owned */
    /* What next() fails with after the last event; ERROR_NONE: it just ends. */
    struct error fails_with;
};

struct span_script *span_script_new(void);
void span_script_free(struct span_script *script);

uint32_t span_script_track(struct span_script *script, uint32_t pid, uint32_t tid,
                           const char *process, const char *thread);

/* The function of that name, whose other properties the test may set before its first span. */
struct span_function *span_script_function(struct span_script *script, const char *name);

/* Each returns its event, for the test to add flags and reasons; valid until the next call. */
struct span_event *span_script_enter(struct span_script *script, uint32_t track, uint64_t time,
                                     const char *function);
struct span_event *span_script_leave(struct span_script *script, uint32_t track, uint64_t time);
struct span_event *span_script_instant(struct span_script *script, uint32_t track, uint64_t time,
                                       const char *text);

struct span_event *span_script_counter(struct span_script *script, uint32_t track, uint64_t time,
                                       const char *text, double value);

/* From now on the source supplies so many events at once, each time in memory of their own, so that
 * AddressSanitizer sees who reads further. */
void span_script_in_batches(struct span_script *script, size_t size);

/* The same source each time, rewound to its beginning. Its close() does nothing. */
struct span_source *span_script_source(struct span_script *script);

#endif
