#include "stack/death_text.h"

#include "base/memory.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static char *signal_name(uint32_t signal)
{
    const char *name = signal < INT32_MAX ? sigabbrev_np((int)signal) : NULL;
    return name ? memory_format("SIG%s", name) : memory_format("signal %" PRIu32, signal);
}

static char *place_text(const struct code_place *place)
{
    if (!place->function)
        return memory_copy_string("");
    if (!place->line.file)
        return memory_format(" in %s", place->function);
    return memory_format(" in %s (%s:%" PRIu32 ")", place->function, place->line.file,
                         place->line.line);
}

char *death_text(const struct session_death *death, const struct code_place *place)
{
    char *name = signal_name(death->signal);
    char *where = place_text(place);
    char *text = death->has_address
                     ? memory_format("killed by %s at 0x%" PRIx64 "%s", name, death->address, where)
                     : memory_format("killed by %s", name);
    free(name);
    free(where);
    return text;
}
