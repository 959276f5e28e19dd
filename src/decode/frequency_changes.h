/* The changes of one frequency, told as marks: of a processor, or as a thread saw it.
 *
 * Of most recordings the frequency never changes, and nothing is to be told of it. So the first
 * value is told when there is a second, with its own time.
 *
 * Used by trace_marks.c and text_frequencies.c.
 */
#ifndef MAGIC_TRACE_DECODE_FREQUENCY_CHANGES_H
#define MAGIC_TRACE_DECODE_FREQUENCY_CHANGES_H

#include "base/array.h"
#include "decode/trace_marks.h"

/* All zero: none is known yet. */
struct frequency_changes {
    struct trace_mark last;
    bool reported; /* `last` is among the marks */
};

/* Adds to `marks` what `now`, a mark of the kind TRACE_MARK_FREQUENCY, changes. */
void frequency_changes_note(struct frequency_changes *changes, const struct trace_mark *now,
                            struct array *marks);

#endif
