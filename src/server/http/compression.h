/* Answers made smaller for the way to the browser, which may lead through ssh. */
#ifndef MAGIC_TRACE_SERVER_HTTP_COMPRESSION_H
#define MAGIC_TRACE_SERVER_HTTP_COMPRESSION_H

#include <stdbool.h>
#include <stddef.h>

/* Whether Accept-Encoding (RFC 9110, 12.5.3; NULL: not sent) lets us send gzip. */
bool compression_takes_gzip(const char *accept_encoding);

/* Whether content of this type and size is worth it: text, and no single packet. */
bool compression_pays(const char *type, size_t size);

/* One gzip member of `bytes`, to be given to free(), with *compressed bytes; NULL when it did not
 * become smaller. */
char *compression_gzip(const char *bytes, size_t size, size_t *compressed);

#endif
