#include "made_folder.h"

#include "base/file.h"
#include "base/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void must(bool worked, const char *what)
{
    if (worked)
        return;
    perror(what);
    abort();
}

void made_folder_begin(struct made_folder *folder)
{
    strcpy(folder->path, "/tmp/magic-trace-engine-test.XXXXXX");
    must(mkdtemp(folder->path) != NULL, folder->path);
}

void made_folder_end(const struct made_folder *folder)
{
    must(file_remove_tree(folder->path, NULL), folder->path);
}

char *made_folder_path(const struct made_folder *folder, const char *name)
{
    return memory_format("%s/%s", folder->path, name);
}

void made_folder_make(const struct made_folder *folder, const char *name)
{
    char *path = made_folder_path(folder, name);
    must(file_make_directories(path, NULL), path);
    free(path);
}

void made_folder_put_bytes(const struct made_folder *folder, const char *name, const void *bytes,
                           size_t size)
{
    char *path = made_folder_path(folder, name);
    char *slash = strrchr(path, '/');
    *slash = 0;
    must(file_make_directories(path, NULL), path);
    *slash = '/';
    FILE *file = fopen(path, "w");
    must(file && fwrite(bytes, 1, size, file) == size && fclose(file) == 0, path);
    free(path);
}

void made_folder_put(const struct made_folder *folder, const char *name, const char *text)
{
    made_folder_put_bytes(folder, name, text, strlen(text));
}
