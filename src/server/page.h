/* The page in the browser: index.html at the root of the site, all else below app/. */
#ifndef MAGIC_TRACE_SERVER_PAGE_H
#define MAGIC_TRACE_SERVER_PAGE_H

#include "server/http/http.h"

/* `path`: behind the token, with its slash. `folder`: where the files are read from in place of
 * those in the binary, for who works on them; NULL: nowhere. */
void page_answer(const char *path, const char *folder, struct http_answer *answer);

#endif
