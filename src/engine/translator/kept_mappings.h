/* Copies the files of code that traced processes have mapped into the recording, so that they can be replaced.
 *
 * Files of a process that sees other files than we do (a container's: process/seen_files.h) are copied whatever they are, and
 * their mapping records are marked: decoders look for them among the copies only, because our file of that path, if there is one,
 * is another file.
 */
#ifndef MAGIC_TRACE_ENGINE_TRANSLATOR_KEPT_MAPPINGS_H
#define MAGIC_TRACE_ENGINE_TRANSLATOR_KEPT_MAPPINGS_H

#include "engine/translator/arena.h"
#include "process/seen_files.h"

/* Of what is mapped now those files that are not ours: to be called when a process was attached to, since its container may be removed
 * before the end. */
void kept_mappings_begin(const struct translator_arena *arena, const char *directory,
                         struct seen_files *seen);

/* All, at the end. `seen` gets the children of those that are known. */
void kept_mappings_finish(const struct translator_arena *arena, const char *directory,
                          struct seen_files *seen);

#endif
