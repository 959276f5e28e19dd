#include "output/report_stream.h"

#include <errno.h>

bool report_end(FILE *stream, const struct error *ended, struct error *error)
{
    if (fflush(stream) != 0 || ferror(stream))
        return error_set_errno(error, ERROR_IO, errno, "cannot write the report");
    if (ended->code == ERROR_NONE)
        return true;
    if (error)
        *error = *ended;
    return false;
}
