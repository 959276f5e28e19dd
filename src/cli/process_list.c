#include "cli/process_list.h"

#include "base/file.h"
#include "base/memory.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

/* Arguments are separated by NULs; a kernel thread has none (proc(5)). */
static void add_process(struct process_list *list, pid_t pid)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/cmdline", (int)pid);
    size_t size = 0;
    char *line = file_read(path, &size, NULL);
    for (size_t i = 0; i < size; i++)
        if ((unsigned char)line[i] < ' ')
            line[i] = ' ';
    while (size > 0 && line[size - 1] == ' ')
        line[--size] = 0;
    if (size > 0) {
        char *name = memory_format("%d %s", (int)pid, line);
        *(pid_t *)array_add(&list->pids) = pid;
        *(const char **)array_add(&list->names) = arena_copy_string(&list->memory, name);
        free(name);
    }
    free(line);
}

static int by_number(const void *left, const void *right)
{
    const pid_t *a = left, *b = right;
    return (*a > *b) - (*a < *b);
}

void process_list_read(struct process_list *list)
{
    *list =
        (struct process_list){.pids = array_of(sizeof(pid_t)), .names = array_of(sizeof(char *))};
    struct array all = array_of(sizeof(pid_t));
    DIR *entries = opendir("/proc");
    for (struct dirent *entry; entries && (entry = readdir(entries));) {
        pid_t pid = (pid_t)atoi(entry->d_name);
        if (pid > 0 && pid != getpid())
            *(pid_t *)array_add(&all) = pid;
    }
    if (entries)
        closedir(entries);
    if (all.count > 1)
        qsort(all.elements, all.count, sizeof(pid_t), by_number);
    for (size_t i = 0; i < all.count; i++)
        add_process(list, *(pid_t *)array_at(&all, i));
    array_free(&all);
}

void process_list_free(struct process_list *list)
{
    array_free(&list->pids);
    array_free(&list->names);
    arena_free(&list->memory);
}
