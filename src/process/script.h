/* The first line of a script: `#!INTERPRETER [ARGUMENT]`, read as the kernel reads it.
 *
 * Rules: load_script() in fs/binfmt_script.c of Linux 5.1 and later. Only the first 256 bytes of
 * the file count (BINPRM_BUF_SIZE); everything after the interpreter is one argument, inner spaces
 * included; an interpreter whose name may have been cut off is refused.
 */
#ifndef MAGIC_TRACE_PROCESS_SCRIPT_H
#define MAGIC_TRACE_PROCESS_SCRIPT_H

#include <stdbool.h>

enum { SCRIPT_HEAD_SIZE = 256 };

struct script_line {
    char text[SCRIPT_HEAD_SIZE]; /* what the two below point into: do not copy the struct */
    const char *interpreter;
    const char *argument; /* NULL: none */
};

/* `head` is the start of the file, filled up with zeros. False when it is not a script that the
 * kernel would run. */
bool script_line_parse(struct script_line *line, const unsigned char head[static SCRIPT_HEAD_SIZE]);

#endif
