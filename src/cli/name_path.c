#include "cli/name_path.h"

#include "base/short_name.h"

#include <stdlib.h>

enum { NAMES_SHOWN = 9 };

void name_path_print(FILE *stream, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (i == NAMES_SHOWN / 2 && count > NAMES_SHOWN) {
            fputs(" > ...", stream);
            i = count - NAMES_SHOWN / 2;
        }
        char *name = short_name(names[i]);
        fprintf(stream, "%s%s", i ? " > " : "", name);
        free(name);
    }
}
