/* A path of calls on one line: `main > parse > read_line`, of short names (base/short_name.h).
 *
 * Called by what prints explanations and comparisons.
 */
#ifndef MAGIC_TRACE_CLI_NAME_PATH_H
#define MAGIC_TRACE_CLI_NAME_PATH_H

#include <stddef.h>
#include <stdio.h>

/* From the outermost function on. The middle of a long path is left out. */
void name_path_print(FILE *stream, const char *const *names, size_t count);

#endif
