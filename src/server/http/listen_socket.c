#include "server/http/listen_socket.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { BACKLOG = 128 };

static int open_at(const struct addrinfo *place)
{
    int descriptor = socket(place->ai_family, place->ai_socktype | SOCK_CLOEXEC, 0);
    if (descriptor < 0)
        return -1;
    int yes = 1;
    setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (bind(descriptor, place->ai_addr, place->ai_addrlen) == 0 &&
        listen(descriptor, BACKLOG) == 0)
        return descriptor;
    int reason = errno;
    close(descriptor);
    errno = reason;
    return -1;
}

static bool read_port(int descriptor, uint16_t *port)
{
    struct sockaddr_storage bound;
    socklen_t size = sizeof bound;
    if (getsockname(descriptor, (struct sockaddr *)&bound, &size) != 0)
        return false;
    if (bound.ss_family == AF_INET6)
        *port = ntohs(((struct sockaddr_in6 *)&bound)->sin6_port);
    else
        *port = ntohs(((struct sockaddr_in *)&bound)->sin_port);
    return true;
}

static void explain(const struct listen_address *address, const char *host, struct error *error)
{
    if (errno == EADDRINUSE)
        error_set(error, ERROR_IO,
                  "port %u of %s is used by another program. Stop it, or choose another port.",
                  address->port, host);
    else if (errno == EACCES)
        error_set(error, ERROR_IO, "port %u of %s is for the system alone. Choose one above 1023.",
                  address->port, host);
    else
        error_set_errno(error, ERROR_IO, errno, "cannot listen at port %u of %s", address->port,
                        host);
}

int listen_socket_open(struct listen_address *address, struct error *error)
{
    const char *host = address->host ? address->host : "127.0.0.1";
    const struct addrinfo wanted = {.ai_flags = AI_PASSIVE | AI_NUMERICSERV,
                                    .ai_socktype = SOCK_STREAM};
    char port[8];
    snprintf(port, sizeof port, "%u", address->port);
    struct addrinfo *places;
    int failure = getaddrinfo(host, port, &wanted, &places);
    if (failure) {
        error_set(error, ERROR_USAGE, "cannot listen at %s: %s. Give an address of this machine.",
                  host, gai_strerror(failure));
        return -1;
    }
    int descriptor = -1;
    for (const struct addrinfo *place = places; place && descriptor < 0; place = place->ai_next)
        descriptor = open_at(place);
    if (descriptor < 0)
        explain(address, host, error);
    freeaddrinfo(places);
    if (descriptor >= 0 && !read_port(descriptor, &address->port)) {
        error_set_errno(error, ERROR_IO, errno, "cannot find out which port was given at %s", host);
        close(descriptor);
        return -1;
    }
    return descriptor;
}
