#include "view/json_text.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static void begin_value(struct json_text *json)
{
    if (json->follows)
        fputc(',', json->stream);
    json->follows = true;
}

void json_text_open(struct json_text *json, char bracket)
{
    begin_value(json);
    fputc(bracket, json->stream);
    json->follows = false;
}

void json_text_close(struct json_text *json, char bracket)
{
    fputc(bracket, json->stream);
    json->follows = true;
}

void json_text_key(struct json_text *json, const char *key)
{
    json_text_string(json, key);
    fputc(':', json->stream);
    json->follows = false;
}

static bool is_continuation(unsigned char byte)
{
    return (byte & 0xc0) == 0x80;
}

/* Bytes of the UTF-8 character at `text` (Unicode standard, table 3-7), of which `left` bytes are
 * there; 0 when it is none. */
static size_t character_size(const unsigned char *text, size_t left)
{
    unsigned char first = text[0];
    size_t size = first < 0x80 ? 1 : first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
    if (first > 0xf4 || size == 0 || size > left)
        return 0;
    for (size_t i = 1; i < size; i++)
        if (!is_continuation(text[i]))
            return 0;
    bool overlong = (first == 0xe0 && text[1] < 0xa0) || (first == 0xf0 && text[1] < 0x90);
    bool surrogate = first == 0xed && text[1] > 0x9f;
    bool too_large = first == 0xf4 && text[1] > 0x8f;
    return overlong || surrogate || too_large ? 0 : size;
}

/* Whether the byte stands for itself inside of a string. Deleting and beyond need a closer look. */
static bool is_plain(unsigned char byte)
{
    return byte >= 0x20 && byte < 0x7f && byte != '"' && byte != '\\';
}

static void write_escaped(FILE *stream, unsigned char byte)
{
    if (byte == '"' || byte == '\\')
        fprintf(stream, "\\%c", byte);
    else
        fprintf(stream, "\\u%04x", byte);
}

void json_text_string_part(struct json_text *json, const char *text, size_t length)
{
    begin_value(json);
    fputc('"', json->stream);
    const unsigned char *at = (const unsigned char *)text, *end = at + length;
    while (at < end) {
        const unsigned char *plain = at;
        while (plain < end && is_plain(*plain))
            plain++;
        fwrite(at, 1, (size_t)(plain - at), json->stream);
        at = plain;
        if (at == end)
            break;
        size_t size = character_size(at, (size_t)(end - at));
        if (size > 1)
            fwrite(at, 1, size, json->stream);
        else if (size == 1)
            write_escaped(json->stream, *at);
        else
            fputs("\xef\xbf\xbd", json->stream);
        at += size ? size : 1;
    }
    fputc('"', json->stream);
}

void json_text_string(struct json_text *json, const char *text)
{
    if (text)
        json_text_string_part(json, text, strlen(text));
    else
        json_text_null(json);
}

void json_text_number(struct json_text *json, uint64_t number)
{
    begin_value(json);
    fprintf(json->stream, "%" PRIu64, number);
}

void json_text_signed(struct json_text *json, int64_t number)
{
    begin_value(json);
    fprintf(json->stream, "%" PRId64, number);
}

void json_text_real(struct json_text *json, double number)
{
    if (!isfinite(number)) {
        json_text_null(json);
        return;
    }
    begin_value(json);
    fprintf(json->stream, "%.17g", number);
}

void json_text_bool(struct json_text *json, bool value)
{
    begin_value(json);
    fputs(value ? "true" : "false", json->stream);
}

void json_text_null(struct json_text *json)
{
    begin_value(json);
    fputs("null", json->stream);
}

void json_text_address(struct json_text *json, uint64_t address)
{
    if (address == 0) {
        json_text_null(json);
        return;
    }
    begin_value(json);
    fprintf(json->stream, "\"0x%" PRIx64 "\"", address);
}
