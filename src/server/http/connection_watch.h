/* The connections of a server, and since when each of them has been without a complete request.
 *
 * libmicrohttpd ends a connection on which nothing arrives for a while, but one that sends a byte
 * now and then ("slow loris") may stay forever, and so keep others out. Here every connection has a
 * fixed time for the whole of its next request. And since any user of the machine can connect, those
 * that have shown no token yet are few: a new one ends the oldest of them.
 *
 * Used by http_server.c; may be called from several threads at once. Times are seconds of any
 * steady clock.
 */
#ifndef MAGIC_TRACE_SERVER_HTTP_CONNECTION_WATCH_H
#define MAGIC_TRACE_SERVER_HTTP_CONNECTION_WATCH_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct watched_connection {
    struct watched_connection *previous, *next;
    int descriptor;
    int64_t waiting_since;
    bool has_request; /* its request is being answered: no deadline */
    bool admitted;    /* a request of it had the token */
    bool ended;       /* it was shut down */
};

struct connection_watch {
    pthread_mutex_t lock;
    struct watched_connection *first;
};

void connection_watch_open(struct connection_watch *watch);
/* All connections have been removed. */
void connection_watch_close(struct connection_watch *watch);

/* Connections without the token that may be open at the same time. */
enum { CONNECTIONS_NOT_ADMITTED_MAX = 64 };

/* The connection is owned by the watch until it is removed, which must come before the descriptor
 * is closed. */
struct watched_connection *connection_watch_add(struct connection_watch *watch, int descriptor,
                                                int64_t now);
void connection_watch_remove(struct connection_watch *watch, struct watched_connection *connection);

/* The whole head of a request has come; it has been answered. */
void connection_watch_begin(struct connection_watch *watch, struct watched_connection *connection);
void connection_watch_end(struct connection_watch *watch, struct watched_connection *connection,
                          int64_t now);

/* A request of it had the token. */
void connection_watch_admit(struct connection_watch *watch, struct watched_connection *connection);

/* Shuts down connections that have been without a request since before `latest`; returns their
 * number. */
size_t connection_watch_sweep(struct connection_watch *watch, int64_t latest);

#endif
