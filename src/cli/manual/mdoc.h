/* Plain text as the option tables hold it (cli/options/options.h) -> mdoc(7), the language of man
 * pages.
 *
 * Used by man_page.c when the man pages are built.
 */
#ifndef MAGIC_TRACE_CLI_MANUAL_MDOC_H
#define MAGIC_TRACE_CLI_MANUAL_MDOC_H

#include <stdio.h>

/* Writes paragraphs, whole lines. `argument`: the option's, whose words are marked where the text
 * has them; NULL: none. */
void mdoc_write_text(FILE *stream, const char *text, const char *argument);

/* A text for a help page as a sentence: with a capital, on one line, and with a full stop unless it
 * ends with other punctuation. The caller frees. */
char *mdoc_sentence(const char *help);

#endif
