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

/* Of two traces each has the whole site, below /a and /b: then *path becomes what follows that.
 * NULL: it names neither. */
static struct api *chosen_api(struct viewer *viewer, const char **path)
{
    if (!viewer->api.other)
        return &viewer->api;
    const char *rest = *path + strlen("/a");
    if (strncmp(*path, "/a", strlen("/a")) != 0 && strncmp(*path, "/b", strlen("/b")) != 0)
        return NULL;
    if (*rest && *rest != '/')
        return NULL;
    bool is_a = (*path)[1] == viewer->baseline.letter;
    *path = rest;
    return is_a ? &viewer->baseline : &viewer->api;
}

static void lead_to(struct http_answer *answer, const struct http_request *request,
                    const char *below)
{
    answer->status = HTTP_SEE_OTHER;
    answer->location = memory_format("%s%s", request->path, below);
}

static void give(struct viewer *viewer, const char *path, const struct http_request *request,
                 struct http_answer *answer)
{
    static const char api[] = "/api/";
    bool is_pair = viewer->api.other, is_beginning = strcmp(path, "/") == 0;
    if (*path == 0 || (is_pair && is_beginning)) {
        lead_to(answer, request, is_beginning ? "b/" : "/");
        return;
    }
    struct api *chosen = chosen_api(viewer, &path);
    if (!chosen) {
        http_answer_error(answer, HTTP_NOT_FOUND, "there are two traces here, a/ and b/.");
    } else if (*path == 0) {
        lead_to(answer, request, "/"); /* the page's parts are found relative to it */
    } else if (strncmp(path, api, strlen(api)) == 0) {
        api_answer(chosen, path + strlen(api), request, answer);
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
