/* What may stand at the cursor of a command line that is being typed, from the tables of commands and options.
 *
 * Called by `magic-trace completion` for the scripts of the shells (packaging/completion), which read it line by line:
 *
 *     WORD<tab>SUMMARY     a candidate; the summary may be missing
 *     :files, :folders     the names of files, which the shell completes; no indexes of traces (*.magic-trace-index)
 *     :program N           the command line of another program, whose name is word N
 *
 * What an option's value is, is seen by the name that its row gives it: FILE, DIR, PID, and PLACE, PART or NAMES of
 * functions of the program. The dynamic loader is asked for the program's libraries (engine/objects.h).
 */
#ifndef MAGIC_TRACE_CLI_COMPLETION_CANDIDATES_H
#define MAGIC_TRACE_CLI_COMPLETION_CANDIDATES_H

#include "cli/completion/typed_command.h"

#include <stdio.h>

void candidates_write(FILE *stream, const struct typed_command *typed);

#endif
