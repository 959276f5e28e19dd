#include "analysis/report_end.h"

#include <errno.h>

bool report_end(const struct trace_index *index, FILE *stream, struct error *error)
{
    const char *damage = trace_index_facts(index)->damage;
    if (fflush(stream) != 0 || ferror(stream))
        return error_set_errno(error, ERROR_IO, errno, "cannot write the report");
    return !damage || error_set(error, ERROR_FORMAT, "%s", damage);
}
