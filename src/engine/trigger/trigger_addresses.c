#include "engine/trigger/trigger_addresses.h"

#include "base/file.h"
#include "base/memory.h"
#include "process/maps_line.h"
#include "process/process_files.h"

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

static void add_of_line(struct array *addresses, const struct trigger *trigger,
                        const struct maps_line *line)
{
    for (size_t i = 0; maps_line_is_code_of_file(line) && i < trigger->place_count; i++) {
        const struct trigger_place *place = &trigger->places[i];
        if (is_of(place, line->path) && place->file_offset >= line->file_offset &&
            place->file_offset - line->file_offset < line->end - line->start)
            *(uint64_t *)array_add(addresses) =
                line->start + (place->file_offset - line->file_offset);
    }
}

bool trigger_addresses(struct array *addresses, const struct trigger *trigger, const char *proc,
                       pid_t pid)
{
    char *path = memory_format("%s/%d/maps", proc, (int)pid);
    char *maps = file_read(path, NULL, NULL);
    char *rest = maps;
    for (struct maps_line line; maps_line_next(&rest, &line);)
        add_of_line(addresses, trigger, &line);
    bool read = maps != NULL;
    free(maps);
    free(path);
    return read;
}
