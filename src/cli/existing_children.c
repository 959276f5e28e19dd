#include "cli/existing_children.h"

#include "base/log.h"
#include "base/memory.h"
#include "cli/process_list.h"
#include "process/processes.h"
#include "recording/flags.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { NAMED_AT_MOST = 8 };

static bool is_among(const struct array *pids, pid_t pid)
{
    for (size_t i = 0; i < pids->count; i++)
        if (*(pid_t *)array_at(pids, i) == pid)
            return true;
    return false;
}

static bool descends(const struct array *pids, pid_t pid)
{
    for (size_t i = 0; i < pids->count; i++)
        if (process_descends_from(pid, *(pid_t *)array_at(pids, i)))
            return true;
    return false;
}

static void find(const struct array *pids, struct array *children)
{
    struct process_list list;
    process_list_read(&list);
    for (size_t i = 0; i < list.pids.count; i++) {
        pid_t pid = *(pid_t *)array_at(&list.pids, i);
        if (!is_among(pids, pid) && !process_descends_from(pid, getpid()) && descends(pids, pid))
            *(pid_t *)array_add(children) = pid;
    }
    process_list_free(&list);
}

/* "123 (cat), 124 (sh) and 7 more" */
static void put_names(FILE *text, const struct array *children)
{
    for (size_t i = 0; i < children->count && i < NAMED_AT_MOST; i++) {
        char name[64];
        pid_t pid = *(pid_t *)array_at(children, i);
        process_name(pid, name, sizeof name);
        fprintf(text, "%s%d (%s)", i ? ", " : "", (int)pid, name);
    }
    if (children->count > NAMED_AT_MOST)
        fprintf(text, " and %zu more", children->count - NAMED_AT_MOST);
}

static void put_numbers(FILE *text, const struct array *pids)
{
    for (size_t i = 0; i < pids->count; i++)
        fprintf(text, "%s%d", i ? "," : "", (int)*(pid_t *)array_at(pids, i));
}

static void report(const struct array *pids, const struct array *children)
{
    char *said = NULL;
    size_t size;
    FILE *text = open_memstream(&said, &size);
    if (!text)
        return;
    fputs("Child processes that run already are not recorded: ", text);
    put_names(text, children);
    fputs(". To record them, too: -pid ", text);
    put_numbers(text, pids);
    fputs(",", text);
    put_numbers(text, children);
    if (fclose(text) == 0)
        log_status("%s", said);
    free(said);
}

void existing_children_report(const struct array *pids)
{
    struct array children = array_of(sizeof(pid_t));
    find(pids, &children);
    if (children.count > 0)
        report(pids, &children);
    array_free(&children);
}
