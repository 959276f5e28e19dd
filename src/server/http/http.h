/* A request to a site, and its answer: the interface between http_server.h, which handles sockets,
 * and viewer.h and perfetto_site.h, which handle the content.
 *
 * Independent of connections: a site is a function from request to answer, and tests call it as
 * such.
 */
#ifndef MAGIC_TRACE_SERVER_HTTP_HTTP_H
#define MAGIC_TRACE_SERVER_HTTP_HTTP_H

#include "server/http/parameters.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum http_status {
    HTTP_OK = 200,
    HTTP_NO_CONTENT = 204,
    HTTP_SEE_OTHER = 303,
    HTTP_NOT_MODIFIED = 304,
    HTTP_BAD_REQUEST = 400,
    HTTP_FORBIDDEN = 403,
    HTTP_NOT_FOUND = 404,
    HTTP_METHOD_NOT_ALLOWED = 405,
    HTTP_GONE = 410,
    HTTP_TOO_LARGE = 413,
    HTTP_INTERNAL_ERROR = 500,
    HTTP_BUSY = 503,
};

/* The strings belong to the connection and live until the answer is given. NULL: not sent. */
struct http_request {
    const char *method;
    const char *path; /* unescaped, begins with a slash, without parameters */
    struct parameters parameters;
    const char *host, *origin;
    const char *if_none_match;
    bool has_body;
    bool takes_gzip;
    /* Whether the client has gone by now, as a page does when it no longer shows the answer. NULL:
     * unknown. */
    bool (*is_abandoned)(const struct http_request *request);
    void *connection; /* for is_abandoned() */
};

bool http_is_abandoned(const struct http_request *request);

struct http_header {
    const char *name, *value;
};

enum http_caching {
    HTTP_NOT_CACHED,
    HTTP_REVALIDATED, /* kept, but asked for again by its ETag */
    HTTP_CACHED,      /* does not change as long as its address is served */
};

struct http_answer {
    enum http_status status;
    const char *type; /* of the content; static; NULL: none */
    /* The content: bytes, or an open file from its beginning. */
    char *bytes; /* owned, malloc */
    size_t size;
    int descriptor;     /* owned; -1: the content is bytes */
    uint64_t file_size; /* of the file that is sent */
    enum http_caching caching;
    char etag[40];                     /* with its quotes; empty: none */
    char *location;                    /* of HTTP_SEE_OTHER; owned */
    const struct http_header *headers; /* besides; ended by a NULL name; static; NULL: none */
};

/* An answer without content yet. */
struct http_answer http_answer_new(void);
void http_answer_free(struct http_answer *answer);

/* Replaces the content by `{"error": TEXT}`. */
__attribute__((format(printf, 3, 4))) void
http_answer_error(struct http_answer *answer, enum http_status status, const char *format, ...);

/* Copies `size` bytes of static content. `type` is kept. */
void http_answer_bytes(struct http_answer *answer, const char *type, const void *bytes,
                       size_t size);

/* Whether one of the ETags of If-None-Match (RFC 9110, 13.1.2: a list, weak comparison) is that of
 * the answer. */
bool http_etag_matches(const char *if_none_match, const char *etag);

#endif
