#include "base/utf8.h"

#include "base/memory.h"

#include <iconv.h>
#include <stdbool.h>
#include <string.h>

/* U+FFFD, the replacement character. */
static const char REPLACEMENT[] = "\xef\xbf\xbd";

static bool is_ascii(const char *bytes)
{
    while (*bytes > 0)
        bytes++;
    return *bytes == 0;
}

char *utf8_repaired(const char *bytes)
{
    if (is_ascii(bytes)) /* nearly all names are ASCII, and iconv takes a microsecond to begin */
        return memory_copy_string(bytes);
    size_t left = strlen(bytes);
    /* Each byte may become a replacement character, which has three bytes. */
    size_t room = 3 * left;
    char *repaired = memory_allocate(room + 1);
    char *next = repaired;
    char *from = (char *)bytes; /* iconv does not write there */
    iconv_t copy = iconv_open("UTF-8", "UTF-8");
    if (copy == (iconv_t)-1) { /* glibc always has it; others may lack it */
        memcpy(repaired, bytes, left + 1);
        return repaired;
    }
    while (left > 0 && iconv(copy, &from, &left, &next, &room) == (size_t)-1 && left > 0) {
        next = mempcpy(next, REPLACEMENT, sizeof REPLACEMENT - 1);
        room -= sizeof REPLACEMENT - 1;
        from++;
        left--;
    }
    iconv_close(copy);
    *next = 0;
    return repaired;
}
