/* What went wrong, in a form that the user can act on.
 *
 * Every function that can fail for reasons outside the program (a file, the kernel, the traced
 * program, the bytes of a recording) returns false and fills a `struct error`. The text is one or
 * more full sentences in the form "WHAT failed on WHICH (file, pid, offset): WHY. WHAT TO DO." and
 * has no trailing newline. The command line prints it and exits; nothing below the command line
 * prints errors or exits by itself.
 */
#ifndef MAGIC_TRACE_BASE_ERROR_H
#define MAGIC_TRACE_BASE_ERROR_H

#include <stdbool.h>

enum error_code {
    ERROR_NONE,        /* nothing failed */
    ERROR_USAGE,       /* the user asked for something that makes no sense; exit status 2 */
    ERROR_IO,          /* the operating system refused: open, read, write, mmap, disk full */
    ERROR_FORMAT,      /* bytes are not what they claim to be: damaged or foreign file */
    ERROR_UNSUPPORTED, /* understood, but this machine or this version cannot do it */
    ERROR_NOT_FOUND,   /* a program, file or symbol that was named does not exist */
    ERROR_PERMISSION,  /* the user may not do it; the text says who may */
};

struct error {
    enum error_code code;
    char text[2048];
};

/* Fills `error` (which may be NULL when the caller does not want the message). Always returns
 * false, so that a failing function can say `return error_set(...)`. */
__attribute__((format(printf, 3, 4))) bool error_set(struct error *error, enum error_code code,
                                                     const char *format, ...);

/* Like error_set, and appends ": " and the text of the errno value `errnum`. */
__attribute__((format(printf, 4, 5))) bool
error_set_errno(struct error *error, enum error_code code, int errnum, const char *format, ...);

#endif
