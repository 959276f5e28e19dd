#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

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
    return false;
}
