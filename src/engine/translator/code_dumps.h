/* Code that was in no file (of JIT compilers, or patched): from the arena's dump area to ELF files in
 * DIR/images, where the mappings in the sideband log expect them.
 *
 * Called once, when the recording is over.
 */
#ifndef MAGIC_TRACE_ENGINE_TRANSLATOR_CODE_DUMPS_H
#define MAGIC_TRACE_ENGINE_TRANSLATOR_CODE_DUMPS_H

#include "engine/translator/arena.h"

/* Of all mappings in the sideband log. A mapping that names no dump of the arena is left out. False: a
 * file could not be written. */
bool code_dumps_write(const struct translator_arena *arena, const char *directory,
                      struct error *error);

#endif
