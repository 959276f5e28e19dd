#include "server/export_html.h"

#include "base/log.h"
#include "output/duration.h"
#include "output/export/export_events.h"
#include "output/text_writer.h"
#include "server/page_trace.h"
#include "server/standalone_page.h"

#include <inttypes.h>

/* The trace exceeded the limit at `end`, so the part before `end` fits. Moments are printed as
 * -from and -to accept them.
 */
static bool refuse(const struct export_trace *shown, struct nanoseconds first,
                   struct nanoseconds end, struct error *error)
{
    struct nanoseconds origin = export_trace_origin(shown, first);
    return error_set(
        error, ERROR_UNSUPPORTED,
        "that is too much for one page: more than %d spans. Take a part, such as -from "
        "%" PRIu64 "ns -to %" PRIu64 "ns, which has fewer, or one call with "
        "-around FUNCTION; `magic-trace view` shows the whole",
        EXPORT_HTML_SPANS_MAX, first.value - origin.value, end.value - 1 - origin.value);
}

static bool read_all(struct export_events *events, struct page_trace *kept,
                     const struct export_trace *shown, struct error *error)
{
    const struct span_event *event;
    while ((event = export_events_next(events))) {
        if (events->summary->spans > EXPORT_HTML_SPANS_MAX) {
            log_progress_end();
            return refuse(shown, events->first, event->time, error);
        }
        page_trace_add(kept, event);
    }
    return export_events_finish(events, error);
}

static bool write_html(const struct export_trace *shown, struct block_writer *out,
                       struct export_summary *summary, struct error *error)
{
    struct export_events events;
    export_events_init(&events, shown->source, out, summary);
    struct page_trace *kept = page_trace_new(shown->source);
    bool ok = read_all(&events, kept, shown, error);
    if (ok) {
        bool damaged = summary->damage.code != ERROR_NONE;
        text_put_bytes(out, standalone_page.head, standalone_page.head_size);
        page_trace_write(kept, shown->name, damaged ? summary->damage.text : NULL, out);
        text_put_bytes(out, standalone_page.tail, standalone_page.tail_size);
    }
    page_trace_free(kept);
    return ok;
}

const struct export_format export_html = {
    .name = "html",
    .suffix = ".html",
    .summary = "a part of a trace as one page that needs nothing else",
    .manual = "The page of magic-trace-view(1) in one file with a part of a trace in "
              "it, to be attached to a ticket: it opens from where it lies, without a "
              "network and without magic-trace. Its times begin with the part. Source "
              "text is not in it. A part that has more than 1,000,000 spans is refused, "
              "and the message says which part has fewer.",
    .write = write_html,
};
