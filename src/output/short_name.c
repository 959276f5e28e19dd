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

/* How many letters of an operator's name follow `operator` at `at`: of "operator<<" 2. */
static size_t operator_length(const char *at)
{
    size_t length = strspn(at, "<>=!+-*/%&|^~,[]");
    return length ? length : strncmp(at, "()", 2) == 0 ? 2 : 0;
}

/* Names of template functions begin with the type that they return. */
static void drop_return_type(char *name)
{
    size_t length = strlen(name);
    const char *space = strrchr(name, ' ');
    if (space && length >= 2 && strcmp(name + length - 2, "<>") == 0)
        memmove(name, space + 1, strlen(space));
}

char *short_name(const char *name)
{
    static const char keyword[] = "operator";
    char *shortened = memory_allocate(strlen(name) + sizeof "<>");
    char *end = shortened;
    for (const char *at = name; *at;) {
        const char *closing = NULL;
        size_t written = (size_t)(end - shortened), known = sizeof keyword - 1;
        if (written >= known && memcmp(end - known, keyword, known) == 0 &&
            (written == known || !is_word(end[-(ptrdiff_t)known - 1]))) {
            size_t length = operator_length(at);
            end = mempcpy(end, at, length);
            at += length;
            if (length > 0)
                continue;
        }
        if (*at == '<' && written > 0 && is_word(end[-1]) &&
            (closing = find_closing(at, '<', '>'))) {
            end = mempcpy(end, "<>", 2);
            at = closing + 1;
        } else if (*at == '{' && (closing = find_closing(at, '{', '}'))) {
            end = mempcpy(end, at, (size_t)(closing + 1 - at));
            at = closing + 1;
        } else if (*at == '(' && written > 0 && (closing = find_closing(at, '(', ')')) &&
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
