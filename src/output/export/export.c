#include "output/export/export.h"

#include "output/output_file.h"
#include "output/report/window_spans.h"

#include <string.h>
#include <unistd.h>

struct nanoseconds export_trace_origin(const struct export_trace *trace, struct nanoseconds first)
{
    return trace->window ? window_spans_origin(trace->window) : first;
}

/* An export that is on its way. */
struct export
{
    const struct export_format *format;
    const struct export_trace *trace;
    struct export_summary summary;
};

static bool refuse_gzip(const struct export_format *format, const char *path, struct error *error)
{
    return error_set(error, ERROR_USAGE,
                     "%s cannot be written: the format %s is never compressed. Give it a name "
                     "without .gz",
                     path, format->name);
}

static bool write_to(struct export *export, int descriptor, const char *path, struct error *error)
{
    struct block_writer out;
    size_t length = strlen(path);
    bool gzip = export->format->gzip || (length >= 3 && strcmp(path + length - 3, ".gz") == 0);
    if (export->format->write_file)
        return gzip ? refuse_gzip(export->format, path, error)
                    : export->format->write_file(export->trace, descriptor, path, &export->summary,
                                                 error);
    if (!block_writer_open(&out, descriptor, path, gzip, error))
        return false;
    bool written = export->format->write(export->trace, &out, &export->summary, error);
    return block_writer_finish(&out, written ? error : NULL) && written;
}

static bool write_file(struct export *export, const char *path, struct error *error)
{
    struct output_file file;
    if (!output_file_create(&file, path, error))
        return false;
    if (write_to(export, file.descriptor, path, error))
        return output_file_commit(&file, error);
    output_file_abandon(&file);
    return false;
}

bool export_write(const struct export_format *format, const struct export_trace *trace,
                  const char *path, struct export_summary *summary, struct error *error)
{
    struct export export = {.format = format, .trace = trace};
    bool ok = strcmp(path, "-") == 0 ? write_to(&export, STDOUT_FILENO, "standard output", error)
                                     : write_file(&export, path, error);
    *summary = export.summary;
    return ok;
}
