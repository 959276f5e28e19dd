#include "cli/installed_files.h"

#include <string.h>

const struct installed_file *installed_file_find(const char *path)
{
    for (size_t i = 0; i < installed_file_count; i++)
        if (strcmp(installed_files[i].path, path) == 0)
            return &installed_files[i];
    return NULL;
}
