/* A trace as a single HTML file: the page of `magic-trace view` with all spans in it, for a ticket
 * or a mail. It works from a file, without a network and without magic-trace.
 *
 * What is in it: spans, marks, counters and hits; not the program's source text. A browser has to
 * hold it all, so it is for a part of a trace: what is larger than EXPORT_HTML_SPANS_MAX is
 * refused, with words that say which part is small enough.
 */
#ifndef MAGIC_TRACE_SERVER_EXPORT_HTML_H
#define MAGIC_TRACE_SERVER_EXPORT_HTML_H

#include "output/export/export.h"

/* A file of about 9 MB, which a ticket takes. Measured with twice as many: the page opens in 3 s
 * and takes 120 MB, a table of all functions 0.4 s, and it is moved through at the screen's pace.
 */
enum { EXPORT_HTML_SPANS_MAX = 1000000 };

extern const struct export_format export_html;

#endif
