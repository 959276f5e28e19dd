/* A file of a folder that is served as it is: a copy of the Perfetto UI, or web/ while the page is
 * worked on. */
#ifndef MAGIC_TRACE_SERVER_HTTP_FOLDER_FILE_H
#define MAGIC_TRACE_SERVER_HTTP_FOLDER_FILE_H

#include "server/http/http.h"

/* Answers with the file at `path` (relative; from the browser, so not trusted) below `folder`.
 * Anything but a regular file, and everything outside of `folder`, also by a symbolic link, is not
 * found. */
void folder_file_answer(const char *folder, const char *path, struct http_answer *answer);

/* Answers with the open regular file `descriptor`, which is taken over, of `status`. */
struct stat;
void folder_file_give(int descriptor, const struct stat *status, const char *type,
                      struct http_answer *answer);

#endif
