#include "output/csv_quoted.h"

#include "base/memory.h"
#include "base/utf8.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static bool is_formula(const char *text)
{
    return *text && strchr("=+-@", *text);
}

char *csv_quoted(const char *text)
{
    char *repaired = utf8_repaired(text);
    if (is_formula(repaired)) {
        char *defused = memory_format("'%s", repaired);
        free(repaired);
        repaired = defused;
    }
    size_t length = strlen(repaired);
    if (strcspn(repaired, "\",\r\n") == length)
        return repaired;
    char *field = memory_allocate(2 * length + 3), *next = field;
    *next++ = '"';
    for (const char *from = repaired; *from; from++) {
        if (*from == '"')
            *next++ = '"';
        *next++ = *from;
    }
    *next++ = '"';
    *next = 0;
    free(repaired);
    return field;
}
