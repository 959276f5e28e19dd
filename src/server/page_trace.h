/* A small trace in memory, embedded in a page: the form that web/data/embedded_trace.js describes.
 *
 * Called by export_html.c. Times are relative to the beginning of the exported range.
 */
#ifndef MAGIC_TRACE_SERVER_PAGE_TRACE_H
#define MAGIC_TRACE_SERVER_PAGE_TRACE_H

#include "output/block_writer.h"
#include "stack/spans/span.h"

struct page_trace;

/* `source` must outlive it: names are the source's. */
struct page_trace *page_trace_new(const struct span_source *source);
void page_trace_free(struct page_trace *trace);

/* To be called with each event. */
void page_trace_add(struct page_trace *trace, const struct span_event *event);

/* As JSON in which no "<" stands, so that it ends no element of HTML; to be called once. `damage`: in words; or NULL.
 */
void page_trace_write(struct page_trace *trace, const char *name, const char *damage,
                      struct block_writer *out);

#endif
