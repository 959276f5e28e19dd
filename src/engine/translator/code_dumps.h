/* Code that was in no file (of JIT compilers, or patched): from the arena's dump area to ELF files in
 * DIR/images, where the mappings in the sideband log expect them.
 *
 * Called once, when the recording is over.
 */
#ifndef MAGIC_TRACE_ENGINE_TRANSLATOR_CODE_DUMPS_H
#define MAGIC_TRACE_ENGINE_TRANSLATOR_CODE_DUMPS_H

#include "engine/packets/sideband_layout.h"
#include "engine/translator/arena.h"

/* Of all mappings in the sideband log. A mapping that names no dump of the arena is left out. False: a
 * file could not be written. */
bool code_dumps_write(const struct translator_arena *arena, const char *directory,
                      struct error *error);

/* The bytes of the dump that a mapping names, which has as many, and CODE_IMAGE_TAIL more, in the arena. NULL: it names none. */
const uint8_t *code_dumps_find(const struct translator_arena *arena,
                               const struct logged_mapping *mapping);

#endif
