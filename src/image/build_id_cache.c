#include "image/build_id_cache.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static char *cache_folder(void)
{
    const char *named = getenv("PERF_BUILDID_DIR"), *home = getenv("HOME");
    if (named && *named)
        return memory_copy_string(named);
    return home && *home ? memory_format("%s/.debug", home) : NULL;
}

static char *existing_file(char *path)
{
    struct stat status;
    if (stat(path, &status) == 0 && S_ISREG(status.st_mode))
        return path;
    free(path);
    return NULL;
}

char *build_id_cache_find(const struct build_id *id)
{
    /* Of today's perf an entry is a folder with one of these; before Linux 4.12 it was the file. */
    static const char *const names[] = {"/elf", "/vdso", ""};
    char text[BUILD_ID_TEXT_SIZE];
    char *folder = id->size > 1 ? cache_folder() : NULL;
    if (!folder)
        return NULL;
    build_id_format(id, text);
    char *found = NULL;
    for (size_t i = 0; !found && i < sizeof names / sizeof *names; i++)
        found = existing_file(
            memory_format("%s/.build-id/%.2s/%s%s", folder, text, text + 2, names[i]));
    free(folder);
    return found;
}
