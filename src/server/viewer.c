#include "server/viewer.h"

#include "base/memory.h"
#include "server/page.h"

#include <string.h>

/* The page needs only its own files, and other pages may not embed it in a frame. It opens
 * Perfetto's UI in a window that it exchanges messages with, which `same-origin` would prevent. The
 * address holds the token, so it is not sent to sites that are opened from here. */
static const struct http_header headers[] = {
    {"Content-Security-Policy",
     "default-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'none'; "
     "form-action 'none'; frame-ancestors 'none'"},
    {"Cross-Origin-Opener-Policy", "same-origin-allow-popups"},
    {"Cross-Origin-Resource-Policy", "same-origin"},
    {"Referrer-Policy", "no-referrer"},
    {"X-Content-Type-Options", "nosniff"},
    {0},
};

static void give(struct viewer *viewer, const char *path, const struct http_request *request,
                 struct http_answer *answer)
{
    static const char api[] = "/api/";
    if (*path == 0) {
        /* The page's parts are found relative to it. */
        answer->status = HTTP_SEE_OTHER;
        answer->location = memory_format("%s/", request->path);
    } else if (strncmp(path, api, strlen(api)) == 0) {
        api_answer(&viewer->api, path + strlen(api), request, answer);
    } else {
        page_answer(path, viewer->web_folder, answer);
    }
}

static void viewer_answer(void *context, const struct http_request *request,
                          struct http_answer *answer)
{
    struct viewer *viewer = context;
    const char *path;
    if (!authentication_admit(&viewer->authentication, request, &path, answer))
        return;
    give(viewer, path, request, answer);
    authentication_finish(request, answer);
}

struct http_site viewer_site(struct viewer *viewer)
{
    return (struct http_site){.answer = viewer_answer, .context = viewer, .headers = headers};
}
