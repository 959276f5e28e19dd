#include "base/own_file.h"

#include "base/file.h"
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char own_file_installed_folder[] = MAGIC_TRACE_INSTALLED_LIBDIR "/magic-trace";

/* Relative to the binary's directory: lib is a sibling of bin, or has the distribution's own name,
 * as it was configured. */
static const char *const folders_beside[] = {
    "../" MAGIC_TRACE_LIBDIR "/magic-trace",
    "../lib/magic-trace",
};

static char *take_readable(char *candidate)
{
    char *real = access(candidate, R_OK) == 0 ? realpath(candidate, NULL) : NULL;
    free(candidate);
    return real;
}

static char *find_beside(const char *binary_folder, const char *name, const char *build_folder)
{
    char *found = take_readable(memory_format("%s/%s/%s", binary_folder, build_folder, name));
    for (size_t i = 0; !found && i < sizeof folders_beside / sizeof *folders_beside; i++)
        found = take_readable(memory_format("%s/%s/%s", binary_folder, folders_beside[i], name));
    return found;
}

char *own_file_binary(void)
{
    return file_read_link("/proc/self/exe");
}

char *own_file_find(const char *name, const char *build_folder)
{
    char *binary = own_file_binary(), *found = NULL;
    if (binary) {
        *strrchr(binary, '/') = 0;
        found = find_beside(binary, name, build_folder);
    }
    free(binary);
    return found ? found : take_readable(memory_format("%s/%s", own_file_installed_folder, name));
}
