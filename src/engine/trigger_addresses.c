#include "engine/trigger_addresses.h"

#include "base/file.h"
#include "base/memory.h"
#include "process/process_files.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* `path`: as the kernel gives it. */
static bool is_of(const struct trigger_place *place, const char *path)
{
    return strcmp(process_file_path_within(place->path), path) == 0;
}

bool trigger_is_in_file(const struct trigger *trigger, const char *path)
{
    for (size_t i = 0; i < trigger->place_count; i++)
        if (is_of(&trigger->places[i], path))
            return true;
    return false;
}

static void add_of_line(struct array *addresses, const struct trigger *trigger, const char *line)
{
    unsigned long start, end, offset;
    char permissions[8];
    int name = 0;
    if (sscanf(line, "%lx-%lx %7s %lx %*s %*s %n", &start, &end, permissions, &offset, &name) < 4 ||
        permissions[2] != 'x')
        return;
    for (size_t i = 0; i < trigger->place_count; i++) {
        const struct trigger_place *place = &trigger->places[i];
        if (is_of(place, line + name) && place->file_offset >= offset &&
            place->file_offset - offset < end - start)
            *(uint64_t *)array_add(addresses) = start + (place->file_offset - offset);
    }
}

bool trigger_addresses(struct array *addresses, const struct trigger *trigger, const char *proc,
                       pid_t pid)
{
    char *path = memory_format("%s/%d/maps", proc, (int)pid);
    char *maps = file_read(path, NULL, NULL);
    char *rest = maps;
    for (char *line; rest && (line = strsep(&rest, "\n")) != NULL;)
        add_of_line(addresses, trigger, line);
    bool read = maps != NULL;
    free(maps);
    free(path);
    return read;
}
