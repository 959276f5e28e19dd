#include "server/http/connection_watch.h"

#include "base/memory.h"

#include <stdlib.h>
#include <sys/socket.h>

void connection_watch_open(struct connection_watch *watch)
{
    watch->first = NULL;
    pthread_mutex_init(&watch->lock, NULL);
}

void connection_watch_close(struct connection_watch *watch)
{
    pthread_mutex_destroy(&watch->lock);
}

struct watched_connection *connection_watch_add(struct connection_watch *watch, int descriptor,
                                                int64_t now)
{
    struct watched_connection *connection = memory_allocate_zeroed(sizeof *connection);
    connection->descriptor = descriptor;
    connection->waiting_since = now;
    pthread_mutex_lock(&watch->lock);
    connection->next = watch->first;
    if (watch->first)
        watch->first->previous = connection;
    watch->first = connection;
    pthread_mutex_unlock(&watch->lock);
    return connection;
}

void connection_watch_remove(struct connection_watch *watch, struct watched_connection *connection)
{
    pthread_mutex_lock(&watch->lock);
    if (connection->previous)
        connection->previous->next = connection->next;
    else
        watch->first = connection->next;
    if (connection->next)
        connection->next->previous = connection->previous;
    pthread_mutex_unlock(&watch->lock);
    free(connection);
}

void connection_watch_begin(struct connection_watch *watch, struct watched_connection *connection)
{
    pthread_mutex_lock(&watch->lock);
    connection->has_request = true;
    pthread_mutex_unlock(&watch->lock);
}

void connection_watch_end(struct connection_watch *watch, struct watched_connection *connection,
                          int64_t now)
{
    pthread_mutex_lock(&watch->lock);
    connection->has_request = false;
    connection->waiting_since = now;
    pthread_mutex_unlock(&watch->lock);
}

size_t connection_watch_sweep(struct connection_watch *watch, int64_t latest)
{
    size_t ended = 0;
    pthread_mutex_lock(&watch->lock);
    for (struct watched_connection *connection = watch->first; connection;
         connection = connection->next) {
        if (connection->has_request || connection->waiting_since >= latest)
            continue;
        shutdown(connection->descriptor, SHUT_RDWR);
        ended++;
    }
    pthread_mutex_unlock(&watch->lock);
    return ended;
}
