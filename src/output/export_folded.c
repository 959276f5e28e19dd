/* Folded stacks, as `magic-trace report -folded` prints them (report_folded.h).
 *
 * They have no place for times, instants, counters and hits of the trigger.
 */
#include "output/export.h"
#include "output/report_folded.h"
#include "output/text_writer.h"

#include <errno.h>
#include <stdio.h>

static ssize_t write_piece(void *cookie, const char *bytes, size_t size)
{
    text_put_bytes(cookie, bytes, size);
    return (ssize_t)size;
}

static bool write_folded(struct span_source *source, const char *name, struct block_writer *out,
                         struct export_summary *summary, struct error *error)
{
    (void)name;
    const cookie_io_functions_t functions = {.write = write_piece};
    FILE *stream = fopencookie(out, "w", functions);
    if (!stream)
        return error_set_errno(error, ERROR_IO, errno, "cannot write folded stacks");
    bool ok = report_folded(source, stream, error);
    fclose(stream);
    return ok;
}

const struct export_format export_folded = {
    .name = "folded",
    .suffix = ".folded",
    .write = write_folded,
};
