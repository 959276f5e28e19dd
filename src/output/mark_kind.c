#include "output/mark_kind.h"

#include <string.h>

/* The texts that stack/spans/span_functions.c and Jane Street's magic-trace give to what they could
 * not follow. */
enum mark_kind mark_kind_of(const char *text)
{
    static const char *const GAPS[] = {"[overflow]", "[lost]", "[no image]",
                                       "[too many distinct stacks]"};
    for (size_t i = 0; i < sizeof GAPS / sizeof GAPS[0]; i++)
        if (strcmp(text, GAPS[i]) == 0)
            return MARK_GAP;
    static const char ERRORS[] = "[decode error";
    return strncmp(text, ERRORS, sizeof ERRORS - 1) == 0 ? MARK_ERROR : MARK_NOTE;
}
