#include "base/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

static void fill(struct error *error, enum error_code code, const char *format, va_list arguments)
{
    error->code = code;
    vsnprintf(error->text, sizeof error->text, format, arguments);
}

bool error_set(struct error *error, enum error_code code, const char *format, ...)
{
    if (!error)
        return false;
    va_list arguments;
    va_start(arguments, format);
    fill(error, code, format, arguments);
    va_end(arguments);
    return false;
}

/* The limit is the usual one of a shell that was made smaller, and nothing else shows what it is. */
static void say_file_limit(char *text, size_t size)
{
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) == 0)
        snprintf(
            text, size,
            ". magic-trace may have no more than %llu of them; most of what it does needs 32. "
            "`ulimit -n 1024` before it raises the limit, for the shell and all that it starts.",
            (unsigned long long)files.rlim_cur);
}

bool error_set_errno(struct error *error, enum error_code code, int errnum, const char *format, ...)
{
    if (!error)
        return false;
    va_list arguments;
    va_start(arguments, format);
    fill(error, code, format, arguments);
    va_end(arguments);
    size_t used = strlen(error->text);
    snprintf(error->text + used, sizeof error->text - used, ": %s", strerror(errnum));
    used = strlen(error->text);
    if (errnum == EMFILE)
        say_file_limit(error->text + used, sizeof error->text - used);
    return false;
}
