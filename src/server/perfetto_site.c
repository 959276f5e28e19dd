#include "server/perfetto_site.h"

#include "base/memory.h"
#include "server/http/folder_file.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

const char perfetto_origin[] = "https://ui.perfetto.dev";

static const struct http_header headers[] = {
    {"Referrer-Policy", "no-referrer"},
    {"X-Content-Type-Options", "nosniff"},
    {0},
};

static const struct http_header cross_origin_headers[] = {
    {"Access-Control-Allow-Origin", perfetto_origin},
    {"Access-Control-Allow-Methods", "GET, HEAD, OPTIONS"},
    {"Access-Control-Allow-Private-Network", "true"},
    {"Vary", "Origin"},
    {0},
};

static void give_trace(const struct perfetto_site *site, struct http_answer *answer)
{
    struct stat status;
    int descriptor = open(site->trace, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (descriptor >= 0 && fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode)) {
        folder_file_give(descriptor, &status, "application/octet-stream", answer);
        answer->caching = HTTP_NOT_CACHED;
        return;
    }
    http_answer_error(answer, HTTP_GONE, "%s cannot be read any more.", site->trace);
    if (descriptor >= 0)
        close(descriptor);
}

/* /ui/... is the copy of the UI, /trace/NAME the trace. */
static void give(const struct perfetto_site *site, const char *path,
                 const struct http_request *request, struct http_answer *answer)
{
    static const char ui[] = "/ui/", trace[] = "/trace/";
    if (strncmp(path, trace, strlen(trace)) == 0 && strcmp(path + strlen(trace), site->name) == 0) {
        give_trace(site, answer);
    } else if (site->ui_folder && (*path == 0 || strcmp(path, "/") == 0)) {
        char *base = memory_format("http://%s/%s", request->host, site->authentication.token.text);
        answer->status = HTTP_SEE_OTHER;
        answer->location = perfetto_site_address(site, base);
        free(base);
    } else if (site->ui_folder && strncmp(path, ui, strlen(ui)) == 0) {
        folder_file_answer(site->ui_folder, path + strlen(ui), answer);
    } else {
        http_answer_error(answer, HTTP_NOT_FOUND, "there is nothing but the trace here.");
    }
}

static void answer(void *context, const struct http_request *request, struct http_answer *result)
{
    struct perfetto_site *site = context;
    const char *path;
    if (authentication_admit(&site->authentication, request, &path, result)) {
        if (strcmp(request->method, "OPTIONS") == 0)
            result->status = HTTP_NO_CONTENT;
        else
            give(site, path, request, result);
        authentication_finish(request, result);
    }
    if (!site->ui_folder)
        result->headers = cross_origin_headers;
}

struct http_site perfetto_http_site(struct perfetto_site *site)
{
    return (struct http_site){.answer = answer, .context = site, .headers = headers};
}

/* Percent-encoding (RFC 3986) of all that means something in an address. */
static char *escaped(const char *text)
{
    char *result = memory_allocate(3 * strlen(text) + 1), *to = result;
    for (; *text; text++) {
        unsigned char byte = (unsigned char)*text;
        if (isalnum(byte) || strchr("-._~", byte))
            *to++ = *text;
        else
            to += sprintf(to, "%%%02X", byte);
    }
    *to = 0;
    return result;
}

char *perfetto_site_address(const struct perfetto_site *site, const char *base)
{
    char *name = escaped(site->name);
    char *address = site->ui_folder
                        ? memory_format("%s/ui/index.html#!/?url=%s/trace/%s", base, base, name)
                        : memory_format("%s/#!/?url=%s/trace/%s", perfetto_origin, base, name);
    free(name);
    return address;
}
