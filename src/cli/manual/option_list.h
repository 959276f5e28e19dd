/* The options of a command as items of a list in mdoc(7), for man pages.
 *
 * Used by man_page.c when the man pages are built.
 */
#ifndef MAGIC_TRACE_CLI_MANUAL_OPTION_LIST_H
#define MAGIC_TRACE_CLI_MANUAL_OPTION_LIST_H

#include "cli/command.h"

#include <stdio.h>

/* Those that the help page shows, each with its long text and its values. */
void option_list_write(FILE *stream, const struct command *command);

/* A text of a help page as a sentence. */
void option_list_write_sentence(FILE *stream, const char *help);

#endif
