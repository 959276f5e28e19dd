/* The page in the browser: index.html at the root of the site, all else below app/. */
#ifndef MAGIC_TRACE_SERVER_PAGE_H
#define MAGIC_TRACE_SERVER_PAGE_H

#include "server/http/http.h"

/* `path`: after the token, with its slash. `folder`: read the files from there instead of those in
 * the binary, for developers of the page; NULL: do not. */
void page_answer(const char *path, const char *folder, struct http_answer *answer);

#endif
