/* Code that was in no file (of JIT compilers, or patched): from the arena's dump area to ELF files in
 * DIR/images, where the mappings in the sideband log expect them (runtime/translator/layout.h).
 *
 * Called when the recording is over, before stacks are unwound and after.
 */
#ifndef MAGIC_TRACE_ENGINE_TRANSLATOR_CODE_DUMPS_H
#define MAGIC_TRACE_ENGINE_TRANSLATOR_CODE_DUMPS_H

#include "engine/packets/sideband_layout.h"
#include "engine/translator/arena.h"

enum code_dumps_part {
    CODE_DUMPS_HEADERS, /* unwinding needs no more, but ends where it finds no file */
    CODE_DUMPS_WHOLE, /* but for dumps of LOGGED_UNUSED mappings: files of these alone are removed */
};

/* Of all mappings in the sideband log. A mapping that names no dump of the arena is left out. False: a
 * file could not be written. */
bool code_dumps_write(const struct translator_arena *arena, const char *directory,
                      enum code_dumps_part part, struct error *error);

/* The bytes of the dump that a mapping names, which has as many, and CODE_IMAGE_TAIL more, in the arena. NULL: it names none. */
const uint8_t *code_dumps_find(const struct translator_arena *arena,
                               const struct logged_mapping *mapping);

#endif
