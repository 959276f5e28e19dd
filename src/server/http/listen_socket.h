/* The socket at which a site can be reached. */
#ifndef MAGIC_TRACE_SERVER_HTTP_LISTEN_SOCKET_H
#define MAGIC_TRACE_SERVER_HTTP_LISTEN_SOCKET_H

#include "base/error.h"

#include <stdint.h>

/* Where to listen, and where that turned out to be. */
struct listen_address {
    const char *host; /* an address in figures or a name; NULL: 127.0.0.1 */
    uint16_t port;    /* 0: a free one; then the one it is */
};

/* Binds and listens; sets address->port. The descriptor (close-on-exec), or -1. */
int listen_socket_open(struct listen_address *address, struct error *error);

#endif
