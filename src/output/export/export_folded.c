/* Folded stacks, as `magic-trace report -folded` prints them (report_folded.h).
 *
 * They have no place for times, instants, counters and hits of the trigger.
 */
#include "output/export/export_events.h"
#include "output/report/report_folded.h"
#include "output/text_writer.h"

#include <errno.h>
#include <stdio.h>

static ssize_t write_part(void *cookie, const char *bytes, size_t size)
{
    text_put_bytes(cookie, bytes, size);
    return (ssize_t)size;
}

static bool write_folded(const struct export_trace *trace, struct block_writer *out,
                         struct export_summary *summary, struct error *error)
{
    struct span_source *source = trace->source;
    const cookie_io_functions_t functions = {.write = write_part};
    FILE *stream = fopencookie(out, "w", functions);
    if (!stream)
        return error_set_errno(error, ERROR_IO, errno, "cannot write folded stacks");
    struct error ended = {0};
    (void)report_folded(source, false, stream, &ended);
    fclose(stream);
    return export_source_ended(&ended, summary, error);
}

const struct export_format export_folded = {
    .name = "folded",
    .suffix = ".folded",
    .summary = "folded stacks with the time spent in each, for flame graphs",
    .manual = "Stacks with the nanoseconds spent in each, one per line, for flame "
              "graphs. Of stacks deeper than 1,024 frames those in the middle are one, "
              "`[...]`. The same holds for `pprof`.",
    .write = write_folded,
};
