#include "base/named_values.h"

#include <ctype.h>
#include <errno.h>
#include <float.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct named_values *named_values_copy(struct arena *arena, const struct named_values *values)
{
    if (!values)
        return NULL;
    struct named_values *copy = arena_allocate(arena, sizeof *copy);
    struct named_value *list = arena_allocate(arena, values->count * sizeof *list);
    for (size_t i = 0; i < values->count; i++) {
        list[i] = values->values[i];
        list[i].name = arena_copy_string(arena, list[i].name);
        list[i].text = arena_copy_string(arena, list[i].text);
        if (list[i].string)
            list[i].string = arena_copy_string(arena, list[i].string);
    }
    *copy = *values;
    copy->values = list;
    copy->text = arena_copy_string(arena, values->text);
    return copy;
}

/* What follows a number's digits: nothing, or the character that it is. */
static bool ends_number(const char *rest)
{
    return *rest == 0 || strncmp(rest, " '", 2) == 0;
}

void named_value_read_number(struct named_value *value)
{
    bool is_true = strcmp(value->text, "true") == 0;
    if (is_true || strcmp(value->text, "false") == 0) {
        value->kind = NAMED_UNSIGNED;
        value->unsigned_number = is_true;
        return;
    }
    char *rest;
    bool is_negative = value->text[0] == '-';
    if (!isdigit((unsigned char)value->text[is_negative]))
        return;
    errno = 0;
    uint64_t number = is_negative ? (uint64_t)strtoll(value->text, &rest, 10)
                                  : (uint64_t)strtoull(value->text, &rest, 10);
    if (errno != 0 || !ends_number(rest))
        return;
    value->kind = is_negative ? NAMED_SIGNED : NAMED_UNSIGNED;
    value->unsigned_number = number;
}

static const char escaped[] = "\a\b\t\n\v\f\r", letters[] = "abtnvfr";

char named_value_letter(char byte)
{
    const char *found = byte ? strchr(escaped, byte) : NULL;
    return found ? letters[found - escaped] : 0;
}

/* What stands after a backslash; *at goes to its end. */
static char unescaped(const char **at)
{
    const char *found = **at ? strchr(letters, **at) : NULL;
    char byte = found ? escaped[found - letters] : **at;
    unsigned octal = 0, digits = 0;
    while (digits < 3 && (*at)[digits] >= '0' && (*at)[digits] <= '7')
        octal = octal * 8 + (unsigned)((*at)[digits++] - '0');
    *at += digits ? digits : 1;
    return digits ? (char)octal : byte;
}

const char *named_value_string(struct arena *arena, const char *text)
{
    if (*text != '"')
        return NULL;
    char *string = arena_allocate(arena, strlen(text) + 1), *end = string;
    for (const char *at = text + 1; *at && *at != '"';)
        if (*at == '\\' && at[1]) {
            at++;
            *end++ = unescaped(&at);
        } else {
            *end++ = *at++;
        }
    *end = 0;
    return string;
}

const char *named_values_join(struct arena *arena, const struct named_values *values)
{
    size_t size = 1, used = 0;
    for (size_t i = 0; i < values->count; i++)
        size += strlen(values->values[i].name) + strlen(values->values[i].text) + 5;
    char *text = arena_allocate(arena, size);
    text[0] = 0;
    for (size_t i = 0; i < values->count; i++) {
        const struct named_value *value = &values->values[i];
        bool is_result = values->has_result && i + 1 == values->count;
        used += is_result ? (size_t)snprintf(text + used, size - used, "%s-> %s", i ? " " : "",
                                             value->text)
                          : (size_t)snprintf(text + used, size - used, "%s%s=%s", i ? ", " : "",
                                             value->name, value->text);
    }
    return text;
}

const char *named_values_join_arguments(struct arena *arena, const struct named_values *values)
{
    const struct named_values arguments = {.count = values->count - values->has_result,
                                           .values = values->values};
    return named_values_join(arena, &arguments);
}

void named_value_print_float(char text[NAMED_FLOAT_SIZE], double real, bool is_single)
{
    const double digits = 1e15; /* of a whole number, which a double has exactly */
    if (real > -digits && real < digits && real == (double)(int64_t)real && real != 0) {
        snprintf(text, NAMED_FLOAT_SIZE, "%.0f", real);
        return;
    }
    int most = is_single ? FLT_DECIMAL_DIG : DBL_DECIMAL_DIG;
    for (int precision = FLT_DIG; precision <= most; precision++) {
        snprintf(text, NAMED_FLOAT_SIZE, "%.*g", precision, real);
        double again = strtod(text, NULL);
        if (is_single ? (float)again == (float)real : again == real)
            break;
    }
}
