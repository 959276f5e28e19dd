#include "process/processes.h"

#include "base/array.h"
#include "base/file.h"
#include "process/maps_line.h"

#include <ctype.h>
#include <dirent.h>
#include <elf.h>
#include <linux/kcmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* State and parent from a stat file of /proc; the name before them may hold anything, parentheses
 * too. */
static bool read_stat(const char *path, char *state, pid_t *parent)
{
    char *text = file_read(path, NULL, NULL);
    if (!text)
        return false;
    char *after_name = strrchr(text, ')');
    bool ok = after_name && sscanf(after_name + 1, " %c %d", state, parent) == 2;
    free(text);
    return ok;
}

static pid_t parent_of(pid_t pid, char *state)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    pid_t parent;
    return read_stat(path, state, &parent) ? parent : 0;
}

bool process_descends_from(pid_t pid, pid_t ancestor)
{
    /* Bounded, because the tree may change during the walk. */
    for (int level = 0; pid > 1 && level < 1000; level++) {
        if (pid == ancestor)
            return true;
        char state;
        pid = parent_of(pid, &state);
    }
    return false;
}

char thread_state(pid_t pid, pid_t tid)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/task/%d/stat", pid, tid);
    char state;
    pid_t parent;
    return read_stat(path, &state, &parent) ? state : 0;
}

uint64_t thread_processor_time(pid_t pid, pid_t tid)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/task/%d/schedstat", pid, tid);
    char *text = file_read(path, NULL, NULL);
    uint64_t time = text ? strtoull(text, NULL, 10) : 0;
    free(text);
    return time;
}

void process_name(pid_t pid, char *name, size_t size)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/comm", pid);
    char *text = file_read(path, NULL, NULL);
    snprintf(name, size, "%.*s", text ? (int)strcspn(text, "\n") : 0, text ? text : "");
    free(text);
}

uint64_t process_status_number(pid_t pid, const char *key, int base)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
    char *text = file_read(path, NULL, NULL);
    const char *line = text ? strstr(text, key) : NULL;
    uint64_t number = line ? strtoull(line + strlen(key), NULL, base) : 0;
    free(text);
    return number;
}

pid_t process_number_within(pid_t tid)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/status", (int)tid);
    char *text = file_read(path, NULL, NULL);
    static const char key[] = "\nNSpid:";
    char *end = text ? strstr(text, key) : NULL;
    unsigned long number = 0;
    end = end ? end + strlen(key) : NULL;
    while (end && *end == '\t')
        number = strtoul(end + 1, &end, 10);
    free(text);
    return (pid_t)number;
}

bool process_namespaces_are_same(pid_t pid, pid_t other)
{
    struct stat one, two;
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/ns/pid", (int)pid);
    if (stat(path, &one) != 0)
        return true;
    snprintf(path, sizeof path, "/proc/%d/ns/pid", (int)other);
    return stat(path, &two) != 0 || file_is_same(&one, &two);
}

bool process_memory_is_same(pid_t pid, pid_t other)
{
    return syscall(SYS_kcmp, pid, other, KCMP_VM, 0, 0) == 0;
}

bool process_user(pid_t pid, uid_t *user)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
    char *status = file_read(path, NULL, NULL);
    const char *users = status ? strstr(status, "\nUid:") : NULL;
    bool known = users && sscanf(users, "\nUid: %*u %*u %*u %u", user) == 1;
    free(status);
    return known;
}

uint64_t process_auxiliary(pid_t pid, uint64_t type)
{
    char path[64];
    size_t size;
    snprintf(path, sizeof path, "/proc/%d/auxv", (int)pid);
    char *bytes = file_read(path, &size, NULL);
    const Elf64_auxv_t *entries = (const void *)bytes;
    uint64_t value = 0;
    for (size_t i = 0; bytes && i < size / sizeof *entries; i++)
        if (entries[i].a_type == type)
            value = entries[i].a_un.a_val;
    free(bytes);
    return value;
}

char *process_executable(pid_t pid)
{
    char link[64];
    snprintf(link, sizeof link, "/proc/%d/exe", (int)pid);
    return file_read_link(link);
}

/* Whether `argument` is `word`, or `word` followed by ",key=value" as in qemu's options. Two commas
 * stand for one comma of the value, and do not end the word. */
static bool begins_with_word(const char *argument, const char *word)
{
    size_t length = strlen(word);
    return strncmp(argument, word, length) == 0 &&
           (argument[length] == 0 || (argument[length] == ',' && argument[length + 1] != ','));
}

