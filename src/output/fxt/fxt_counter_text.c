#include "output/fxt/fxt_counter_text.h"

#include "base/memory.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* The argument of a counter without a unit. */
static const char no_unit[] = "value";

/* Where " (UNIT)" begins that ends the text; NULL: nowhere. */
static const char *find_unit(const char *text)
{
    const char *space = strrchr(text, ' ');
    if (!space || space == text || space[1] != '(' || text[strlen(text) - 1] != ')')
        return NULL;
    return space;
}

struct fxt_counter_name fxt_counter_split(const char *text, struct arena *memory)
{
    const char *unit = find_unit(text);
    if (!unit)
        return (struct fxt_counter_name){arena_copy_string(memory, text), no_unit};
    size_t length = (size_t)(unit - text);
    char *name = arena_copy_string(memory, text);
    name[length] = 0;
    return (struct fxt_counter_name){name, name + length + 1};
}

char *fxt_counter_join(const char *name, uint64_t id, const char *argument)
{
    char number[32] = "";
    if (id != 0)
        snprintf(number, sizeof number, " #%" PRIu64, id);
    if (*argument == 0 || strcmp(argument, no_unit) == 0)
        return memory_format("%s%s", name, number);
    return memory_format("%s%s %s", name, number, argument);
}
