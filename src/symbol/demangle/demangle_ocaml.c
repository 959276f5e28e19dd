#include "symbol/demangle/demangle_ocaml.h"

#include "base/memory.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Length of `name` without flambda's "_code" and without the stamp "_123". */
static size_t length_without_stamp(const char *name)
{
    static const char code[] = "_code";
    size_t length = strlen(name);
    if (length > strlen(code) && strcmp(name + length - strlen(code), code) == 0)
        length -= strlen(code);
    size_t digits = length;
    while (digits > 0 && isdigit((unsigned char)name[digits - 1]))
        digits--;
    bool stamped = digits < length && digits > 1 && name[digits - 1] == '_';
    return stamped ? digits - 1 : length;
}

static bool ends_with(const char *text, size_t length, const char *end)
{
    size_t end_length = strlen(end);
    return length >= end_length && memcmp(text + length - end_length, end, end_length) == 0;
}

static bool is_anonymous(const char *name, size_t length)
{
    static const char *const functions[] = {"fun", "anon_fn"};
    static const char *const separators[] = {"__", "."};
    for (size_t i = 0; i < 2; i++)
        for (size_t j = 0; j < 2; j++) {
            size_t function_length = strlen(functions[i]);
            if (ends_with(name, length, functions[i]) &&
                ends_with(name, length - function_length, separators[j]))
                return true;
        }
    return false;
}

static int hexadecimal_digit(char digit)
{
    if (digit >= '0' && digit <= '9')
        return digit - '0';
    digit = (char)tolower((unsigned char)digit);
    return digit >= 'a' && digit <= 'f' ? digit - 'a' + 10 : -1;
}

char *demangle_ocaml(const char *symbol)
{
    static const char prefix[] = "caml";
    if (strncmp(symbol, prefix, strlen(prefix)) != 0 ||
        !isupper((unsigned char)symbol[strlen(prefix)]))
        return NULL;
    const char *name = symbol + strlen(prefix);
    size_t length = length_without_stamp(name);
    if (is_anonymous(name, length))
        length = strlen(name);

    char *readable = memory_allocate(length + 1), *out = readable;
    for (size_t i = 0; i < length;) {
        int high = -1, low = -1;
        if (name[i] == '$' && i + 2 < length) {
            high = hexadecimal_digit(name[i + 1]);
            low = hexadecimal_digit(name[i + 2]);
        }
        if (high >= 0 && low >= 0 && (high | low) != 0) {
            *out++ = (char)(high << 4 | low);
            i += 3;
        } else if (name[i] == '_' && i > 0 && i + 2 < length && name[i + 1] == '_') {
            *out++ = '.';
            i += 2;
        } else {
            *out++ = name[i++];
        }
    }
    *out = 0;
    return readable;
}
