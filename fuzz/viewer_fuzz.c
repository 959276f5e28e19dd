/* Fuzz target: any text as a request of the viewer's page, by a client that has the token. Each is answered or refused, never
 * with an error of the server.
 *
 * The input: what follows the token, `/api/tiles?track=0&from=0`, where everything is unescaped already. */
#include "index_test.h"
#include "server/viewer.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static struct viewer *open_viewer(void)
{
    static struct {
        struct viewer viewer;
        struct indexed_trace indexed; /* as long as the viewer */
        bool is_open;
    } kept;
    if (kept.is_open)
        return &kept.viewer;
    kept.indexed = indexed_trace_new(7);
    if (!authentication_open(&kept.viewer.authentication, false, NULL, NULL))
        abort();
    api_open(&kept.viewer.api, kept.indexed.index, "made", NULL, NULL);
    kept.is_open = true;
    return &kept.viewer;
}

/* Splits the text at its separators. */
static void add_parameters(struct parameters *parameters, char *text)
{
    for (char *pair; text && (pair = strsep(&text, "&"));) {
        char *value = pair, *name = strsep(&value, "=");
        if (!parameters_add(parameters, name, value ? value : ""))
            return;
    }
}

static void ask(struct viewer *viewer, char *text)
{
    char *parameters = text, *path = strsep(&parameters, "?");
    char *whole = memory_format("/%s%s", viewer->authentication.token.text, path);
    struct http_request request = {.method = "GET", .path = whole, .host = "localhost"};
    add_parameters(&request.parameters, parameters);
    struct http_answer answer = http_answer_new();
    struct http_site site = viewer_site(viewer);
    site.answer(site.context, &request, &answer);
    if (answer.status == HTTP_INTERNAL_ERROR)
        abort();
    http_answer_free(&answer);
    free(whole);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    char *text = memory_allocate(size + 1);
    memcpy(text, bytes, size);
    text[size] = '\0';
    ask(open_viewer(), text);
    free(text);
    return 0;
}
