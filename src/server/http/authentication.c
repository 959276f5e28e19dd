#include "server/http/authentication.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool authentication_open(struct authentication *authentication, bool open_to_others,
                         const char *foreign_origin, struct error *error)
{
    *authentication = (struct authentication){.foreign_origin = foreign_origin};
    if (open_to_others &&
        gethostname(authentication->machine, sizeof authentication->machine - 1) != 0)
        authentication->machine[0] = 0;
    return access_token_make(&authentication->token, error) &&
           access_token_make(&authentication->key, error);
}

void authentication_close(struct authentication *authentication)
{
    free(authentication->login_url);
    authentication->login_url = NULL;
}

static bool is_from_here(const struct authentication *authentication,
                         const struct http_request *request)
{
    if (authentication->foreign_origin && request->origin)
        return strcmp(request->origin, authentication->foreign_origin) == 0 ||
               access_origin(request->origin, request->host);
    return access_origin(request->origin, request->host);
}

/* A key that has been used is no longer valid. */
static bool uses_key(struct authentication *authentication, const char *path)
{
    const char *rest;
    return authentication->login_url && access_path(&authentication->key, path, &rest) &&
           strcmp(rest, "/") == 0 && !atomic_exchange(&authentication->is_key_used, true);
}

static bool is_method(const struct http_request *request, const char *method)
{
    return strcmp(request->method, method) == 0;
}

/* No request changes anything, so other checks are not needed. */
static bool check_form(const struct http_request *request, struct http_answer *answer)
{
    static const struct http_header allowed[] = {{"Allow", "GET, HEAD"}, {0}};
    if (!is_method(request, "GET") && !is_method(request, "HEAD")) {
        http_answer_error(answer, HTTP_METHOD_NOT_ALLOWED, "only GET is answered here.");
        answer->headers = allowed;
        return false;
    }
    if (request->has_body) {
        http_answer_error(answer, HTTP_TOO_LARGE, "a request has no content here.");
        return false;
    }
    return true;
}

bool authentication_admit(struct authentication *authentication, const struct http_request *request,
                          const char **path, struct http_answer *answer)
{
    const char *machine = *authentication->machine ? authentication->machine : NULL;
    if (!access_host(request->host, machine)) {
        http_answer_error(answer, HTTP_FORBIDDEN,
                          "the browser asked for a name that is not this server's. Use the address "
                          "that magic-trace printed.");
        return false;
    }
    if (!is_from_here(authentication, request)) {
        http_answer_error(answer, HTTP_FORBIDDEN, "pages of other sites may not ask here.");
        return false;
    }
    if (uses_key(authentication, request->path)) {
        answer->status = HTTP_SEE_OTHER;
        answer->location = memory_copy_string(authentication->login_url);
        return false;
    }
    if (!access_path(&authentication->token, request->path, path)) {
        http_answer_error(answer, HTTP_FORBIDDEN,
                          "the address lacks its token, or has that of an earlier run. Use the "
                          "address that magic-trace printed when it started.");
        return false;
    }
    bool is_preflight = authentication->foreign_origin && is_method(request, "OPTIONS");
    return is_preflight || check_form(request, answer);
}

void authentication_finish(const struct http_request *request, struct http_answer *answer)
{
    if (answer->status != HTTP_OK || !http_etag_matches(request->if_none_match, answer->etag))
        return;
    struct http_answer unchanged = http_answer_new();
    unchanged.status = HTTP_NOT_MODIFIED;
    unchanged.caching = answer->caching;
    unchanged.headers = answer->headers;
    memcpy(unchanged.etag, answer->etag, sizeof unchanged.etag);
    http_answer_free(answer);
    *answer = unchanged;
}
