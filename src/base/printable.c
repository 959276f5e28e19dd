#include "base/printable.h"

#include "base/memory.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ESCAPE_SIZE = 8 }; /* "\u202e" and its NUL */

/* Length of the UTF-8 character at `text`, and what it is; 1 for an invalid byte. */
static size_t character_at(const unsigned char *text, uint32_t *character)
{
    static const struct {
        unsigned char mask, lead;
        size_t length;
    } forms[] = {{0xe0, 0xc0, 2}, {0xf0, 0xe0, 3}, {0xf8, 0xf0, 4}};
    *character = text[0];
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        if ((text[0] & forms[i].mask) != forms[i].lead)
            continue;
        uint32_t value = text[0] & (unsigned char)~forms[i].mask;
        for (size_t j = 1; j < forms[i].length; j++) {
            if ((text[j] & 0xc0) != 0x80)
                return 1;
            value = value << 6 | (text[j] & 0x3f);
        }
        *character = value;
        return forms[i].length;
    }
    return 1;
}

static bool is_control(uint32_t character, enum printable_kind kind)
{
    if (kind == PRINTABLE_TEXT && (character == '\n' || character == '\t'))
        return false;
    return character < 0x20 || (character >= 0x7f && character < 0xa0) || character == 0x061c ||
           character == 0x200e || character == 0x200f ||
           (character >= 0x2028 && character <= 0x202e) ||
           (character >= 0x2066 && character <= 0x2069);
}

static bool is_plain(const char *text, enum printable_kind kind)
{
    const unsigned char *next = (const unsigned char *)text;
    while (*next) {
        uint32_t character;
        next += character_at(next, &character);
        if (is_control(character, kind))
            return false;
    }
    return true;
}

char *printable_copy(const char *text, enum printable_kind kind)
{
    if (is_plain(text, kind))
        return NULL;
    char *copy = memory_allocate(strlen(text) * (ESCAPE_SIZE - 1) + 1), *end = copy;
    const unsigned char *next = (const unsigned char *)text;
    while (*next) {
        uint32_t character;
        size_t length = character_at(next, &character);
        if (!is_control(character, kind))
            end = mempcpy(end, next, length);
        else
            end +=
                snprintf(end, ESCAPE_SIZE, length > 1 ? "\\u%04x" : "\\x%02x", (unsigned)character);
        next += length;
    }
    *end = 0;
    return copy;
}

const char *printable_name(struct arena *memory, const char *name)
{
    char *copy = name ? printable_copy(name, PRINTABLE_NAME) : NULL;
    if (!copy)
        return name;
    const char *kept = arena_copy_string(memory, copy);
    free(copy);
    return kept;
}
