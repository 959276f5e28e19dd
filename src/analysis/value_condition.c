#include "analysis/value_condition.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- parsing ---- */

static const struct {
    const char *sign;
    enum value_comparison comparison;
} signs[] = {
    {"!=", VALUE_NOT_EQUAL}, {"<=", VALUE_AT_MOST}, {">=", VALUE_AT_LEAST}, {"==", VALUE_EQUAL},
    {"=", VALUE_EQUAL},      {"<", VALUE_LESS},     {">", VALUE_GREATER},   {"~", VALUE_HAS},
};

static const char *skip_spaces(const char *at)
{
    while (isspace((unsigned char)*at))
        at++;
    return at;
}

static bool take_sign(const char **at, enum value_comparison *comparison)
{
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++) {
        size_t length = strlen(signs[i].sign);
        if (strncmp(*at, signs[i].sign, length) != 0)
            continue;
        *comparison = signs[i].comparison;
        *at += length;
        return true;
    }
    return false;
}

static const char *take(struct arena *memory, const char **at, size_t length)
{
    char *text = arena_allocate(memory, length + 1);
    memcpy(text, *at, length);
    text[length] = 0;
    *at += length;
    return text;
}

/* A parameter's name, or its place where it has none: #2. */
static size_t length_of_name(const char *at)
{
    size_t length = *at == '#';
    while (isalnum((unsigned char)at[length]) || at[length] == '_' || at[length] == '$' ||
           (unsigned char)at[length] >= 0x80)
        length++;
    return length;
}

/* From quote to quote; 0: the text does not end. */
static size_t length_of_quoted(const char *at)
{
    size_t length = 1;
    while (at[length] && at[length] != '"')
        length += at[length] == '\\' && at[length + 1] ? 2 : 1;
    return at[length] ? length + 1 : 0;
}

static size_t length_of_word(const char *at)
{
    size_t length = strcspn(at, ",&)\"");
    while (length > 0 && isspace((unsigned char)at[length - 1]))
        length--;
    return length;
}

static void read_number(struct named_value *operand)
{
    const char *text = operand->text;
    char *end;
    errno = 0;
    if (*text == '-') {
        operand->signed_number = strtoll(text, &end, 0);
        operand->kind = NAMED_SIGNED;
    } else {
        operand->unsigned_number = strtoull(text, &end, 0);
        operand->kind = NAMED_UNSIGNED;
    }
    if (*end == 0 && errno == 0)
        return;
    operand->real = strtod(text, &end);
    operand->kind = *end == 0 ? NAMED_FLOAT : NAMED_TEXT;
}

static bool take_operand(struct arena *memory, const char **at, struct named_value *operand)
{
    *operand = (struct named_value){.kind = NAMED_TEXT};
    bool is_quoted = **at == '"';
    size_t length = is_quoted ? length_of_quoted(*at) : length_of_word(*at);
    if (length == 0)
        return false;
    operand->text = take(memory, at, length);
    if (is_quoted)
        operand->text = named_value_string(memory, operand->text);
    else
        read_number(operand);
    return true;
}

static bool take_term(struct value_condition *condition, const char **at)
{
    struct value_term *term = arena_allocate(&condition->memory, sizeof *term);
    *at = skip_spaces(*at);
    size_t length = length_of_name(*at);
    if (length == 0)
        return false;
    term->name = take(&condition->memory, at, length);
    *at = skip_spaces(*at);
    if (!take_sign(at, &term->comparison))
        return false;
    *at = skip_spaces(*at);
    if (!take_operand(&condition->memory, at, &term->operand))
        return false;
    *at = skip_spaces(*at);
    term->next = condition->terms;
    condition->terms = term;
    return true;
}

static bool take_terms(struct value_condition *condition, const char *at)
{
    for (;;) {
        if (!take_term(condition, &at))
            return false;
        if (*at == ')')
            return *skip_spaces(at + 1) == 0;
        if (*at != ',' && strncmp(at, "&&", 2) != 0)
            return false;
        at += *at == ',' ? 1 : 2;
    }
}

/* Names have parentheses, too: what stands in the last ones counts. A quoted text may have some. */
bool value_condition_parse(struct value_condition *condition, const char *text)
{
    const char *quoted = strchr(text, '"');
    size_t searched = quoted ? (size_t)(quoted - text) : strlen(text);
    const char *open = memrchr(text, '(', searched);
    *condition = (struct value_condition){0};
    if (!open)
        return false;
    const char *at = text;
    size_t length = (size_t)(open - text);
    while (length > 0 && isspace((unsigned char)text[length - 1]))
        length--;
    condition->function = take(&condition->memory, &at, length);
    if (take_terms(condition, open + 1))
        return true;
    value_condition_free(condition);
    return false;
}

void value_condition_free(struct value_condition *condition)
{
    arena_free(&condition->memory);
}

/* ---- judging ---- */

static __int128 whole_of(const struct named_value *value)
{
    return value->kind == NAMED_SIGNED ? (__int128)value->signed_number
                                       : (__int128)value->unsigned_number;
}

static double real_of(const struct named_value *value)
{
    return value->kind == NAMED_FLOAT ? value->real : (double)whole_of(value);
}

static bool is_ordered(enum value_comparison comparison, int order)
{
    switch (comparison) {
    case VALUE_EQUAL:
        return order == 0;
    case VALUE_NOT_EQUAL:
        return order != 0;
    case VALUE_LESS:
        return order < 0;
    case VALUE_AT_MOST:
        return order <= 0;
    case VALUE_GREATER:
        return order > 0;
    case VALUE_AT_LEAST:
        return order >= 0;
    case VALUE_HAS:
        break;
    }
    return false;
}

/* What is no number (NaN) differs from all. */
static bool numbers_hold(const struct value_term *term, const struct named_value *value)
{
    if (value->kind == NAMED_FLOAT || term->operand.kind == NAMED_FLOAT) {
        double one = real_of(value), other = real_of(&term->operand);
        if (one != one || other != other)
            return term->comparison == VALUE_NOT_EQUAL;
        return is_ordered(term->comparison, (one > other) - (one < other));
    }
    __int128 one = whole_of(value), other = whole_of(&term->operand);
    return is_ordered(term->comparison, (one > other) - (one < other));
}

static bool term_holds(const struct value_term *term, const struct named_value *value)
{
    if (value->kind != NAMED_TEXT && term->operand.kind != NAMED_TEXT &&
        term->comparison != VALUE_HAS)
        return numbers_hold(term, value);
    const char *text = value->string ? value->string : value->text;
    if (term->comparison == VALUE_HAS)
        return strstr(text, term->operand.text) != NULL;
    return is_ordered(term->comparison, strcmp(text, term->operand.text));
}

static const struct named_value *find(const struct named_values *values, const char *name)
{
    for (size_t i = 0; i < values->count; i++)
        if (strcmp(values->values[i].name, name) == 0)
            return &values->values[i];
    return NULL;
}

bool value_condition_holds(const struct value_condition *condition,
                           const struct named_values *values)
{
    for (const struct value_term *term = condition->terms; term; term = term->next) {
        const struct named_value *value = find(values, term->name);
        if (!value || !term_holds(term, value))
            return false;
    }
    return true;
}