bool process_has_argument(pid_t pid, const void *word)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/cmdline", pid);
    size_t size;
    char *line = file_read(path, &size, NULL);
    if (!line)
        return false;
    bool found = false;
    for (char *argument = line; !found && argument < line + size; argument += strlen(argument) + 1)
        found = begins_with_word(argument, word);
    free(line);
    return found;
}

static char *read_maps(pid_t pid)
{
    char name[64];
    snprintf(name, sizeof name, "/proc/%d/maps", (int)pid);
    return file_read(name, NULL, NULL);
}

struct mapped_file mapped_file_at(const void *address)
{
    char *maps = read_maps(getpid()), *rest = maps;
    uint64_t sought = (uint64_t)(uintptr_t)address;
    struct mapped_file file = {0};
    for (struct maps_line line; file.inode == 0 && maps_line_next(&rest, &line);)
        if (sought >= line.start && sought < line.end)
            file = (struct mapped_file){line.device_major, line.device_minor, line.inode};
    free(maps);
    return file;
}

bool process_maps_file(pid_t pid, const void *file)
{
    const struct mapped_file *sought = file;
    if (sought->inode == 0)
        return false;
    char *maps = read_maps(pid), *rest = maps;
    bool found = false;
    for (struct maps_line line; !found && maps_line_next(&rest, &line);)
        found = line.inode == sought->inode && line.device_major == sought->device_major &&
                line.device_minor == sought->device_minor;
    free(maps);
    return found;
}

bool process_maps_nothing(pid_t pid, uint64_t start, uint64_t end)
{
    char *maps = read_maps(pid), *rest = maps;
    bool any = maps == NULL;
    for (struct maps_line line; !any && maps_line_next(&rest, &line);)
        any = line.start < end && line.end > start;
    free(maps);
    return !any;
}

bool process_has_descriptor(pid_t pid, const char *link)
{
    char folder[64], found[64];
    snprintf(folder, sizeof folder, "/proc/%d/fd", pid);
    DIR *descriptors = opendir(folder);
    if (!descriptors)
        return false;
    struct dirent *entry;
    bool has = false;
    while (!has && (entry = readdir(descriptors))) {
        ssize_t size = readlinkat(dirfd(descriptors), entry->d_name, found, sizeof found);
        has = size == (ssize_t)strlen(link) && memcmp(found, link, strlen(link)) == 0;
    }
    closedir(descriptors);
    return has;
}

void processes_find(struct array *pids, const struct process_test *test)
{
    DIR *processes = opendir("/proc");
    if (!processes)
        return;
    for (struct dirent *entry; (entry = readdir(processes));) {
        if (!isdigit((unsigned char)entry->d_name[0]))
            continue;
        pid_t pid = (pid_t)atoi(entry->d_name);
        char state;
        if (pid != getpid() && parent_of(pid, &state) != 0 && state != 'Z' &&
            test->holds(pid, test->context))
            *(pid_t *)array_add(pids) = pid;
    }
    closedir(processes);
}

/* The processes that are to be killed. */
struct killed_tree {
    pid_t program;
    const struct process_test *is_ours;
};

static bool is_of_tree(pid_t pid, const void *context)
{
    const struct killed_tree *tree = context;
    char state;
    /* As the subreaper, we become the parent of processes whose parent we kill. */
    return parent_of(pid, &state) == getpid() || process_descends_from(pid, tree->program) ||
           tree->is_ours->holds(pid, tree->is_ours->context);
}

void processes_kill_all(pid_t program, const struct process_test *is_ours)
{
    const struct killed_tree tree = {program, is_ours};
    const struct process_test is_killed = {is_of_tree, &tree};
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    /* Each round kills what the processes of the last round started before they died. The number is
     * bounded because a process that is stuck in the kernel does not die. */
    enum { ROUNDS = 100 };
    for (int round = 0; round < ROUNDS; round++) {
        struct array pids = array_of(sizeof(pid_t));
        processes_find(&pids, &is_killed);
        for (size_t i = 0; i < pids.count; i++)
            kill(*(pid_t *)array_at(&pids, i), SIGKILL);
        for (size_t i = 0; i < pids.count; i++) {
            pid_t pid = *(pid_t *)array_at(&pids, i);
            if (pid != program)
                waitpid(pid, NULL, WNOHANG);
        }
        bool none = pids.count == 0;
        array_free(&pids);
        if (none)
            break;
        usleep(1000);
    }
    prctl(PR_SET_CHILD_SUBREAPER, 0);
}
