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

static void end(struct watched_connection *connection)
{
    shutdown(connection->descriptor, SHUT_RDWR);
    connection->ended = true;
}

/* Under the lock. The newest connections come first. */
static void end_oldest_not_admitted(struct connection_watch *watch)
{
    struct watched_connection *oldest = NULL;
    size_t count = 0;
    for (struct watched_connection *each = watch->first; each; each = each->next)
        if (!each->admitted && !each->ended) {
            oldest = each;
            count++;
        }
    if (count > CONNECTIONS_NOT_ADMITTED_MAX)
        end(oldest);
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
    end_oldest_not_admitted(watch);
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

void connection_watch_admit(struct connection_watch *watch, struct watched_connection *connection)
{
    pthread_mutex_lock(&watch->lock);
    connection->admitted = true;
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
        end(connection);
        ended++;
    }
    pthread_mutex_unlock(&watch->lock);
    return ended;
}
