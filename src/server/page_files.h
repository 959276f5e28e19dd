/* The files of the page, web/ as it was when magic-trace was built: src/server/embed_page.py makes
 * the definition. Used by page.c, and by `export` to HTML.
 */
#ifndef MAGIC_TRACE_SERVER_PAGE_FILES_H
#define MAGIC_TRACE_SERVER_PAGE_FILES_H

#include <stddef.h>

struct page_file {
    const char *path; /* below web/ */
    const char *etag; /* of these very bytes, with its quotes */
    const void *bytes;
    size_t size;
};

extern const struct page_file page_files[]; /* by path */
extern const size_t page_file_count;

/* NULL: none. */
const struct page_file *page_file_find(const char *path);

#endif
