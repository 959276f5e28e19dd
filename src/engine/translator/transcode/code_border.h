/* Where the steps of a thread cross from code that has been replaced to other code: the times before and after it have to be on
 * either side of the time of the mapping record (code_changes.h says why).
 *
 * Used by transcoder.c, for the steps between two times of the log. Times in ticks.
 */
#ifndef MAGIC_TRACE_ENGINE_TRANSLATOR_CODE_BORDER_H
#define MAGIC_TRACE_ENGINE_TRANSLATOR_CODE_BORDER_H

#include "engine/translator/transcode/code_changes.h"
#include "engine/translator/transcode/path.h"
#include "engine/translator/transcode/pauses.h"

/* Where the steps leave code that another one has replaced, or come to the new one: what comes before has times up to
 * `before`, the other from `after` on. */
struct code_border {
    struct path_place place;
    bool leaves_old, comes_to_new;
    uint64_t before, after;
    size_t pause; /* the thread did not run then: the number of the first pause that comes after */
    bool pauses;
};

/* What is searched: all borrowed. */
struct border_scope {
    const struct path *path;
    const struct pauses *pauses;
    struct code_changes *changes;
    struct code_changes_cursor cursor;
    uint32_t pid;
    uint64_t tsc_hz;
    uint64_t from; /* when the steps begin */
};

/* Whether any code was replaced after `from` that code_border_find looks at. The cursor moves on to there. */
bool code_border_is_near(struct border_scope *scope, uint64_t until);

/* The first border after `*after`, which moves on. Where what is newer still runs earlier, its border stands for both. Old code was
 * replaced up to `until`. False: the steps cross no other border. Once code_border_is_near. */
bool code_border_find(const struct border_scope *scope, uint64_t until, uint64_t *after,
                      struct code_border *first);

/* Whether the fragment that was entered last is of code that has been replaced until `time`: it had run before. */
bool code_border_is_old(const struct border_scope *scope, uint64_t time);

#endif
