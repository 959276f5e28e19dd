/* The site that shows a trace: the page, and what it asks of the index (docs/viewer.md).
 *
 * Called by cli/serve.c. */
#ifndef MAGIC_TRACE_VIEW_VIEWER_H
#define MAGIC_TRACE_VIEW_VIEWER_H

#include "view/api.h"
#include "view/gate.h"
#include "view/http_server.h"

struct viewer {
    struct gate gate;
    struct api api;
    const char *web_folder; /* page.h; NULL: the page is that of the binary */
};

/* The site of `viewer`, whose parts are open; valid as long as it is. */
struct http_site viewer_site(struct viewer *viewer);

#endif
