/* The site that shows a trace: the page, and what it asks of the index (docs/viewer.md).
 *
 * Called by cli/serve/serve.c. */
#ifndef MAGIC_TRACE_SERVER_VIEWER_H
#define MAGIC_TRACE_SERVER_VIEWER_H

#include "server/api.h"
#include "server/http/authentication.h"
#include "server/http/http_server.h"

struct viewer {
    struct authentication authentication;
    struct api api;         /* of the trace; of two that are compared, of B */
    struct api baseline;    /* of trace A, if there are two (api_pair()) */
    const char *web_folder; /* page.h; NULL: the page is that of the binary */
};

/* The site of `viewer`, whose parts are open; valid as long as it is. */
struct http_site viewer_site(struct viewer *viewer);

#endif
