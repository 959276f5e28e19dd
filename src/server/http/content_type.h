/* What a file of a page is, by the end of its name. */
#ifndef MAGIC_TRACE_SERVER_HTTP_CONTENT_TYPE_H
#define MAGIC_TRACE_SERVER_HTTP_CONTENT_TYPE_H

/* A static string; application/octet-stream for unknown names. */
const char *content_type_of(const char *path);

#endif
