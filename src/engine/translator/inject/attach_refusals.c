#include "engine/translator/inject/attach_refusals.h"

#include "base/file.h"
#include "base/memory.h"
#include "engine/translator/inject/inject.h"
#include "engine/translator/inject/stopped_threads.h"
#include "process/processes.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    CODE_SEGMENT_64 = 0x33, /* of user space */
    FLAG_TRAP = 0x100,
};

/* ---- /proc/PID/status ---- */

/* The text after `key`; NULL: the key is absent. */
static const char *value_of(const char *status, const char *key)
{
    const char *line = strstr(status, key);
    return line ? line + strlen(key) : NULL;
}

static unsigned long number_of(const char *status, const char *key)
{
    const char *value = value_of(status, key);
    return value ? strtoul(value, NULL, 10) : 0;
}

/* The line ends before the next one's key. */
static bool has_word(const char *value, const char *word)
{
    const char *found = value ? strstr(value, word) : NULL;
    const char *end = value ? strchr(value, '\n') : NULL;
    return found && (!end || found < end);
}

/* It does not last. */
static bool is_stopper(pid_t tracer)
{
    char name[16];
    process_name(tracer, name, sizeof name);
    return strcmp(name, THREADS_STOPPER) == 0;
}

static bool allows_status(const char *status, pid_t pid, struct error *error)
{
    unsigned long tracer = number_of(status, "\nTracerPid:\t"),
                  group = number_of(status, "\nTgid:\t");
    const char *state = value_of(status, "\nState:\t");
    if (group != (unsigned long)pid)
        return error_set(error, ERROR_NOT_FOUND, "that is a thread of process %lu", group);
    if (state && (*state == 'Z' || *state == 'X'))
        return error_set(error, ERROR_NOT_FOUND, "it has ended");
    if (tracer && !is_stopper((pid_t)tracer))
        return error_set(error, ERROR_UNSUPPORTED,
                         "process %lu, a debugger or another magic-trace, traces it already",
                         tracer);
    if (state && *state == 'T')
        return error_set(error, ERROR_UNSUPPORTED, "it is stopped by a signal. Continue it first");
    if (number_of(status, "\nSeccomp:\t") != 0)
        return error_set(error, ERROR_UNSUPPORTED,
                         "it has a seccomp filter, which may kill it for the system calls of the "
                         "translator");
    if (has_word(value_of(status, "\nx86_Thread_features:\t"), "shstk"))
        return error_set(error, ERROR_UNSUPPORTED, "it uses a shadow stack");
    return true;
}

/* ---- other ---- */

static bool is_in_our_namespace(pid_t pid)
{
    struct stat ours, theirs;
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/ns/pid", (int)pid);
    return stat("/proc/self/ns/pid", &ours) != 0 || stat(path, &theirs) != 0 ||
           (ours.st_ino == theirs.st_ino && ours.st_dev == theirs.st_dev);
}

static bool allows(pid_t pid, struct error *error)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
    char *status = file_read(path, NULL, NULL);
    if (!status)
        return error_set(error, ERROR_NOT_FOUND, "there is no such process");
    bool ok = allows_status(status, pid, error);
    free(status);
    if (ok && pid == getpid())
        return error_set(error, ERROR_UNSUPPORTED, "that is magic-trace itself");
    if (ok && !is_in_our_namespace(pid))
        return error_set(error, ERROR_UNSUPPORTED, "it runs in another pid namespace");
    return ok;
}

static bool is_32_bit(pid_t pid)
{
    char path[64];
    unsigned char start[EI_CLASS + 1] = {0};
    snprintf(path, sizeof path, "/proc/%d/exe", (int)pid);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    bool read = file >= 0 && file_read_exactly(file, start, sizeof start);
    if (file >= 0)
        close(file);
    return read && start[EI_CLASS] == ELFCLASS32;
}

static bool is_of_another_user(pid_t pid)
{
    struct stat process;
    char path[64];
    snprintf(path, sizeof path, "/proc/%d", (int)pid);
    return stat(path, &process) == 0 && process.st_uid != 0 && process.st_uid != geteuid();
}

static bool has_another_root(pid_t pid)
{
    struct stat ours, theirs;
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/root/", (int)pid);
    return stat("/", &ours) == 0 && stat(path, &theirs) == 0 &&
           (ours.st_ino != theirs.st_ino || ours.st_dev != theirs.st_dev);
}

bool attach_is_likely(pid_t pid, struct error *error)
{
    if (!allows(pid, error))
        return false;
    if (is_of_another_user(pid))
        return error_set(error, ERROR_UNSUPPORTED, "it runs as another user");
    if (has_another_root(pid))
        return error_set(error, ERROR_UNSUPPORTED, "it runs in another root directory");
    return !is_32_bit(pid) || error_set(error, ERROR_UNSUPPORTED, "it is a 32-bit program");
}

bool attach_allows_process(const struct translator_arena *arena, pid_t pid, struct error *error)
{
    struct injection injection = {.arena = arena->path, .arena_size = arena->size};
    return allows(pid, error) && inject_can_load(pid, &injection, error);
}

bool attach_allows_state(const struct user_regs_struct *registers, struct error *error)
{
    if (registers->cs != CODE_SEGMENT_64)
        return error_set(error, ERROR_UNSUPPORTED, "it runs 32-bit code");
    if (registers->gs_base != 0 || registers->gs != 0)
        return error_set(error, ERROR_UNSUPPORTED,
                         "it uses the gs segment (or another magic-trace traces it)");
    if (registers->eflags & FLAG_TRAP)
        return error_set(error, ERROR_UNSUPPORTED, "it steps through itself (trap flag)");
    return true;
}
