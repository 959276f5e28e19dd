/* When code took the place of other code in the traced processes: from the mapping records that they write.
 *
 * Decoders read the code that the newest mapping record up to a packet's time shows. So what a thread ran of older code has to have
 * earlier packets, and what it ran of newer code later ones, though the log has the time at some places only. Which of
 * the two a fragment is of is known exactly: a record says which fragments there were before it (next_fragment). Bytes that
 * are the same before and after are of both.
 *
 * Asked by code_border.c for each interval between two times of a thread's log that has a moment near it. For one thread of ours. Times in ticks.
 */
#ifndef MAGIC_TRACE_ENGINE_TRANSLATOR_CODE_CHANGES_H
#define MAGIC_TRACE_ENGINE_TRANSLATOR_CODE_CHANGES_H

#include "base/array.h"
#include "engine/translator/arena.h"
#include "engine/translator/transcode/fragments.h"

/* A mapping record. */
struct code_change {
    uint64_t start, end;    /* addresses */
    uint32_t next_fragment; /* smaller identifiers are of older code */
    /* in the arena, as they were and as they are now, and CODE_IMAGE_TAIL more, which decoders read where an instruction crosses the
     * end; NULL: not known */
    const uint8_t *before, *after;
};

/* Those of one time. */
struct code_moment {
    uint64_t time;
    struct array changes; /* of struct code_change */
};

/* Of one process. */
struct process_changes;

/* Where a thread is in them: all 0 at first. */
struct code_changes_cursor {
    const struct process_changes *process;
    uint64_t version;
    size_t next;
};

struct code_changes;

struct code_changes *code_changes_open(const struct translator_arena *arena);
void code_changes_close(struct code_changes *changes);

/* The first moment of process `pid` after `time`; NULL: none. Valid until the next call. All that a process recorded before the caller
 * knew of something later is known. */
const struct code_moment *code_changes_after(struct code_changes *changes,
                                             struct code_changes_cursor *cursor, uint32_t pid,
                                             uint64_t time);

/* Whether a moment after `after`, up to `until`, has changed the fragment: code_moment_age() is something else than CODE_UNCHANGED for one of them.
 * It looks at the fragment's own pages, so that what it costs does not depend on how many moments there are. */
bool code_changes_concern(const struct process_changes *process, const struct fragment *fragment,
                          uint64_t after, uint64_t until);

enum code_age { CODE_UNCHANGED, CODE_OLDER, CODE_NEWER };

/* What the fragment was made of, where the moment has changed it. */
enum code_age code_moment_age(const struct code_moment *moment, const struct fragment *fragment);

#endif
