#include "perf_event/foreign_file.h"

#include "base/file.h"
#include "base/memory.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool make_folder_of(const char *path)
{
    char *folder = memory_copy_string(path);
    *strrchr(folder, '/') = 0;
    bool made = file_make_directories(folder, NULL);
    free(folder);
    return made;
}

static void copy_file(int from, const char *path, const char *copy)
{
    struct file_view view;
    if (access(copy, F_OK) == 0 || !make_folder_of(copy) ||
        !file_map_descriptor(&view, from, path, NULL))
        return;
    file_replace(copy, view.bytes, view.size, NULL);
    file_unmap(&view);
}

char *foreign_file_keep(const struct process_files *files, const char *directory, const char *path,
                        const struct stat *mapped)
{
    struct stat here, there = *mapped;
    if (files->root < 0)
        return NULL;
    int theirs = process_files_open(files, path);
    if (theirs >= 0)
        fstat(theirs, &there);
    char *copy = NULL;
    if (stat(path, &here) != 0 || !file_is_same(&here, &there)) {
        copy = memory_format("%s/images/file-%lx-%lx%s", directory, (unsigned long)mapped->st_dev,
                             (unsigned long)mapped->st_ino, path);
        if (theirs >= 0)
            copy_file(theirs, path, copy);
    }
    if (theirs >= 0)
        close(theirs);
    return copy;
}
