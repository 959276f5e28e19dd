#include "server/http/json_text.h"

#include "base/memory.h"
#include "output/json_quoted.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

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

void json_text_string_part(struct json_text *json, const char *text, size_t length)
{
    char *part = memory_format("%.*s", (int)length, text);
    json_text_string(json, part);
    free(part);
}

void json_text_string(struct json_text *json, const char *text)
{
    if (!text) {
        json_text_null(json);
        return;
    }
    char *quoted = json_quoted(text);
    begin_value(json);
    fputs(quoted, json->stream);
    free(quoted);
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

void json_text_raw(struct json_text *json, const char *value)
{
    begin_value(json);
    fputs(value, json->stream);
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

void json_text_member_string(struct json_text *json, const char *key, const char *text)
{
    json_text_key(json, key);
    json_text_string(json, text);
}

void json_text_member_number(struct json_text *json, const char *key, uint64_t number)
{
    json_text_key(json, key);
    json_text_number(json, number);
}
