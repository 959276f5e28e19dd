#include "cli/options/shell_word.h"

#include "base/memory.h"

#include <stdbool.h>
#include <string.h>

/* Letters beyond ASCII mean nothing to a shell. */
static bool is_plain(const char *text)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "_-+=./,:@%";
    for (; *text; text++)
        if (!((unsigned char)*text & 0x80) && !strchr(plain, *text))
            return false;
    return true;
}

char *shell_word(const char *text)
{
    if (*text && is_plain(text))
        return memory_copy_string(text);
    static const char quoted_quote[] = "'\\''";
    char *word = memory_allocate(strlen(text) * (sizeof quoted_quote - 1) + sizeof "''");
    char *next = word;
    *next++ = '\'';
    for (; *text; text++) {
        if (*text == '\'')
            next = stpcpy(next, quoted_quote);
        else
            *next++ = *text;
    }
    *next++ = '\'';
    *next = 0;
    return word;
}
