#include "engine/translator/inject/attach_refusals.h"

#include "base/file.h"
#include "base/memory.h"
#include "engine/translator/inject/inject.h"
#include "engine/translator/inject/installed_filters.h"
#include "engine/translator/inject/stopped_threads.h"
#include "process/processes.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <unistd.h>

enum {
    CODE_SEGMENT_64 = 0x33, /* of user space */
    FLAG_TRAP = 0x100,
    GET_DISPATCH = 0x4211, /* PTRACE_GET_SYSCALL_USER_DISPATCH_CONFIG, Linux 6.4 */
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
    if (state && *state == 'Z' && number_of(status, "\nThreads:\t") > 1)
        return error_set(error, ERROR_UNSUPPORTED,
                         "its first thread has ended, and with it what /proc shows of its memory");
    if (state && (*state == 'Z' || *state == 'X'))
        return error_set(error, ERROR_NOT_FOUND, "it has ended");
    if (tracer && !is_stopper((pid_t)tracer))
        return error_set(error, ERROR_UNSUPPORTED,
                         "process %lu, a debugger or another magic-trace, traces it already",
                         tracer);
    if (state && *state == 'T')
        return error_set(error, ERROR_UNSUPPORTED, "it is stopped by a signal. Continue it first");
    unsigned long parent = number_of(status, "\nPPid:\t");
    if (parent && process_memory_is_same(pid, (pid_t)parent))
        return error_set(
            error, ERROR_UNSUPPORTED,
            "process %lu has made it by vfork and shares its memory until it executes a "
            "program. Attach to it then",
            parent);
    if (has_word(value_of(status, "\nx86_Thread_features:\t"), "shstk"))
        return error_set(error, ERROR_UNSUPPORTED, "it uses a shadow stack");
    return true;
}

/* ---- other ---- */

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

/* `filtered`: as of attach_allows_process. */
static bool allows(pid_t pid, bool *filtered, struct error *error)
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
    if (!ok)
        return false;
    if (is_32_bit(pid))
        return error_set(error, ERROR_UNSUPPORTED, "it is a 32-bit program");
    int mode = installed_seccomp_mode(pid);
    *filtered = mode != SECCOMP_MODE_DISABLED && !installed_filters_are_ours(pid);
    return mode != SECCOMP_MODE_STRICT ||
           error_set(error, ERROR_UNSUPPORTED, "a thread of it is in seccomp strict mode");
}

/* They are stopped for a moment. */
static bool filters_allow(pid_t pid, struct error *error)
{
    struct stopped_threads stopped;
    if (!threads_stop(&stopped, pid, error))
        return false;
    bool allow = true;
    for (size_t i = 0; allow && i < stopped.threads.count; i++) {
        const struct stopped_thread *thread = array_at(&stopped.threads, i);
        allow = installed_filters_allow(thread->tid, error);
    }
    threads_go_on(&stopped);
    return allow;
}

bool attach_is_likely(pid_t pid, struct error *error)
{
    bool filtered;
    if (!allows(pid, &filtered, error))
        return false;
    uid_t user;
    if (geteuid() != 0 && process_user(pid, &user) && user != geteuid())
        return error_set(error, ERROR_UNSUPPORTED,
                         "it runs as another user. Attach as root or as that user");
    return !filtered || filters_allow(pid, error);
}

bool attach_allows_list(const pid_t *pids, size_t count, struct error *error)
{
    for (size_t i = 0; i < count; i++)
        if (pids[i] == getpid())
            return error_set(error, ERROR_UNSUPPORTED,
                             "cannot attach to process %d: that is magic-trace itself.",
                             (int)pids[i]);
    for (size_t i = 1; i < count; i++)
        if (!process_namespaces_are_same(pids[0], pids[i]))
            return error_set(error, ERROR_UNSUPPORTED,
                             "Processes %d and %d run in different pid namespaces, where the same "
                             "numbers mean different processes. Attach to one of them at a time.",
                             (int)pids[0], (int)pids[i]);
    return true;
}

bool attach_allows_process(const struct translator_arena *arena, pid_t pid, bool *filtered,
                           struct error *error)
{
    return allows(pid, filtered, error) && inject_has_space(pid, arena->size, error);
}

/* System calls that are made in such a thread for the attach come from where its program makes none: the kernel answers with
 * SIGSYS, and ends the process, because the thread blocks signals meanwhile. struct ptrace_sud_config of linux/ptrace.h. */
static bool dispatches_its_calls(pid_t tid)
{
    struct {
        uint64_t mode, selector, start, size;
    } dispatch;
    long got = ptrace((enum __ptrace_request)GET_DISPATCH, tid, (void *)sizeof dispatch, &dispatch);
    return got == 0 && dispatch.mode != PR_SYS_DISPATCH_OFF;
}

bool attach_allows_state(pid_t tid, const struct user_regs_struct *registers, struct error *error)
{
    if (registers->cs != CODE_SEGMENT_64)
        return error_set(error, ERROR_UNSUPPORTED, "it runs 32-bit code");
    if (registers->gs_base != 0 || registers->gs != 0)
        return error_set(error, ERROR_UNSUPPORTED,
                         "it uses the gs segment (or another magic-trace traces it)");
    if (registers->eflags & FLAG_TRAP)
        return error_set(error, ERROR_UNSUPPORTED, "it steps through itself (trap flag)");
    if (dispatches_its_calls(tid))
        return error_set(error, ERROR_UNSUPPORTED,
                         "it dispatches its system calls to itself (PR_SET_SYSCALL_USER_DISPATCH)");
    return true;
}
