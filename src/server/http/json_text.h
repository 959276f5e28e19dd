/* Writes JSON (RFC 8259) to a stream.
 *
 * Answers have up to a million values: a tree of them, as JSON libraries build it, would take more
 * memory than the answer itself. The caller must make the calls in a valid order; commas are added
 * automatically.
 */
#ifndef MAGIC_TRACE_SERVER_HTTP_JSON_TEXT_H
#define MAGIC_TRACE_SERVER_HTTP_JSON_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct json_text {
    FILE *stream;
    bool follows; /* an element precedes the next value in the same object or array */
};

void json_text_open(struct json_text *json, char bracket);  /* '{' or '[' */
void json_text_close(struct json_text *json, char bracket); /* '}' or ']' */
void json_text_key(struct json_text *json, const char *key);

/* NULL: null. What is not UTF-8 becomes U+FFFD. */
void json_text_string(struct json_text *json, const char *text);
void json_text_string_part(struct json_text *json, const char *text, size_t length);
void json_text_number(struct json_text *json, uint64_t number);
void json_text_signed(struct json_text *json, int64_t number);
/* What JSON has no number for, infinities and NaN, is null. */
void json_text_real(struct json_text *json, double number);
void json_text_bool(struct json_text *json, bool value);
void json_text_null(struct json_text *json);
/* A value that is JSON already. */
void json_text_raw(struct json_text *json, const char *value);

/* A key and its value. */
void json_text_member_string(struct json_text *json, const char *key, const char *text);
void json_text_member_number(struct json_text *json, const char *key, uint64_t number);

/* "0x7f..." as a string; 0: null */
void json_text_address(struct json_text *json, uint64_t address);

#endif
