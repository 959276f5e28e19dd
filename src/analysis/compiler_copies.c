#include "analysis/compiler_copies.h"

#include "base/memory.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* The length of a whole suffix at `text`; 0: none. */
static size_t copy_suffix_length(const char *text)
{
    static const char *const kinds[] = {".constprop.", ".isra.", ".lto_priv.", ".llvm.",
                                        ".specialized."};
    static const char bracket[] = " [clone ";
    bool is_demangled = strncmp(text, bracket, strlen(bracket)) == 0;
    const char *suffix = text + (is_demangled ? strlen(bracket) : 0);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        size_t length = strlen(kinds[i]);
        size_t digits =
            strncmp(suffix, kinds[i], length) == 0 ? strspn(suffix + length, "0123456789") : 0;
        const char *end = suffix + length + digits;
        if (digits > 0 && (!is_demangled || *end == ']'))
            return (size_t)(end + is_demangled - text);
    }
    return 0;
}

char *name_of_copied(const char *name)
{
    char *copied = memory_allocate(strlen(name) + 1), *end = copied;
    for (const char *at = name; *at;) {
        size_t suffix = at > name ? copy_suffix_length(at) : 0;
        at += suffix;
        if (suffix == 0)
            *end++ = *at++;
    }
    *end = 0;
    return copied;
}
