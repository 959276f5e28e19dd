/* Shows a trace in the user's browser: by our own page, or by Perfetto's.
 *
 * Called by `view`, and by -serve of run, attach and decode. Comes back when Ctrl-C was pressed.
 */
#ifndef MAGIC_TRACE_CLI_SERVE_SERVE_H
#define MAGIC_TRACE_CLI_SERVE_SERVE_H

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

struct serve_options {
    const char *baseline; /* a trace or recording that it is compared with; NULL: none. Not of
                             Perfetto's page */
    const char *listen;   /* an address of this machine; NULL: for this machine alone */
    uint16_t port;        /* 0: a free one */
    const char *at;       /* what the page shows first (view_place.h); NULL: the page decides */
    bool no_browser;
    bool no_inlined;              /* without inlined functions; not of Perfetto's page */
    bool perfetto;                /* ui.perfetto.dev shows it */
    const char *temporary_folder; /* holds the trace and is to go if we are ended early; or NULL */
    const char *ui_folder;        /* a copy of the Perfetto UI shows it; NULL: not */
};

/* `path`: a trace file, or, for our own page, a recording as well. */
bool serve_trace(const char *path, const struct serve_options *options, struct error *error);

#endif
