#include "server/http/http_server.h"

#include "base/memory.h"
#include "server/http/compression.h"
#include "server/http/connection_watch.h"

#include <microhttpd.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include <unistd.h>

enum {
    CONNECTIONS_MAX = 256,
    CONNECTION_MEMORY = 32 << 10, /* bytes; holds the head of a request */
    IDLE_SECONDS = 30,            /* without a byte in either direction */
    REQUEST_SECONDS = 20,         /* for a whole head to come */
    FILE_BLOCK = 256 << 10,       /* bytes read at once of a file that is sent */
    QUIESCE_STEPS = 30,           /* of 10 ms */
};

struct http_server {
    struct MHD_Daemon *daemon;
    struct http_site site;
    struct connection_watch watch;
    atomic_int working; /* answers being computed */
};

static int64_t seconds_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec;
}

/* ---- from libmicrohttpd's request to ours ---- */

struct parameter_reading {
    struct parameters *parameters;
    bool overfull;
};

static enum MHD_Result read_parameter(void *context, enum MHD_ValueKind kind, const char *name,
                                      const char *value)
{
    struct parameter_reading *reading = context;
    reading->overfull = !parameters_add(reading->parameters, name, value);
    return reading->overfull ? MHD_NO : MHD_YES;
}

static const char *header_of(struct MHD_Connection *connection, const char *name)
{
    return MHD_lookup_connection_value(connection, MHD_HEADER_KIND, name);
}

static bool has_body(struct MHD_Connection *connection)
{
    const char *length = header_of(connection, MHD_HTTP_HEADER_CONTENT_LENGTH);
    return (length && strspn(length, "0") != strlen(length)) ||
           header_of(connection, MHD_HTTP_HEADER_TRANSFER_ENCODING);
}

static bool has_hung_up(const struct http_request *request)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(request->connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    struct pollfd socket = {.fd = info->connect_fd, .events = POLLRDHUP};
    return poll(&socket, 1, 0) == 1;
}

/* False when there are too many parameters. */
static bool read_request(struct MHD_Connection *connection, const char *method, const char *path,
                         struct http_request *request)
{
    *request = (struct http_request){
        .method = method,
        .path = path,
        .host = header_of(connection, MHD_HTTP_HEADER_HOST),
        .origin = header_of(connection, MHD_HTTP_HEADER_ORIGIN),
        .if_none_match = header_of(connection, MHD_HTTP_HEADER_IF_NONE_MATCH),
        .has_body = has_body(connection),
        .takes_gzip =
            compression_takes_gzip(header_of(connection, MHD_HTTP_HEADER_ACCEPT_ENCODING)),
        .is_abandoned = has_hung_up,
        .connection = connection,
    };
    struct parameter_reading reading = {.parameters = &request->parameters};
    MHD_get_connection_values(connection, MHD_GET_ARGUMENT_KIND, read_parameter, &reading);
    return !reading.overfull;
}

/* ---- from our answer to libmicrohttpd's response ---- */

static void compress(const struct http_request *request, struct http_answer *answer,
                     struct MHD_Response **response)
{
    size_t size;
    if (!compression_pays(answer->type, answer->size))
        return;
    char *bytes = request->takes_gzip ? compression_gzip(answer->bytes, answer->size, &size) : NULL;
    if (bytes) {
        *response = MHD_create_response_from_buffer(size, bytes, MHD_RESPMEM_MUST_FREE);
        if (*response)
            MHD_add_response_header(*response, MHD_HTTP_HEADER_CONTENT_ENCODING, "gzip");
        else
            free(bytes);
    }
}

/* ---- files ---- */

/* libmicrohttpd would send a file by sendfile(), and retry forever when it has become shorter than
 * announced. */
static ssize_t read_file(void *context, uint64_t position, char *bytes, size_t size)
{
    ssize_t got = pread(*(int *)context, bytes, size, (off_t)position);
    return got > 0 ? got : MHD_CONTENT_READER_END_WITH_ERROR;
}

static void close_file(void *context)
{
    close(*(int *)context);
    free(context);
}

static struct MHD_Response *make_file_content(struct http_answer *answer)
{
    if (answer->file_size == 0)
        return MHD_create_response_from_buffer(0, NULL, MHD_RESPMEM_PERSISTENT);
    int *descriptor = memory_allocate(sizeof *descriptor);
    *descriptor = answer->descriptor;
    struct MHD_Response *response = MHD_create_response_from_callback(
        answer->file_size, FILE_BLOCK, read_file, descriptor, close_file);
    if (response)
        answer->descriptor = -1;
    else
        free(descriptor);
    return response;
}

/* The content goes over to the response. */
static struct MHD_Response *make_content(const struct http_request *request,
                                         struct http_answer *answer)
{
    struct MHD_Response *response = NULL;
    if (answer->descriptor >= 0)
        return make_file_content(answer);
    compress(request, answer, &response);
    if (response)
        return response;
    response = MHD_create_response_from_buffer(answer->size, answer->bytes, MHD_RESPMEM_MUST_FREE);
    if (response)
        answer->bytes = NULL;
    return response;
}

static void add_headers(struct MHD_Response *response, const struct http_header *headers)
{
    for (; headers && headers->name; headers++)
        MHD_add_response_header(response, headers->name, headers->value);
}

/* Weak, since the same content goes out compressed and as it is. */
static void add_etag(struct MHD_Response *response, const char *etag)
{
    char value[sizeof((struct http_answer){0}.etag) + 2];
    snprintf(value, sizeof value, "W/%s", etag);
    MHD_add_response_header(response, MHD_HTTP_HEADER_ETAG, value);
}

