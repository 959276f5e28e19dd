/* Where the page of a trace is opened: what the user gives to `view -at`, as the part of an address
 * after its '#' (web/url_state.js).
 *
 * Called by serve.c, with the trace's index.
 */
#ifndef MAGIC_TRACE_CLI_SERVE_VIEW_PLACE_H
#define MAGIC_TRACE_CLI_SERVE_VIEW_PLACE_H

#include "base/error.h"

struct trace_index;

/* `text` is a moment ("1.5ms"), a call ("parse#804"; "parse": its first), or an address of the page
 * that an earlier server gave, or its part after '#', which shows what it showed. The caller frees;
 * NULL with an error: ERROR_USAGE, ERROR_NOT_FOUND. */
char *view_place_fragment(const struct trace_index *index, const char *text, struct error *error);

#endif
