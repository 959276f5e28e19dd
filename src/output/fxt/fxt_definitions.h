/* What the records of a trace define for the events after them: strings, threads, names, the clock.
 *
 * Used by the trace parser. References hold from their place in the file on, until they are defined
 * again; the texts are kept in the dictionary, which stays when the file is read again.
 */
#ifndef MAGIC_TRACE_OUTPUT_FXT_FXT_DEFINITIONS_H
#define MAGIC_TRACE_OUTPUT_FXT_FXT_DEFINITIONS_H

#include "output/fxt/fxt_dictionary.h"
#include "output/fxt/fxt_records.h"

#define FXT_NO_TRACK UINT32_MAX

struct fxt_definitions {
    struct fxt_dictionary dictionary;
    uint64_t ticks_per_second;
    uint64_t wall_clock;  /* see struct span_source */
    bool sampled;         /* see struct span_source */
    const char *recorded; /* likewise; NULL: not known */
    const char *process;  /* the name of the argument that a thread's name comes with */
    /* How often a reference that was defined has been given another meaning. */
    uint32_t redefinitions;
    const char *strings[FXT_STRING_INDEX_MAX + 1]; /* NULL: not defined */
    struct fxt_thread_ids {
        uint32_t pid, tid;
    } threads[FXT_THREAD_INDEX_MAX + 1];
    uint32_t tracks[FXT_THREAD_INDEX_MAX + 1]; /* of threads[]; FXT_NO_TRACK: not asked for yet */
};

void fxt_definitions_init(struct fxt_definitions *definitions);
void fxt_definitions_free(struct fxt_definitions *definitions);

/* Forgets all but the dictionary: the trace is read from its beginning. */
void fxt_definitions_restart(struct fxt_definitions *definitions);

/* Takes in a record of any kind but an event. False when it contradicts itself. */
bool fxt_define(struct fxt_definitions *definitions, struct fxt_record record);

/* The one copy of a text that does not come from the trace. */
const char *fxt_known_text(struct fxt_definitions *definitions, const char *text);

/* The text of a string reference, whose inline form takes bytes of the record. NULL: undefined or
 * cut off. */
const char *fxt_take_inline_string(struct fxt_definitions *definitions, struct fxt_record *record,
                                   uint32_t reference);

static inline const char *fxt_take_string(struct fxt_definitions *definitions,
                                          struct fxt_record *record, uint32_t reference)
{
    return reference & FXT_STRING_INLINE ? fxt_take_inline_string(definitions, record, reference)
                                         : definitions->strings[reference];
}

/* The track of an event's thread, whose inline form takes words of the record. False: cut off. */
bool fxt_take_other_track(struct fxt_definitions *definitions, struct fxt_record *record,
                          uint32_t reference, uint32_t *track);

static inline bool fxt_take_track(struct fxt_definitions *definitions, struct fxt_record *record,
                                  uint32_t reference, uint32_t *track)
{
    *track = definitions->tracks[reference];
    return *track != FXT_NO_TRACK || fxt_take_other_track(definitions, record, reference, track);
}

uint64_t fxt_ticks_to_nanoseconds(const struct fxt_definitions *definitions, uint64_t ticks);

static inline uint64_t fxt_nanoseconds(const struct fxt_definitions *definitions, uint64_t ticks)
{
    return definitions->ticks_per_second == 1000000000
               ? ticks
               : fxt_ticks_to_nanoseconds(definitions, ticks);
}

/* An argument of an event or a name. */
struct fxt_argument {
    const char *name;
    uint8_t type;     /* enum fxt_argument_type */
    uint64_t number;  /* of the numeric types; of a double its bits */
    const char *text; /* of FXT_ARGUMENT_STRING */
};

bool fxt_take_argument(struct fxt_definitions *definitions, struct fxt_record *record,
                       struct fxt_argument *argument);

#endif
