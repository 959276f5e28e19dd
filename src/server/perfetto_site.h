/* The site that hands a trace to the Perfetto UI: to the one at ui.perfetto.dev, which fetches it
 * from here, or to a copy of it in a folder, which is served with it.
 *
 * https://perfetto.dev/docs/visualization/deep-linking-to-perfetto-ui, and tools/open_trace_in_ui
 * of Perfetto: the address #!/?url=... makes the UI fetch a trace; its Content-Security-Policy
 * allows port 9001 of 127.0.0.1, and it needs to be allowed by CORS. A page of the internet that
 * asks this machine needs one permission more (Private Network Access), which it asks for by
 * OPTIONS.
 *
 * Called by cli/serve/serve.c.
 */
#ifndef MAGIC_TRACE_SERVER_PERFETTO_SITE_H
#define MAGIC_TRACE_SERVER_PERFETTO_SITE_H

#include "server/http/authentication.h"
#include "server/http/http_server.h"

enum { PERFETTO_PORT = 9001 };
extern const char perfetto_origin[]; /* https://ui.perfetto.dev */

struct perfetto_site {
    struct authentication authentication;
    const char *trace;     /* path of the file */
    const char *name;      /* its name in the address */
    const char *ui_folder; /* a copy of the UI; NULL: ui.perfetto.dev asks */
};

struct http_site perfetto_http_site(struct perfetto_site *site);

/* Where the browser has to go to see the trace; `base`: our address with the token, without a slash
 * at its end. The caller frees. */
char *perfetto_site_address(const struct perfetto_site *site, const char *base);

#endif
