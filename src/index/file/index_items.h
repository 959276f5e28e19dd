/* What an index (trace_index.h) has: tracks, functions, spans, tiles. Times are ns since the trace's first event.
 */
#ifndef MAGIC_TRACE_INDEX_FILE_INDEX_ITEMS_H
#define MAGIC_TRACE_INDEX_FILE_INDEX_ITEMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Strings of this and the next structures belong to the index. */
struct index_track {
    uint32_t pid, tid;
    const char *process, *thread; /* names; never NULL */
    uint64_t spans;
    uint32_t depth;       /* spans open at once at most */
    uint64_t first, last; /* ns: beginning of the first and end of the last span */
    bool is_hits;         /* holds the trigger's hits, no calls */
};

enum index_colour { /* whose code a function is */
                    INDEX_OWN,
                    INDEX_LIBRARY,
                    INDEX_KERNEL,
                    INDEX_INLINED,
                    INDEX_SPECIAL,
};

struct index_function {
    const char *name;   /* never NULL */
    const char *symbol; /* NULL: not known */
    const char *file;   /* NULL: not known */
    uint32_t line;      /* 0: not known */
    uint64_t address;   /* 0: not known */
    uint32_t group;     /* smallest id of those of the same name */
    uint64_t calls;     /* of this id; of a group: index_group_calls() */
    enum index_colour colour;
};

struct index_facts {
    uint64_t id;         /* names trace and index together; changes when the trace does */
    uint64_t spans;      /* of all tracks */
    uint64_t duration;   /* ns */
    uint64_t wall_clock; /* Unix ns at time 0; 0: not known */
    uint32_t tracks, functions, marks, hits, counters;
    uint64_t valued_calls; /* of which arguments or results were recorded (valued_calls.h) */
    uint64_t values;
    uint64_t switches; /* between stacks (marks.h) */
    uint32_t stacks;   /* that were suspended or resumed (stacks.h) */
    uint64_t stack_parts;
    bool sampled;         /* spans are what samples have in common, not calls */
    const char *recorded; /* how, and what times mean (struct span_source); NULL: not known */
    const char *damage;   /* a message about damage of the trace, for the user; NULL: none */
};

/* A span, exactly. */
struct index_span {
    uint64_t start, end;
    uint32_t depth;
    uint32_t function;
    uint8_t flags;  /* enum span_flag */
    uint8_t ending; /* enum span_end */
};

/* What is drawn: one span (spans == 1), or several that are too short for the resolution. */
struct index_tile {
    uint64_t start, end;
    uint32_t depth;
    uint32_t function; /* of the longest */
    uint32_t spans;
    uint8_t flags, ending; /* of a single span; else 0 */
};

struct index_range {
    uint64_t from, to; /* [from, to) */
};

/* Which tracks are meant: NULL ids, all but those of hits. */
struct index_tracks {
    const uint32_t *ids;
    size_t count;
};

static inline bool index_tracks_contain(struct index_tracks tracks, uint32_t track)
{
    for (size_t i = 0; i < tracks.count; i++)
        if (tracks.ids[i] == track)
            return true;
    return tracks.count == 0;
}

#endif
