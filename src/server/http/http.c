#include "server/http/http.h"

#include "base/memory.h"
#include "server/http/json_text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool http_is_abandoned(const struct http_request *request)
{
    return request->is_abandoned && request->is_abandoned(request);
}

struct http_answer http_answer_new(void)
{
    return (struct http_answer){.status = HTTP_OK, .descriptor = -1};
}

static void drop_content(struct http_answer *answer)
{
    free(answer->bytes);
    if (answer->descriptor >= 0)
        close(answer->descriptor);
    answer->bytes = NULL;
    answer->size = 0;
    answer->descriptor = -1;
}

void http_answer_free(struct http_answer *answer)
{
    drop_content(answer);
    free(answer->location);
    *answer = http_answer_new();
}

void http_answer_error(struct http_answer *answer, enum http_status status, const char *format, ...)
{
    char text[2048];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    drop_content(answer);
    answer->status = status;
    answer->type = "application/json";
    answer->caching = HTTP_NOT_CACHED;
    answer->etag[0] = 0;
    struct json_text json = {.stream = open_memstream(&answer->bytes, &answer->size)};
    if (!json.stream)
        return;
    json_text_open(&json, '{');
    json_text_key(&json, "error");
    json_text_string(&json, text);
    json_text_close(&json, '}');
    fclose(json.stream);
}

void http_answer_bytes(struct http_answer *answer, const char *type, const void *bytes, size_t size)
{
    drop_content(answer);
    answer->type = type;
    answer->bytes = memory_allocate(size ? size : 1);
    memcpy(answer->bytes, bytes, size);
    answer->size = size;
}

bool http_etag_matches(const char *if_none_match, const char *etag)
{
    if (!if_none_match || !*etag)
        return false;
    size_t length = strlen(etag);
    for (const char *at = if_none_match; *at; at += strcspn(at, ",")) {
        at += strspn(at, ", \t");
        if (*at == '*')
            return true;
        if (strncmp(at, "W/", 2) == 0)
            at += 2;
        if (strncmp(at, etag, length) == 0 && strchr(", \t", at[length]))
            return true;
    }
    return false;
}
