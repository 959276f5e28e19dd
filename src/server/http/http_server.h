/* A site on a socket: libmicrohttpd, with the limits that keep one client from shutting others out.
 *
 * Each connection has a thread. That costs as much processor time as a pool of threads with epoll,
 * and a statistic of millions of spans does not hold up the tiles of the screen: while four ran on
 * two processors, one tile in a hundred took longer than 130 ms, and 1.2 s with a pool of two. The
 * signals that end magic-trace have to be blocked before the server starts, since its threads
 * inherit that.
 */
#ifndef MAGIC_TRACE_SERVER_HTTP_HTTP_SERVER_H
#define MAGIC_TRACE_SERVER_HTTP_HTTP_SERVER_H

#include "base/error.h"
#include "server/http/http.h"

/* What is served. Called from many threads at once. */
struct http_site {
    void (*answer)(void *context, const struct http_request *request, struct http_answer *answer);
    void *context;
    const struct http_header *headers; /* of every answer; ended by a NULL name; static */
};

struct http_server;

/* Takes over the listening socket `descriptor`, also on failure. */
struct http_server *http_server_start(int descriptor, const struct http_site *site,
                                      struct error *error);

/* Must be called every second or so: ends connections whose request takes too long. */
void http_server_sweep(struct http_server *server);

/* Accepts no more connections and waits a moment for the answers that are being computed. False
 * when one takes longer: then the server cannot be stopped, and the process must end without that.
 */
bool http_server_quiesce(struct http_server *server);

/* After http_server_quiesce() gave true. */
void http_server_stop(struct http_server *server);

#endif
