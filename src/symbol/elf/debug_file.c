#include "symbol/elf/debug_file.h"

#include "base/memory.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool has_servers(void)
{
    const char *servers = getenv("DEBUGINFOD_URLS");
    return servers && *servers;
}

static bool exists(const char *folder, const char *subfolder, const char *name)
{
    char *path = memory_format("%s%s/%s", folder, subfolder, name);
    bool found = access(path, F_OK) == 0;
    free(path);
    return found;
}

/* Whether there is a file of that name where libdwfl looks for the debug file of an object in
 * `folder`: there, in .debug, and below /usr/lib/debug in the folder or any end of its path. */
static bool exists_for(const char *folder, const char *name)
{
    if (exists(folder, "", name) || exists(folder, "/.debug", name) ||
        exists("/usr/lib/debug", "", name))
        return true;
    for (const char *end = folder; (end = strchr(end, '/')); end++)
        if (exists("/usr/lib/debug", end, name))
            return true;
    return false;
}

static bool exists_for_object(const char *object, const char *link)
{
    const char *slash = strrchr(object, '/');
    if (!slash)
        return true; /* a name of the kernel's: libdwfl knows what to do */
    char *folder = memory_format("%.*s", (int)(slash - object), object);
    char *name = link ? memory_copy_string(link) : memory_format("%s.debug", slash + 1);
    bool found = exists_for(folder, name);
    free(name);
    free(folder);
    return found;
}

/* Whether a file can be found by its name. */
static bool may_be_found(const char *object, const char *link)
{
    if (!object || exists_for_object(object, link))
        return true;
    char *resolved = realpath(object, NULL);
    bool found = resolved && exists_for_object(resolved, link);
    free(resolved);
    return found;
}

int debug_file_find(Dwfl_Module *module, void **user_data, const char *name, Dwarf_Addr start,
                    const char *object, const char *link, GElf_Word link_crc, char **found)
{
    bool is_copy = object && *name == '/' && strcmp(name, object) != 0;
    if (is_copy && may_be_found(name, link)) {
        int file = dwfl_standard_find_debuginfo(module, user_data, name, start, name, link,
                                                link_crc, found);
        if (file >= 0)
            return file;
    }
    if (has_servers() || may_be_found(object, link))
        return dwfl_standard_find_debuginfo(module, user_data, name, start, object, link, link_crc,
                                            found);
    errno = 0; /* a missing one is no error */
    return dwfl_build_id_find_debuginfo(module, user_data, name, start, object, link, link_crc,
                                        found);
}
