#include "image/kallsyms.h"

#include "base/file.h"
#include "image/image_file.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* Of the kinds that nm(1) knows: code, and weak symbols. */
static bool is_code(char kind)
{
    return kind && strchr("tTwW", kind);
}

/* `line` ends with a NUL. */
static void read_line(char *line, struct arena *memory, struct array *symbols)
{
    if (!isxdigit((unsigned char)*line)) /* strtoull would take signs and blanks */
        return;
    char *end;
    uint64_t address = strtoull(line, &end, 16);
    if (address == 0 || end[0] != ' ' || !is_code(end[1]) || end[2] != ' ')
        return;
    char *name = end + 3;
    name[strcspn(name, " \t\r")] = 0;
    if (*name)
        *(struct image_symbol *)array_add(symbols) =
            (struct image_symbol){.name = arena_copy_string(memory, name), .start = address};
}

void kallsyms_read(const char *path, struct arena *memory, struct array *symbols)
{
    char *text = file_read(path, NULL, NULL);
    char *next = NULL;
    for (char *line = text ? strtok_r(text, "\n", &next) : NULL; line;
         line = strtok_r(NULL, "\n", &next))
        read_line(line, memory, symbols);
    free(text);
}
