/* Access control.
 *
 * Only clients that know the address, which holds a random token, may see the trace: not other
 * users of this machine, who can connect to the port, and not the pages that the browser shows,
 * which can make it connect. A page of another site is recognized by its Origin, and one that maps
 * its own name to our address (DNS rebinding) by its Host: names that a stranger can own are
 * refused, which leaves numeric addresses, localhost, and the name of this machine.
 */
#ifndef MAGIC_TRACE_SERVER_HTTP_ACCESS_H
#define MAGIC_TRACE_SERVER_HTTP_ACCESS_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

enum {
    TOKEN_BYTES = 16,
    TOKEN_SIZE = 2 * TOKEN_BYTES + 1, /* hexadecimal, with the NUL */
};

struct access_token {
    char text[TOKEN_SIZE];
};

bool access_token_make(struct access_token *token, struct error *error);

/* Whether `path` is `/TOKEN` or `/TOKEN/...`; then *rest is what follows the token. Takes the same
 * time for every wrong token. */
bool access_path(const struct access_token *token, const char *path, const char **rest);

/* Whether a browser that asked for `host` (a Host header) meant us. `machine`: the name of this
 * machine, where others may ask for it; NULL: they may not. */
bool access_host(const char *host, const char *machine);

/* Whether a request with this Origin header comes from our own page at `host`. NULL: it does. */
bool access_origin(const char *origin, const char *host);

#endif
