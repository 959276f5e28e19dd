/* What a trace names: texts, functions, threads. Each gets a number that stays.
 *
 * Used by the trace parser. Memory grows with the number of different names in the trace, not with
 * its events.
 */
#ifndef MAGIC_TRACE_OUTPUT_FXT_FXT_DICTIONARY_H
#define MAGIC_TRACE_OUTPUT_FXT_FXT_DICTIONARY_H

#include "base/arena.h"
#include "base/array.h"
#include "stack/spans/span.h"

#include <stddef.h>
#include <stdint.h>

struct fxt_dictionary {
    struct arena arena; /* holds the texts, functions and threads */
    struct dictionary_text *texts;
    struct dictionary_function *functions;
    size_t function_count;
    struct dictionary_counter *counters;
    struct dictionary_thread *threads;
    struct dictionary_process *processes;
    struct array tracks;        /* of struct span_track */
    struct array track_threads; /* of struct dictionary_thread *, by track */
};

void fxt_dictionary_init(struct fxt_dictionary *dictionary);
void fxt_dictionary_free(struct fxt_dictionary *dictionary);

/* The one copy of a text that ends after `length` bytes or at the first NUL in it: equal texts have
 * one address, so pointers can be compared. */
const char *fxt_dictionary_text(struct fxt_dictionary *dictionary, const char *text, size_t length);

/* The one function with these properties; all texts must come from fxt_dictionary_text (or be
 * NULL). */
struct fxt_function_key {
    const char *name, *symbol, *file;
    uint32_t line;
    uint16_t special;
    uint16_t origin; /* enum span_origin */
};
const struct span_function *fxt_dictionary_function(struct fxt_dictionary *dictionary,
                                                    const struct fxt_function_key *key);

/* What a counter is called (fxt_counter_text.h); the texts must come from fxt_dictionary_text. */
const char *fxt_dictionary_counter(struct fxt_dictionary *dictionary, const char *name, uint64_t id,
                                   const char *argument);

void fxt_dictionary_name_process(struct fxt_dictionary *dictionary, uint32_t pid, const char *name);
void fxt_dictionary_name_thread(struct fxt_dictionary *dictionary, uint32_t pid, uint32_t tid,
                                const char *name);

/* The track that shows this thread. The row of deep frames of a thread has the thread's track, if
 * it is named before its first event, as the writer does. */
uint32_t fxt_dictionary_track(struct fxt_dictionary *dictionary, uint32_t pid, uint32_t tid);

/* Fills in the names of the tracks, as far as they are known by now. */
const struct span_track *fxt_dictionary_tracks(struct fxt_dictionary *dictionary, size_t *count);

#endif
