#include "engine/perf/perf_process.h"

#include "base/child_wait.h"
#include "base/file.h"
#include "base/memory.h"
#include "process/exec_failure.h"
#include "process/parent_death.h"
#include "process/pidfd.h"
#include "process/processes.h"
#include "recording/perf_script/perf_program.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- starting ---- */

/* What becomes of the child. */
struct start {
    char *const *arguments;
    const struct signals *signals;
    const int *inherited;
    size_t inherited_count;
};

static _Noreturn void become(const struct start *start, int messages, pid_t parent, int failures)
{
    setpgid(0, 0);
    if (!parent_death_signal(parent, SIGTERM))
        _exit(127);
    int nothing = open("/dev/null", O_RDONLY);
    dup2(nothing, STDIN_FILENO);
    dup2(messages, STDOUT_FILENO);
    dup2(messages, STDERR_FILENO);
    for (size_t i = 0; i < start->inherited_count; i++)
        if (start->inherited[i] >= 0)
            fcntl(start->inherited[i], F_SETFD, 0);
    setenv("PAGER", "cat", 1);
    setenv("LC_ALL", "C", 1);
    signals_restore_in_child(start->signals);
    execv(start->arguments[0], start->arguments);
    exec_failure_report(failures);
}

static bool cannot_start(const char *name, int reason, struct error *error)
{
    return error_set_errno(error, ERROR_IO, reason, "cannot start %s", name);
}

static bool begin(struct perf_process *process, const struct start *start, struct error *error)
{
    int failures[2];
    if (pipe2(failures, O_CLOEXEC) != 0)
        return cannot_start(start->arguments[0], errno, error);
    pid_t parent = getpid();
    process->pid = fork();
    if (process->pid == 0)
        become(start, process->messages, parent, failures[1]);
    int reason = errno;
    close(failures[1]);
    if (process->pid > 0)
        reason = exec_failure_wait(failures[0]);
    close(failures[0]);
    if (reason && process->pid > 0)
        waitpid(process->pid, NULL, 0);
    if (process->pid < 0 || reason)
        return cannot_start(start->arguments[0], reason, error);
    process->descriptor = pidfd_of(process->pid);
    if (process->descriptor >= 0)
        return true;
    reason = errno;
    kill(process->pid, SIGKILL);
    waitpid(process->pid, NULL, 0);
    return error_set_errno(error, ERROR_UNSUPPORTED, reason, "cannot watch perf");
}

bool perf_process_start(struct perf_process *process, char *const *arguments,
                        const struct signals *signals, const int *inherited, size_t inherited_count,
                        struct error *error)
{
    *process = (struct perf_process){.descriptor = -1};
    process->messages = memfd_create("perf messages", MFD_CLOEXEC);
    if (process->messages < 0)
        return cannot_start(arguments[0], errno, error);
    fcntl(process->messages, F_SETFL, O_APPEND); /* reading moves the place, writing does not */
    const struct start start = {arguments, signals, inherited, inherited_count};
    if (begin(process, &start, error))
        return true;
    close(process->messages);
    return false;
}

void perf_process_reap(struct perf_process *process)
{
    process->status = child_wait(process->pid);
    process->ended = true;
}

void perf_process_free(struct perf_process *process)
{
    close(process->descriptor);
    close(process->messages);
}

void perf_process_signal(const struct perf_process *process, int number)
{
    if (!process->ended)
        pidfd_signal(process->descriptor, process->pid, number, NULL);
}

/* ---- what it does ---- */

/* The caller frees; NULL when the kernel does not say. */
static char *read_proc(const struct perf_process *process, const char *name)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/%s", (int)process->pid, name);
    return file_read(path, NULL, NULL);
}

uint64_t perf_process_work(const struct perf_process *process)
{
    char *text = read_proc(process, "stat");
    /* The name, in parentheses, may hold anything; utime and stime are the 12th and 13th words
     * after it. */
    char *at = text ? strrchr(text, ')') : NULL;
    unsigned long user = 0, system = 0;
    if (at)
        sscanf(at + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &user, &system);
    free(text);
    return user + system;
}

bool perf_process_is_busy(const struct perf_process *process)
{
    char state = thread_state(process->pid, process->pid);
    return state == 'R' || state == 'D';
}

bool perf_process_waits(const struct perf_process *process)
{
    char *text = read_proc(process, "syscall");
    unsigned long number, descriptors, count, timeout;
    bool waits = text &&
                 sscanf(text, "%lu %lx %lx %lx", &number, &descriptors, &count, &timeout) == 4 &&
                 number == SYS_poll && (int)timeout == -1;
    free(text);
    return waits;
}

/* ---- what it says ---- */

static bool is_chatter(const char *line)
{
    static const char *const always[] = {"[ perf record: ", "Events enabled", "Events disabled",
                                         "libperf: Miscounted nr_mmaps"};
    for (size_t i = 0; i < sizeof always / sizeof *always; i++)
        if (strncmp(line, always[i], strlen(always[i])) == 0)
            return true;
    return *line == 0;
}

char *perf_process_words(const struct perf_process *process)
{
    char *text = perf_program_last_words(process->messages);
    char *kept = memory_copy_string("");
    for (char *rest = text, *line; (line = strsep(&rest, "\n"));) {
        if (is_chatter(line))
            continue;
        char *longer = memory_format("%s%s%s", kept, *kept ? "\n" : "", line);
        free(kept);
        kept = longer;
    }
    free(text);
    return kept;
}
