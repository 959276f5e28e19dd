#include "perf_event/untraced.h"

#include "base/file.h"
#include "perf_event/record_layouts.h"
#include "recording/flags.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct named_process {
    uint32_t pid;
    const char *name; /* in untraced.memory */
};

void untraced_begin(struct untraced *untraced, bool threads, bool children)
{
    *untraced = (struct untraced){
        .threads = threads,
        .children = children,
        .found = array_of(sizeof(struct session_untraced)),
        .named = array_of(sizeof(struct named_process)),
    };
}

void untraced_free(struct untraced *untraced)
{
    array_free(&untraced->found);
    array_free(&untraced->named);
    arena_free(&untraced->memory);
}

static struct session_untraced *find(const struct untraced *untraced, uint32_t pid)
{
    for (size_t i = untraced->found.count; i-- > 0;) {
        struct session_untraced *known = array_at(&untraced->found, i);
        if (known->pid == pid)
            return known;
    }
    return NULL;
}

/* The newest reported name; NULL: none. */
static const char *name_handled(const struct untraced *untraced, uint32_t pid)
{
    for (size_t i = untraced->named.count; i-- > 0;) {
        const struct named_process *named = array_at(&untraced->named, i);
        if (named->pid == pid)
            return named->name;
    }
    return NULL;
}

/* Its name, as far as known; NULL: it ended before it got one. */
static const char *name_of(struct untraced *untraced, uint32_t pid)
{
    char path[64];
    const char *handled = name_handled(untraced, pid);
    if (handled)
        return handled;
    snprintf(path, sizeof path, "/proc/%u/comm", pid);
    char *name = file_read(path, NULL, NULL);
    if (!name)
        return NULL;
    name[strcspn(name, "\n")] = 0;
    const char *kept = arena_copy_string(&untraced->memory, name);
    free(name);
    return kept;
}

/* Counts one more thread of the process. */
static void add(struct untraced *untraced, uint32_t pid, const char *flag)
{
    struct session_untraced *known = find(untraced, pid);
    if (!known) {
        known = array_add(&untraced->found);
        known->pid = pid;
        known->name = name_of(untraced, pid);
        known->flag = flag;
    }
    known->threads++;
}

void untraced_add_thread(struct untraced *untraced, pid_t pid)
{
    add(untraced, (uint32_t)pid, FLAG_MULTI_THREAD);
}

static void handle_creation(struct untraced *untraced, const struct birth_record *birth)
{
    bool is_thread = birth->pid == birth->parent_pid;
    const struct session_untraced *process = find(untraced, birth->pid);
    bool of_child = process && strcmp(process->flag, FLAG_FOLLOW) == 0;
    if (is_thread && (of_child || !untraced->threads))
        add(untraced, birth->pid, FLAG_MULTI_THREAD);
    else if (!is_thread && !untraced->children)
        add(untraced, birth->pid, FLAG_FOLLOW);
}

/* A process takes the name of its program. `room`: bytes for the name. */
static void handle_name(struct untraced *untraced, const struct named_record *named, size_t room)
{
    struct session_untraced *process = find(untraced, named->pid);
    const char *name = (const char *)(named + 1);
    if (named->pid != named->tid || strnlen(name, room) == room)
        return;
    const char *kept = arena_copy_string(&untraced->memory, name);
    if (process)
        process->name = kept;
    else
        *(struct named_process *)array_add(&untraced->named) =
            (struct named_process){named->pid, kept};
}

void untraced_handle(struct untraced *untraced, const struct perf_event_header *record)
{
    const struct birth_record *birth = body_of(record, sizeof *birth);
    const struct named_record *named = body_of(record, sizeof *named);
    if (record->type == PERF_RECORD_FORK && birth)
        handle_creation(untraced, birth);
    else if (record->type == PERF_RECORD_COMM && named)
        handle_name(untraced, named, record->size - sizeof *record - sizeof *named);
}
