/* What every site asks of a request before it looks at what is wanted (access.h): the token, the
 * host, where it comes from, and that it is a plain GET.
 */
#ifndef MAGIC_TRACE_SERVER_HTTP_AUTHENTICATION_H
#define MAGIC_TRACE_SERVER_HTTP_AUTHENTICATION_H

#include "server/http/access.h"
#include "server/http/http.h"

#include <stdatomic.h>

struct authentication {
    struct access_token token;
    /* Valid once, and leads to `login_url`: the browser is started with it, since every user of the
     * machine can read the arguments of a process. */
    struct access_token key;
    char *login_url; /* an address; owned */
    atomic_bool is_key_used;
    char machine[256];          /* this machine's name if others may ask for it; else empty */
    const char *foreign_origin; /* of the one site that may ask from elsewhere; NULL: none */
};

/* `open_to_others`: the site must be reachable from other machines. */
bool authentication_open(struct authentication *authentication, bool open_to_others,
                         const char *foreign_origin, struct error *error);
void authentication_close(struct authentication *authentication);

/* Whether the request may pass: then *path is what follows the token, "" or "/...". Otherwise the
 * answer says why not, or leads on. */
bool authentication_admit(struct authentication *authentication, const struct http_request *request,
                          const char **path, struct http_answer *answer);

/* To be called with an answer that is ready: 304 when the browser has it already. */
void authentication_finish(const struct http_request *request, struct http_answer *answer);

#endif
