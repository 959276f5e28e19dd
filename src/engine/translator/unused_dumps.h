/* Which code dumps nothing of the recording needs: a ring holds the end of what ran, but code that a just-in-time
 * compiler, or the program itself, has changed again and again was dumped all the time.
 *
 * A fragment names the dumps of its pages that it was made of: the newest ones before it (struct logged_mapping). A dump between two
 * others of its page of which no fragment was made that is in the logs is not needed. Without it decoders see the older dump until the next one,
 * and what ran meanwhile has the same bytes in both: it was made of that older one, or of an older one yet, and has not been taken
 * back. The first and the last dump of a page stay, so that it is known at any time.
 *
 * Only of processes with a fragment table of their own that no child goes on with. Called once, by finish.c, when all logs were
 * transcoded.
 */
#ifndef MAGIC_TRACE_ENGINE_TRANSLATOR_UNUSED_DUMPS_H
#define MAGIC_TRACE_ENGINE_TRANSLATOR_UNUSED_DUMPS_H

#include "engine/translator/arena.h"
#include "engine/translator/transcode/fragments.h"

/* Their records in the sideband log become LOGGED_UNUSED. `fragments` has all that were transcoded. */
void unused_dumps_find(const struct translator_arena *arena, const struct fragments *fragments);

#endif