static void describe_content(struct MHD_Response *response, const struct http_answer *answer)
{
    static const char *const caching[] = {
        [HTTP_NOT_CACHED] = "no-store",
        [HTTP_REVALIDATED] = "private, no-cache",
        [HTTP_CACHED] = "private, max-age=86400",
    };
    MHD_add_response_header(response, MHD_HTTP_HEADER_CACHE_CONTROL, caching[answer->caching]);
    if (answer->type)
        MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, answer->type);
    /* Also when this answer was not compressed: a cache must not give it to every client. */
    if (answer->type && compression_pays(answer->type, SIZE_MAX))
        MHD_add_response_header(response, MHD_HTTP_HEADER_VARY, "Accept-Encoding");
    if (*answer->etag)
        add_etag(response, answer->etag);
    if (answer->location)
        MHD_add_response_header(response, MHD_HTTP_HEADER_LOCATION, answer->location);
}

static enum MHD_Result give(struct http_server *server, struct MHD_Connection *connection,
                            const struct http_request *request, struct http_answer *answer)
{
    struct MHD_Response *response = make_content(request, answer);
    if (!response)
        return MHD_NO;
    describe_content(response, answer);
    add_headers(response, server->site.headers);
    add_headers(response, answer->headers);
    /* The bytes after an unread body are no request. */
    if (request->has_body)
        MHD_add_response_header(response, MHD_HTTP_HEADER_CONNECTION, "close");
    enum MHD_Result result = MHD_queue_response(connection, (unsigned)answer->status, response);
    MHD_destroy_response(response);
    return result;
}

/* ---- what libmicrohttpd calls ---- */

static struct watched_connection *watched(struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return info ? info->socket_context : NULL;
}

/* Called with the head of a request, and again when its body is complete. Bodies are not for us:
 * who has none is answered at the second call, since then the connection can be used again. */
static enum MHD_Result handle(void *context, struct MHD_Connection *connection, const char *path,
                              const char *method, const char *version, const char *upload,
                              size_t *upload_size, void **state)
{
    struct http_server *server = context;
    struct http_request request;
    bool fits = read_request(connection, method, path, &request);
    if (!*state) {
        *state = server;
        connection_watch_begin(&server->watch, watched(connection));
        if (!request.has_body)
            return MHD_YES;
    }
    struct http_answer answer = http_answer_new();
    atomic_fetch_add(&server->working, 1);
    if (fits)
        server->site.answer(server->site.context, &request, &answer);
    else
        http_answer_error(&answer, HTTP_BAD_REQUEST, "there are more than %d parameters.",
                          (int)PARAMETERS_MAX);
    if (fits && answer.status != HTTP_FORBIDDEN)
        connection_watch_admit(&server->watch, watched(connection));
    enum MHD_Result result = give(server, connection, &request, &answer);
    http_answer_free(&answer);
    atomic_fetch_sub(&server->working, 1);
    return result;
}

static void request_is_over(void *context, struct MHD_Connection *connection, void **state,
                            enum MHD_RequestTerminationCode why)
{
    struct http_server *server = context;
    if (*state)
        connection_watch_end(&server->watch, watched(connection), seconds_now());
    *state = NULL;
}

static void connection_changed(void *context, struct MHD_Connection *connection, void **state,
                               enum MHD_ConnectionNotificationCode what)
{
    struct http_server *server = context;
    if (what == MHD_CONNECTION_NOTIFY_CLOSED) {
        connection_watch_remove(&server->watch, *state);
        return;
    }
    int descriptor =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
    *state = connection_watch_add(&server->watch, descriptor, seconds_now());
}

/* Users cannot act on libmicrohttpd's messages about clients that disconnect. */
static void say_nothing(void *context, const char *format, va_list arguments)
{
}

struct http_server *http_server_start(int descriptor, const struct http_site *site,
                                      struct error *error)
{
    struct http_server *server = memory_allocate_zeroed(sizeof *server);
    server->site = *site;
    connection_watch_open(&server->watch);
    server->daemon =
        MHD_start_daemon(MHD_USE_POLL_INTERNAL_THREAD | MHD_USE_THREAD_PER_CONNECTION |
                             MHD_USE_ITC | MHD_USE_ERROR_LOG,
                         0, NULL, NULL, handle, server, MHD_OPTION_EXTERNAL_LOGGER, say_nothing,
                         NULL, MHD_OPTION_LISTEN_SOCKET, descriptor, MHD_OPTION_CONNECTION_LIMIT,
                         CONNECTIONS_MAX, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
                         (size_t)CONNECTION_MEMORY, MHD_OPTION_CONNECTION_TIMEOUT, IDLE_SECONDS,
                         MHD_OPTION_NOTIFY_COMPLETED, request_is_over, server,

                         MHD_OPTION_NOTIFY_CONNECTION, connection_changed, server, MHD_OPTION_END);
    if (server->daemon)
        return server;
    error_set(error, ERROR_IO,
              "cannot start the server: libmicrohttpd %s refused. Are there too "
              "many open files or threads?",
              MHD_get_version());
    close(descriptor);
    connection_watch_close(&server->watch);
    free(server);
    return NULL;
}

void http_server_sweep(struct http_server *server)
{
    connection_watch_sweep(&server->watch, seconds_now() - REQUEST_SECONDS);
}

bool http_server_quiesce(struct http_server *server)
{
    int descriptor = MHD_quiesce_daemon(server->daemon);
    if (descriptor >= 0)
        close(descriptor);
    const struct timespec step = {.tv_nsec = 10 * 1000 * 1000};
    for (int i = 0; i < QUIESCE_STEPS && atomic_load(&server->working) > 0; i++)
        nanosleep(&step, NULL);
    return atomic_load(&server->working) == 0;
}

void http_server_stop(struct http_server *server)
{
    MHD_stop_daemon(server->daemon);
    connection_watch_close(&server->watch);
    free(server);
}
