/* Bytes as text: base64 with the standard alphabet, padded (RFC 4648, section 4). */
#ifndef MAGIC_TRACE_BASE_BASE64_H
#define MAGIC_TRACE_BASE_BASE64_H

#include <stddef.h>

/* NUL-terminated; the caller frees. */
char *base64_encode(const void *bytes, size_t size);

#endif
