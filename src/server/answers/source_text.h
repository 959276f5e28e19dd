/* The text of a program's source file, as far as it is fit to be shown.
 *
 * Which file that is a trace says, and a trace may come from anywhere: what is no regular file of
 * readable text and sensible size is not opened, let alone shown.
 */
#ifndef MAGIC_TRACE_SERVER_ANSWERS_SOURCE_TEXT_H
#define MAGIC_TRACE_SERVER_ANSWERS_SOURCE_TEXT_H

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

struct source_text {
    char *bytes; /* owned; the lines, each ended by a newline */
    size_t size;
    uint32_t first; /* number of the first line */
};

/* The lines around `line` (from 1; 0: the beginning) of the file at `path`. False with
 * ERROR_NOT_FOUND when it is missing or unsuitable. */
bool source_text_read(struct source_text *text, const char *path, uint32_t line,
                      struct error *error);
void source_text_free(struct source_text *text);

#endif
