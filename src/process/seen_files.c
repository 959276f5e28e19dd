#include "process/seen_files.h"

#include "base/file.h"
#include "process/processes.h"

/* What one container's processes see. */
struct held {
    struct process_files files;
    struct stat root, mounts;
};

struct seen_files seen_files_begin(void)
{
    return (struct seen_files){.processes = array_of(sizeof(struct seen_by)),
                               .held = array_of(sizeof(struct held))};
}

void seen_files_free(struct seen_files *seen)
{
    for (size_t i = 0; i < seen->held.count; i++)
        process_files_release(&((struct held *)array_at(&seen->held, i))->files);
    array_free(&seen->held);
    array_free(&seen->processes);
}

const struct seen_by *seen_files_of(const struct seen_files *seen, uint32_t number)
{
    size_t index = array_find_key(&seen->processes, number);
    const struct seen_by *found =
        index < seen->processes.count ? array_at(&seen->processes, index) : NULL;
    return found && found->pid == number ? found : NULL;
}

static void set(struct seen_files *seen, const struct seen_by *by)
{
    size_t index = array_find_key(&seen->processes, by->pid);
    bool known = seen_files_of(seen, by->pid) != NULL;
    struct seen_by *entry =
        known ? array_at(&seen->processes, index) : array_insert(&seen->processes, index);
    *entry = *by;
}

static struct process_files hold_once(struct seen_files *seen, struct process_files files)
{
    struct held new = {.files = files};
    if (files.root < 0 || files.mounts < 0 || fstat(files.root, &new.root) != 0 ||
        fstat(files.mounts, &new.mounts) != 0) {
        process_files_release(&files);
        return files;
    }
    for (size_t i = 0; i < seen->held.count; i++) {
        const struct held *known = array_at(&seen->held, i);
        if (file_is_same(&known->root, &new.root) && file_is_same(&known->mounts, &new.mounts)) {
            process_files_release(&files);
            return known->files;
        }
    }
    array_add_all(&seen->held, &new, 1);
    return files;
}

void seen_files_add(struct seen_files *seen, uint32_t number, pid_t pid)
{
    struct seen_by by = {.pid = number, .foreign = !process_files_are_ours(pid)};
    by.has_user = process_user(pid, &by.user);
    by.files = hold_once(seen, process_files_hold(pid));
    set(seen, &by);
}

void seen_files_add_unreachable(struct seen_files *seen, uint32_t number)
{
    const struct seen_by by = {.pid = number, .foreign = true, .files = {-1, -1}};
    if (!seen_files_of(seen, number))
        set(seen, &by);
}

void seen_files_add_child(struct seen_files *seen, uint32_t number, uint32_t parent)
{
    const struct seen_by *known = seen_files_of(seen, parent);
    if (!known || seen_files_of(seen, number))
        return;
    struct seen_by by = *known;
    by.pid = number;
    set(seen, &by);
}
