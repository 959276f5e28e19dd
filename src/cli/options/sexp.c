#include "cli/options/sexp.h"

#include <ctype.h>
#include <string.h>

static void skip_blanks(const char **at)
{
    while (isspace((unsigned char)**at))
        ++*at;
}

static bool take(const char **at, char wanted)
{
    skip_blanks(at);
    if (**at != wanted)
        return false;
    ++*at;
    return true;
}

static bool take_word(const char **at, char word[static SEXP_WORD])
{
    skip_blanks(at);
    size_t length = 0;
    while (isalnum((unsigned char)(*at)[length]) || ((*at)[length] && strchr("_-.", (*at)[length])))
        length++;
    if (length == 0 || length >= SEXP_WORD)
        return false;
    memcpy(word, *at, length);
    word[length] = 0;
    *at += length;
    return true;
}

/* After its opening parenthesis. */
static bool take_field(const char **at, struct sexp_field *field)
{
    if (!take_word(at, field->name))
        return false;
    if (!take(at, '('))
        return take_word(at, field->value) && take(at, ')');
    return take_word(at, field->kind) && take_word(at, field->value) && take(at, ')') &&
           take(at, ')');
}

static bool take_fields(const char **at, struct sexp_record *record)
{
    while (take(at, '('))
        if (record->count == SEXP_FIELDS || !take_field(at, &record->fields[record->count++]))
            return false;
    return true;
}

/* Whether a record in parentheses of its own begins here, and no field. */
static bool record_opens(const char *at)
{
    return take(&at, '(') && (take(&at, '(') || take(&at, ')'));
}

bool sexp_read_record(struct sexp_record *record, const char *text)
{
    *record = (struct sexp_record){0};
    const char *at = text;
    if (!take(&at, '('))
        return false;
    skip_blanks(&at);
    bool ok = true;
    if (*at == '(') {
        ok = take_fields(&at, record);
    } else {
        ok = take_word(&at, record->constructor);
        bool enclosed = ok && record_opens(at) && take(&at, '(');
        ok = ok && take_fields(&at, record) && (!enclosed || take(&at, ')'));
    }
    ok = ok && take(&at, ')');
    skip_blanks(&at);
    return ok && *at == 0;
}

bool sexp_number(const char *word, uint64_t *number)
{
    if (!isdigit((unsigned char)*word))
        return false;
    *number = 0;
    for (; *word; word++) {
        if (*word == '_')
            continue;
        if (!isdigit((unsigned char)*word) ||
            __builtin_mul_overflow(*number, (uint64_t)10, number) ||
            __builtin_add_overflow(*number, (uint64_t)(*word - '0'), number))
            return false;
    }
    return true;
}

bool sexp_boolean(const char *word, bool *value)
{
    *value = strcmp(word, "true") == 0 || strcmp(word, "1") == 0;
    return *value || strcmp(word, "false") == 0 || strcmp(word, "0") == 0;
}
