#include "server/page.h"

#include "server/http/content_type.h"
#include "server/http/folder_file.h"
#include "server/page_files.h"

#include <stdio.h>
#include <string.h>

const struct page_file *page_file_find(const char *path)
{
    for (size_t i = 0; i < page_file_count; i++)
        if (strcmp(page_files[i].path, path) == 0)
            return &page_files[i];
    return NULL;
}

/* The path below web/; NULL: it is not a file of the page. */
static const char *file_path(const char *path)
{
    static const char prefix[] = "/app/";
    if (strcmp(path, "/") == 0)
        return "index.html";
    return strncmp(path, prefix, strlen(prefix)) == 0 ? path + strlen(prefix) : NULL;
}

void page_answer(const char *path, const char *folder, struct http_answer *answer)
{
    const char *name = file_path(path);
    if (name && folder) {
        folder_file_answer(folder, name, answer);
        return;
    }
    const struct page_file *file = name ? page_file_find(name) : NULL;
    if (!file) {
        http_answer_error(answer, HTTP_NOT_FOUND, "the page has no part of this name.");
        return;
    }
    http_answer_bytes(answer, content_type_of(name), file->bytes, file->size);
    answer->caching = HTTP_REVALIDATED;
    snprintf(answer->etag, sizeof answer->etag, "%s", file->etag);
}
