#include "base/short_name.h"

#include "base/memory.h"

#include <ctype.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static bool is_word(char letter)
{
    return isalnum((unsigned char)letter) || letter == '_' || (letter & 0x80);
}

/* The bracket that closes the one at `open`; NULL: it stays open. */
static const char *find_closing(const char *open, char opening, char closing)
{
    int depth = 0;
    for (const char *at = open; *at; at++) {
        if (closing == '>' && at > open && at[0] == '-' && at[1] == '>') {
            at++;
            continue;
        }
        depth += (*at == opening) - (*at == closing);
        if (depth == 0)
            return at;
    }
    return NULL;
}

/* Whether what follows the parameters is all that a function's name may have there. */
static bool is_end_of_name(const char *text)
{
    static const char *const qualifiers[] = {"",         " const",    " &",       " &&",
                                             " const &", " const &&", " volatile"};
    for (size_t i = 0; i < sizeof qualifiers / sizeof *qualifiers; i++)
        if (strcmp(text, qualifiers[i]) == 0)
            return true;
    return strncmp(text, " [clone", strlen(" [clone")) == 0;
}

/* How many letters of an operator's name follow `operator` at `at`: of "operator<<" 2; 0 of "operator new". */
static size_t operator_length(const char *at)
{
    static const char *const operators[] = {
        "<=>", "<<=", ">>=", "->*", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "++",
        "--",  "+=",  "-=",  "*=",  "/=", "%=", "^=", "&=", "|=", "->", "()", "[]", "+",
        "-",   "*",   "/",   "%",   "^",  "&",  "|",  "~",  "!",  "=",  "<",  ">",  ",",
    };
    for (size_t i = 0; i < sizeof operators / sizeof *operators; i++)
        if (strncmp(at, operators[i], strlen(operators[i])) == 0)
            return strlen(operators[i]);
    return 0;
}

static const char keyword[] = "operator";

/* Whether [start, end) ends in the word `operator`. */
static bool ends_in_operator(const char *start, const char *end)
{
    ptrdiff_t length = sizeof keyword - 1;
    return end - start >= length && memcmp(end - length, keyword, (size_t)length) == 0 &&
           (end - start == length || !is_word(end[-length - 1]));
}

/* The operator's name at `*at`, and `<>` for its template arguments, which "operator<< <char>" has after a
 * space. The end of what was written. */
static char *put_operator(char *end, const char **at)
{
    size_t length = operator_length(*at);
    end = mempcpy(end, *at, length);
    *at += length;
    bool spaced = length > 0 && strncmp(*at, " <", 2) == 0;
    const char *open = *at + spaced;
    const char *closing = length > 0 && *open == '<' ? find_closing(open, '<', '>') : NULL;
    if (!closing)
        return end;
    *at = closing + 1;
    return spaced ? mempcpy(end, " <>", 3) : mempcpy(end, "<>", 2);
}

/* As short_name. `*begin`: where the function's own name begins in `name`, which for template functions begins with the
 * type that they return. */
static char *shorten(const char *name, const char **begin)
{
    char *shortened = memory_allocate(strlen(name) + sizeof "<>");
    char *end = shortened, *start = shortened;
    int depth = 0;
    *begin = name;
    for (const char *at = name; *at;) {
        const char *closing = NULL, *before = at;
        bool begun = end > shortened;
        if (ends_in_operator(shortened, end))
            end = put_operator(end, &at);
        if (at > before)
            continue;
        if (*at == '<' && begun && is_word(end[-1]) && (closing = find_closing(at, '<', '>'))) {
            end = mempcpy(end, "<>", 2);
            at = closing + 1;
        } else if (*at == '{' && (closing = find_closing(at, '{', '}'))) {
            end = mempcpy(end, at, (size_t)(closing + 1 - at));
            at = closing + 1;
        } else if (*at == '(' && begun && (closing = find_closing(at, '(', ')')) &&
                   is_end_of_name(closing + 1)) {
            break;
        } else {
            depth += (*at == '(' || *at == '{') - (*at == ')' || *at == '}');
            bool parts = *at == ' ' && depth == 0 && !ends_in_operator(shortened, end);
            *end++ = *at++;
            if (parts) {
                start = end;
                *begin = at;
            }
        }
    }
    *end = 0;
    if (end - shortened >= 2 && strcmp(end - 2, "<>") == 0)
        memmove(shortened, start, strlen(start) + 1);
    else
        *begin = name;
    return shortened;
}

char *short_name(const char *name)
{
    const char *begin;
    return shorten(name, &begin);
}

const char *name_after_type(const char *name)
{
    const char *begin;
    free(shorten(name, &begin));
    return begin;
}

/* ---- names that users write ---- */

/* Whether `name` is `text`, or begins with it and goes on with the parameters, or with what may stand before or after
 * them: an ABI tag, a compiler's mark of a clone. */
static bool is_without_parameters(const char *name, const char *text)
{
    static const char *const ends[] = {"(", "[abi:", " [clone "};
    size_t length = strlen(text);
    if (strncmp(name, text, length) != 0)
        return false;
    bool is = name[length] == 0;
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        is |= strncmp(name + length, ends[i], strlen(ends[i])) == 0;
    return is;
}

static const char *after_empty_arguments(const char *at)
{
    if (strncmp(at, " <>", 3) == 0)
        return at + 3;
    return strncmp(at, "<>", 2) == 0 ? at + 2 : at;
}

/* Drops each "<>". */
static void drop_empty_arguments(char *name)
{
    char *end = name;
    for (const char *at = name; *(at = after_empty_arguments(at)); at++)
        *end++ = *at;
    *end = 0;
}

char *plain_name(const char *name)
{
    char *plain = short_name(name);
    drop_empty_arguments(plain);
    return plain;
}

/* Whether `shortened`, which is changed, is `text` but for empty template arguments. */
static bool is_same_template(char *shortened, const char *text)
{
    char *plain = memory_copy_string(text);
    drop_empty_arguments(plain);
    drop_empty_arguments(shortened);
    bool is = strcmp(shortened, plain) == 0;
    free(plain);
    return is;
}

/* Whether `name` has the last word that `text` has before its first bracket: most names have not. */
static bool has_word_of(const char *name, const char *text)
{
    const char *end = text + strcspn(text, "<(");
    const char *start = end;
    while (start > text && start[-1] != ':' && start[-1] != ' ')
        start--;
    return memmem(name, strlen(name), start, (size_t)(end - start)) != NULL;
}

bool name_means(const char *name, const char *text)
{
    if (*text == 0 || is_without_parameters(name, text))
        return *text != 0;
    if (!strchr(name, '<') || !has_word_of(name, text))
        return false;
    const char *begin;
    char *shortened = shorten(name, &begin);
    bool means = is_without_parameters(begin, text) || is_same_template(shortened, text);
    free(shortened);
    return means;
}
