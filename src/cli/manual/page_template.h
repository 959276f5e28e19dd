/* Makes a man page of its template, docs/man/NAME.1.in, by putting what the tables hold in the places of three lines:
 *
 *     .\" OPTIONS of COMMAND    the options of the command, as items of a list
 *     .\" COMMANDS              the commands, likewise
 *     .\" TABLES                the tables that SQL can ask, with their columns
 *
 * Called by man_page.c when magic-trace is built, and by `magic-trace install`.
 */
#ifndef MAGIC_TRACE_CLI_MANUAL_PAGE_TEMPLATE_H
#define MAGIC_TRACE_CLI_MANUAL_PAGE_TEMPLATE_H

#include <stdbool.h>
#include <stdio.h>

/* False when the template names a command that there is not; a message was printed then. */
bool page_template_fill(FILE *page, FILE *page_template);

#endif
