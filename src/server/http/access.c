#include "server/http/access.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>

bool access_token_make(struct access_token *token, struct error *error)
{
    unsigned char bytes[TOKEN_BYTES];
    if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes)
        return error_set_errno(error, ERROR_IO, errno,
                               "cannot get random numbers for the address of the page");
    for (size_t i = 0; i < sizeof bytes; i++)
        snprintf(token->text + 2 * i, 3, "%02x", bytes[i]);
    return true;
}

bool access_path(const struct access_token *token, const char *path, const char **rest)
{
    enum { LENGTH = TOKEN_SIZE - 1 };
    if (*path++ != '/')
        return false;
    if (strcspn(path, "/") != LENGTH)
        return false;
    unsigned char difference = 0;
    for (size_t i = 0; i < LENGTH; i++)
        difference |= (unsigned char)(path[i] ^ token->text[i]);
    *rest = path + LENGTH;
    return difference == 0;
}

enum { NAME_MAX_LENGTH = 255 };

/* The host of `host:port` or `[address]:port`, without its brackets. False when it is malformed. */
static bool split_name(const char *host, char name[NAME_MAX_LENGTH + 1])
{
    const char *begin = host, *end = host + strcspn(host, ":");
    if (*host == '[') {
        begin = host + 1;
        end = strchr(begin, ']');
        if (!end)
            return false;
    }
    size_t length = (size_t)(end - begin);
    const char *port = *end == ']' ? end + 1 : end;
    if (length == 0 || length > NAME_MAX_LENGTH)
        return false;
    if (*port && (*port != ':' || strspn(port + 1, "0123456789") != strlen(port + 1)))
        return false;
    memcpy(name, begin, length);
    name[length] = 0;
    return true;
}

static bool is_address(const char *name)
{
    struct in6_addr address;
    return inet_pton(AF_INET, name, &address) == 1 || inet_pton(AF_INET6, name, &address) == 1;
}

bool access_host(const char *host, const char *machine)
{
    char name[NAME_MAX_LENGTH + 1];
    if (!host || !split_name(host, name))
        return false;
    return is_address(name) || strcasecmp(name, "localhost") == 0 ||
           (machine && strcasecmp(name, machine) == 0);
}

bool access_origin(const char *origin, const char *host)
{
    static const char scheme[] = "http://";
    if (!origin)
        return true;
    return host && strncasecmp(origin, scheme, strlen(scheme)) == 0 &&
           strcasecmp(origin + strlen(scheme), host) == 0;
}
