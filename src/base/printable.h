/* Text that a terminal shows as it is: names of functions, threads and files are bytes that the
 * traced program, or whoever made a trace, has chosen, and may hold escape sequences.
 *
 * Control characters (C0, DEL, C1), and those that change the direction of writing, become \xNN or
 * \uNNNN. Bytes that are not UTF-8 stay, but for 0x80 to 0x9f, which are control characters of 8-bit
 * terminals.
 *
 * Called where names come into spans, and where messages go to the terminal. Sources: ECMA-48;
 * Unicode, UAX #9 (bidirectional formatting characters).
 */
#ifndef MAGIC_TRACE_BASE_PRINTABLE_H
#define MAGIC_TRACE_BASE_PRINTABLE_H

#include "base/arena.h"

#include <stdbool.h>

enum printable_kind {
    PRINTABLE_NAME, /* one line without tabs */
    PRINTABLE_TEXT, /* lines and tabs stay */
};

/* NULL: `text` may be printed as it is. Otherwise a copy that may; the caller frees. */
char *printable_copy(const char *text, enum printable_kind kind);

/* `name` itself, or a printable copy in the arena. NULL gives NULL. */
const char *printable_name(struct arena *memory, const char *name);

#endif
