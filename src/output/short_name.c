#include "output/short_name.h"

#include "base/memory.h"

#include <ctype.h>
#include <stdbool.h>
#include <stddef.h>
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

/* Names of template functions begin with the type that they return. */
static void drop_return_type(char *name)
{
    size_t length = strlen(name);
    if (length < 2 || strcmp(name + length - 2, "<>") != 0)
        return;
    const char *start = name;
    int depth = 0;
    for (const char *at = name; *at; at++) {
        depth += (*at == '(' || *at == '{') - (*at == ')' || *at == '}');
        if (*at == ' ' && depth == 0 && strcmp(at, " <>") != 0 && !ends_in_operator(name, at))
            start = at + 1;
    }
    memmove(name, start, strlen(start) + 1);
}

char *short_name(const char *name)
{
    char *shortened = memory_allocate(strlen(name) + sizeof "<>");
    char *end = shortened;
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
            *end++ = *at++;
        }
    }
    *end = 0;
    drop_return_type(shortened);
    return shortened;
}
