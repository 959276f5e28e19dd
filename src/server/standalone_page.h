/* The page as one HTML file around the trace that it contains: web/ as it was when magic-trace was
 * built. src/server/inline_page.py makes the definition; used by export_html.c.
 */
#ifndef MAGIC_TRACE_SERVER_STANDALONE_PAGE_H
#define MAGIC_TRACE_SERVER_STANDALONE_PAGE_H

#include <stddef.h>

struct standalone_page {
    const void *head; /* up to the text of the element that holds the trace */
    size_t head_size;
    const void *tail; /* the part after the trace */
    size_t tail_size;
};

extern const struct standalone_page standalone_page;

#endif
