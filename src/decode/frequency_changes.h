/* The changes of one frequency as marks: of a processor, or as a thread saw it.
 *
 * In most recordings the frequency never changes, and there are no marks. So the first value
 * becomes a mark, with its own time, only when a second value follows.
 *
 * Used by trace_marks.c and text_frequencies.c.
 */
#ifndef MAGIC_TRACE_DECODE_FREQUENCY_CHANGES_H
#define MAGIC_TRACE_DECODE_FREQUENCY_CHANGES_H

#include "base/array.h"
#include "decode/trace_mark.h"

#include <stdbool.h>

/* All zero: no value yet. */
struct frequency_changes {
    struct trace_mark last;
    bool reported; /* `last` is among the marks */
};

/* Adds to `marks` the change, if any, that `now` makes, a mark of the kind TRACE_MARK_FREQUENCY. */
void frequency_changes_note(struct frequency_changes *changes, const struct trace_mark *now,
                            struct array *marks);

#endif
