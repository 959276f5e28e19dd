/* Text that must be UTF-8, made of bytes that should be.
 *
 * Names of functions and files are bytes; formats like JSON and protocol buffers hold only UTF-8
 * (RFC 3629). Used by those who write such formats.
 */
#ifndef MAGIC_TRACE_BASE_UTF8_H
#define MAGIC_TRACE_BASE_UTF8_H

/* A copy in which U+FFFD stands for every byte that is no part of a character. The caller frees. */
char *utf8_repaired(const char *bytes);

#endif
