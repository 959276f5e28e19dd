#include "temporary_folder.h"

#include "base/file.h"
#include "base/memory.h"

#include <stdlib.h>

static char folder[] = "/tmp/magic-trace-output-test-XXXXXX";

int temporary_folder_make(void **state)
{
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

int temporary_folder_remove(void **state)
{
    (void)state;
    return file_remove_tree(folder, NULL) ? 0 : -1;
}

char *temporary_folder_path(const char *name)
{
    return memory_format("%s/%s", folder, name);
}
