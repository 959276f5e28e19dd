#include "process/script.h"

#include <stddef.h>
#include <string.h>

static const char blanks[] = " \t";

bool script_line_parse(struct script_line *line, const unsigned char head[static SCRIPT_HEAD_SIZE])
{
    if (head[0] != '#' || head[1] != '!')
        return false;
    memcpy(line->text, head, SCRIPT_HEAD_SIZE);
    char *end = memchr(line->text, '\n', SCRIPT_HEAD_SIZE);
    bool truncated = !end && !memchr(line->text, 0, SCRIPT_HEAD_SIZE);
    if (!end)
        end = line->text + SCRIPT_HEAD_SIZE - 1;
    *end = 0;

    char *name = line->text + 2 + strspn(line->text + 2, blanks);
    size_t length = strcspn(name, blanks);
    if (length == 0 || (truncated && name[length] == 0))
        return false;
    char *argument = name + length;
    if (*argument)
        *argument++ = 0;
    argument += strspn(argument, blanks);
    for (size_t last = strlen(argument); last > 0 && strchr(blanks, argument[last - 1]); last--)
        argument[last - 1] = 0;
    line->interpreter = name;
    line->argument = *argument ? argument : NULL;
    return true;
}
