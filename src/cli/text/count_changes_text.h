/* Changes of counts (analysis/count_changes.h) for the terminal, and as Markdown.
 *
 * Called by `magic-trace check`.
 */
#ifndef MAGIC_TRACE_CLI_TEXT_COUNT_CHANGES_TEXT_H
#define MAGIC_TRACE_CLI_TEXT_COUNT_CHANGES_TEXT_H

#include "analysis/count_changes.h"

#include <stdio.h>

/* One sentence, and a table of the changes that count. */
void count_changes_print(FILE *stream, const struct count_changes *changes);
void count_changes_print_markdown(FILE *stream, const struct count_changes *changes);

#endif
