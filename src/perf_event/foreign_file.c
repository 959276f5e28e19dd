#include "perf_event/foreign_file.h"

#include "base/file.h"
#include "base/memory.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Under another name first, so that an incomplete copy is never found. */
static void write_copy(const char *copy, const struct file_view *view)
{
    char *unfinished = memory_format("%s.unfinished", copy);
    char *slash = strrchr(unfinished, '/');
    *slash = 0;
    bool has_folder = file_make_directories(unfinished, NULL);
    *slash = '/';
    int to = has_folder ? file_create_private(unfinished, NULL) : -1;
    bool ok = to >= 0 && file_write_all(to, view->bytes, view->size, unfinished, NULL);
    if (to >= 0)
        close(to);
    if (to >= 0 && (!ok || rename(unfinished, copy) != 0))
        unlink(unfinished);
    free(unfinished);
}

static void copy_file(int from, const char *path, const char *copy)
{
    struct file_view view;
    if (access(copy, F_OK) == 0 || !file_map_descriptor(&view, from, path, NULL))
        return;
    write_copy(copy, &view);
    file_unmap(&view);
}

static bool is_same(const struct stat *a, const struct stat *b)
{
    return a->st_ino == b->st_ino && a->st_dev == b->st_dev;
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
    if (stat(path, &here) != 0 || !is_same(&here, &there)) {
        copy = memory_format("%s/images/file-%lx-%lx%s", directory, (unsigned long)mapped->st_dev,
                             (unsigned long)mapped->st_ino, path);
        if (theirs >= 0)
            copy_file(theirs, path, copy);
    }
    if (theirs >= 0)
        close(theirs);
    return copy;
}
