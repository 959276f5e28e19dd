#include "engine/translator/inject/stopped_threads.h"

#include "base/file.h"
#include "base/monotonic.h"
#include "process/debug_registers.h"
#include "process/processes.h"
#include "process/system_call_restart.h"
#include "process/trace_permission.h"

#include <ctype.h>
#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    PATIENCE_MS = 100,
    LONG_PATIENCE_MS = 20000,
    LOOK_NS = 20 * 1000,
    MOST_TRIES = 20,
    LOOKS_FOR_SIGNAL = 10,
    KERNEL_MASK_SIZE = 8,
    IO_WORKER = 0x10, /* PF_IO_WORKER of include/linux/sched.h */
    SYSCALL_SIZE = 2,
    FLAG_RESUME = 0x10000,
};

/* ---- what /proc says ---- */

/* Threads that have ended, and those of io_uring, which run no code of the program, cannot be stopped. */
static bool runs_code(pid_t pid, pid_t tid)
{
    char path[64], state = 0;
    unsigned flags = 0;
    snprintf(path, sizeof path, "/proc/%d/task/%d/stat", (int)pid, (int)tid);
    char *text = file_read(path, NULL, NULL);
    const char *end = text ? strrchr(text, ')') : NULL;
    bool read = end && sscanf(end, ") %c %*d %*d %*d %*d %*d %u", &state, &flags) == 2;
    free(text);
    return read && state != 'Z' && state != 'X' && !(flags & IO_WORKER);
}

static struct stopped_thread *find(struct stopped_threads *stopped, pid_t tid)
{
    for (size_t i = 0; i < stopped->threads.count; i++) {
        struct stopped_thread *thread = array_at(&stopped->threads, i);
        if (thread->tid == tid)
            return thread;
    }
    return NULL;
}

/* ---- stopping ---- */

/* By another magic-trace, for a moment. */
static bool is_being_attached(pid_t pid)
{
    char name[16];
    process_name((pid_t)process_status_number(pid, "\nTracerPid:\t", 10), name, sizeof name);
    return strcmp(name, THREADS_STOPPER) == 0;
}

static bool refuse(pid_t pid, int reason, struct error *error)
{
    if (reason == ESRCH)
        return error_set(error, ERROR_NOT_FOUND, "there is no process %d", (int)pid);
    if (reason == EPERM && is_being_attached(pid))
        return error_set(error, ERROR_IO, "another magic-trace is just letting it go");
    if (reason == EPERM)
        return error_set(error, ERROR_PERMISSION, "that is not permitted: %s",
                         trace_permission_reason());
    return error_set_errno(error, ERROR_IO, reason, "it cannot be traced");
}

/* One that has ended meanwhile is left out. */
static bool seize(struct stopped_threads *stopped, pid_t tid, struct error *error)
{
    struct stopped_thread thread = {.tid = tid, .was_ours = stopped->ours};
    if (!thread.was_ours && ptrace(PTRACE_SEIZE, tid, NULL, (void *)PTRACE_O_TRACESYSGOOD) != 0) {
        int reason = errno;
        return reason == ESRCH || !runs_code(stopped->pid, tid) ||
               refuse(stopped->pid, reason, error);
    }
    array_add_all(&stopped->threads, &thread, 1);
    stopped->seized++;
    return true;
}

/* The number of the system call that it sleeps in; -1: it runs, or has ended. */
static long call_of(pid_t pid, pid_t tid)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/task/%d/syscall", (int)pid, (int)tid);
    char *text = file_read(path, NULL, NULL);
    long call = text && isdigit((unsigned char)text[0]) ? strtol(text, NULL, 10) : -1;
    free(text);
    return call;
}

/* Whether the call returns EINTR when the kernel wakes the thread for a signal that is ignored. */
static bool is_wait(long call)
{
    return call == SYS_epoll_wait || call == SYS_epoll_pwait || call == SYS_epoll_pwait2;
}

static bool makes_child(long call)
{
    return call == SYS_clone || call == SYS_clone3 || call == SYS_fork || call == SYS_vfork;
}

static bool has_children(pid_t pid, pid_t tid)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/task/%d/children", (int)pid, (int)tid);
    char *text = file_read(path, NULL, NULL);
    bool any = text && text[0];
    free(text);
    return any;
}

/* The kernel drops an ignored signal unless the thread that it is sent to is traced, SIGCHLD: the child's parent. Then it wakes
 * that thread or, if that is stopped, about to stop or blocks the signal, any other one of the process for it. A traced one finds
 * out that the signal is ignored (take_stop), another one would see its call end. So those that wait are seized first, then those
 * that sleep and so do not begin to wait, then those that run and may become parents, and parents last; which is which is found out before,
 * because meanwhile any of them may begin to wait, or have a child; and all are seized before the first is asked to stop. */
enum seize_turn { WAITING_THREAD, SLEEPING_THREAD, CHILDLESS_THREAD, PARENT };

struct thread_to_seize {
    pid_t tid;
    enum seize_turn turn;
};

static enum seize_turn seize_turn_of(pid_t pid, pid_t tid)
{
    long call = call_of(pid, tid);
    if (is_wait(call))
        return WAITING_THREAD;
    if (has_children(pid, tid))
        return PARENT;
    return call >= 0 && !makes_child(call) ? SLEEPING_THREAD : CHILDLESS_THREAD;
}

static int compare_to_seize(const void *left, const void *right)
{
    const struct thread_to_seize *first = left, *second = right;
    return first->turn != second->turn ? (int)first->turn - (int)second->turn
                                       : (first->tid > second->tid) - (first->tid < second->tid);
}

/* Adds the threads that are not seized yet, as struct thread_to_seize. */
static bool find_threads(struct stopped_threads *stopped, struct array *found, struct error *error)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/task", (int)stopped->pid);
    DIR *entries = opendir(path);
    if (!entries)
        return refuse(stopped->pid, errno == ENOENT ? ESRCH : errno, error);
    for (struct dirent *entry; (entry = readdir(entries));) {
        pid_t tid = (pid_t)atoi(entry->d_name);
        if (tid > 0 && !find(stopped, tid) && runs_code(stopped->pid, tid))
            *(struct thread_to_seize *)array_add(found) =
                (struct thread_to_seize){tid, seize_turn_of(stopped->pid, tid)};
    }
    closedir(entries);
    return true;
}

static bool seize_all(struct stopped_threads *stopped, struct error *error)
{
    struct array found = array_of(sizeof(struct thread_to_seize));
    bool ok = find_threads(stopped, &found, error);
    if (found.count > 0)
        qsort(found.elements, found.count, sizeof(struct thread_to_seize), compare_to_seize);
    for (size_t i = 0; ok && i < found.count; i++)
        ok = seize(stopped, ((const struct thread_to_seize *)array_at(&found, i))->tid, error);
    array_free(&found);
    return ok;
}

static void ask_all_to_stop(struct stopped_threads *stopped)
{
    for (size_t i = 0; i < stopped->threads.count; i++) {
        struct stopped_thread *thread = array_at(&stopped->threads, i);
        if (thread->asked)
            continue;
        thread->asked = true;
        ptrace(PTRACE_INTERRUPT, thread->tid, NULL, NULL);
        if (thread->tid == stopped->first)
            ptrace(PTRACE_CONT, thread->tid, NULL, NULL);
    }
}

static void forget(struct stopped_threads *stopped, struct stopped_thread *thread)
{
    *thread = *(struct stopped_thread *)array_at(&stopped->threads, --stopped->threads.count);
}

static bool read_state(struct stopped_thread *thread, struct error *error)
{
    struct iovec where = {&thread->registers, sizeof thread->registers};
    if (ptrace(PTRACE_GETREGSET, thread->tid, (void *)NT_PRSTATUS, &where) != 0 ||
        ptrace(PTRACE_GETSIGMASK, thread->tid, (void *)KERNEL_MASK_SIZE, &thread->mask) != 0)
        return error_set_errno(error, ERROR_IO, errno, "its registers cannot be read");
    if (where.iov_len != sizeof thread->registers)
        return error_set(error, ERROR_UNSUPPORTED, "it is a 32-bit program");
    thread->next = thread->registers;
    if (thread->was_ours)
        thread->next.eflags &= ~(unsigned long)FLAG_RESUME; /* set at breakpoints */
    thread->calls = restart_in_registers(&thread->next, true);
    thread->waits = thread->calls && -(long)thread->registers.rax == EINTR;
    thread->stopped = true;
    return true;
}

/* A signal that is about to be delivered must find the thread as it is. The kernel would stop it again for PTRACE_INTERRUPT before
 * that, which comes after the signal therefore: in take_stop, or in `look` when another thread has received the signal.
 * A call that the kernel does not restart would end for nothing then. */
static bool let_signal_come(struct stopped_thread *thread)
{
    struct user_regs_struct registers;
    if (thread->tries >= MOST_TRIES || ptrace(PTRACE_GETREGS, thread->tid, NULL, &registers) != 0 ||
        !has_deliverable_signal(thread->tid, !restart_in_registers(&registers, false)))
        return false;
    thread->tries++;
    thread->looks = LOOKS_FOR_SIGNAL;
    ptrace(PTRACE_CONT, thread->tid, NULL, NULL);
    return true;
}

static void interrupt_again(struct stopped_thread *thread)
{
    if (thread->looks > 0 && --thread->looks == 0)
        ptrace(PTRACE_INTERRUPT, thread->tid, NULL, NULL);
}

/* What became of a thread that was waited for. Any stop takes the request to stop away (ptrace_stop of Linux), so it is made
 * again where another one came first. */
static bool take_stop(struct stopped_threads *stopped, struct stopped_thread *thread, int status,
                      struct error *error)
{
    int event = status >> 16, signal = WSTOPSIG(status);
    if (!WIFSTOPPED(status)) {
        forget(stopped, thread);
        return true;
    }
    if (event == PTRACE_EVENT_STOP && signal != SIGTRAP) {
        thread->stopped = true;
        return error_set(error, ERROR_UNSUPPORTED, "it is stopped by a signal. Continue it first");
    }
    if (event != PTRACE_EVENT_STOP) {
        bool is_ours = event || (thread->was_ours && debug_registers_hit(thread->tid, status));
        ptrace(PTRACE_INTERRUPT, thread->tid, NULL, NULL);
        thread->looks = 0;
        if (!event && signal_is_ignored(thread->tid, signal))
            restart_system_call(thread->tid, false); /* untraced it would not have been woken */
        ptrace(PTRACE_CONT, thread->tid, NULL, (void *)(long)(is_ours ? 0 : signal));
        return true;
    }
    return let_signal_come(thread) || read_state(thread, error);
}

/* False with ERROR_NONE: some have not stopped yet. */
static bool look(struct stopped_threads *stopped, struct error *error)
{
    bool all = true;
    for (size_t i = stopped->threads.count; i-- > 0;) {
        struct stopped_thread *thread = array_at(&stopped->threads, i);
        int status;
        if (thread->stopped)
            continue;
        pid_t got = waitpid(thread->tid, &status, __WALL | WNOHANG);
        if (got < 0)
            forget(stopped, thread);
        else if (got > 0 && !take_stop(stopped, thread, status, error))
            return false;
        else if (got == 0 || !thread->stopped)
            all = false;
        if (got == 0)
            interrupt_again(thread);
    }
    return all;
}

static bool wait_for_all(struct stopped_threads *stopped, uint64_t deadline, struct error *error)
{
    const struct timespec pause = {.tv_nsec = LOOK_NS};
    error->code = ERROR_NONE;
    while (!look(stopped, error)) {
        if (error->code != ERROR_NONE)
            return false;
        if (monotonic_ms() > deadline)
            return error_set(error, ERROR_IO, "one of its threads does not stop");
        nanosleep(&pause, NULL);
    }
    return true;
}

/* Threads that had not been seized may have created others: until there are no new ones. */
static bool stop_all(struct stopped_threads *stopped, struct error *error)
{
    size_t seized;
    do {
        seized = stopped->seized;
        if (!seize_all(stopped, error))
            return false;
        ask_all_to_stop(stopped);
        if (!wait_for_all(stopped, monotonic_ms() + stopped->patience_ms + stopped->threads.count,
                          error))
            return false;
    } while (seized != stopped->seized);
    return stopped->threads.count > 0 ||
           error_set(error, ERROR_NOT_FOUND, "process %d has ended", (int)stopped->pid);
}

/* The order in which they go on (seize_all says why): parents first, because no thread that goes on may wait while a parent is
 * still traced; those that wait last. */
enum turn { THE_FIRST, A_PARENT, ANY_OTHER, ONE_THAT_WAITS };

static enum turn turn_of(const struct stopped_threads *stopped, const struct stopped_thread *thread)
{
    if (thread->tid == stopped->first)
        return THE_FIRST;
    if (has_children(stopped->pid, thread->tid))
        return A_PARENT;
    return thread->waits ? ONE_THAT_WAITS : ANY_OTHER;
}

static int compare_turns(const void *left, const void *right)
{
    const struct stopped_thread *first = left, *second = right;
    return (int)first->turn - (int)second->turn;
}

static void put_in_order(struct stopped_threads *stopped)
{
    for (size_t i = 0; i < stopped->threads.count; i++) {
        struct stopped_thread *thread = array_at(&stopped->threads, i);
        thread->turn = turn_of(stopped, thread);
    }
    if (stopped->threads.count > 0)
        qsort(stopped->threads.elements, stopped->threads.count, sizeof(struct stopped_thread),
              compare_turns);
}

static bool stop(struct stopped_threads *stopped, struct error *error)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/mem", (int)stopped->pid);
    stopped->threads = array_of(sizeof(struct stopped_thread));
    stopped->memory = open(path, O_RDWR | O_CLOEXEC);
    bool ok = stopped->memory >= 0 && (!stopped->first || seize(stopped, stopped->first, error)) &&
              stop_all(stopped, error);
    put_in_order(stopped);
    if (ok)
        return true;
    if (stopped->memory < 0)
        refuse(stopped->pid, errno == ENOENT ? ESRCH : errno == EACCES ? EPERM : errno, error);
    threads_go_on(stopped);
    return false;
}

bool threads_stop(struct stopped_threads *stopped, pid_t pid, struct error *error)
{
    *stopped = (struct stopped_threads){.pid = pid, .patience_ms = PATIENCE_MS};
    return stop(stopped, error);
}

bool threads_stop_at(struct stopped_threads *stopped, pid_t pid, pid_t first, struct error *error)
{
    *stopped = (struct stopped_threads){
        .pid = pid, .ours = true, .first = first, .patience_ms = LONG_PATIENCE_MS};
    return stop(stopped, error);
}

/* ---- going on ---- */

void threads_clear_breakpoints(const struct stopped_threads *stopped)
{
    for (size_t i = 0; i < stopped->threads.count; i++)
        debug_registers_set(((struct stopped_thread *)array_at(&stopped->threads, i))->tid, NULL,
                            0);
}

void thread_detach(struct stopped_thread *thread)
{
    if (thread->was_ours)
        debug_registers_set(thread->tid, NULL, 0);
    thread->stopped = false;
    if (ptrace(PTRACE_DETACH, thread->tid, NULL, NULL) == 0)
        thread->tid = 0;
}

static void let_go(struct stopped_thread *thread)
{
    if (!thread->stopped)
        return;
    restart_system_call(thread->tid, false);
    thread_detach(thread);
}

/* A thread that was not let go: it has not stopped yet, or was killed, as by the exit of another one, and is waited for, without
 * which the process would not end. */
static void wait_for_stray(struct stopped_thread *thread)
{
    if (thread->tid && thread_stop_again(thread))
        let_go(thread);
}

/* Only stopped threads can be let go. Those that have not stopped yet, because they wait for a child made by vfork, do when
 * that has ended; the kernel lets go at last what is left when this process ends. */
void threads_go_on(struct stopped_threads *stopped)
{
    for (size_t i = 0; i < stopped->threads.count; i++)
        let_go(array_at(&stopped->threads, i));
    struct stopped_thread *leader = find(stopped, stopped->pid);
    for (size_t i = 0; i < stopped->threads.count; i++)
        if (array_at(&stopped->threads, i) != leader)
            wait_for_stray(array_at(&stopped->threads, i));
    if (leader) /* its end is reported after those of the others */
        wait_for_stray(leader);
    if (stopped->memory >= 0)
        close(stopped->memory);
    array_free(&stopped->threads);
}

bool thread_stop_again(struct stopped_thread *thread)
{
    const struct timespec pause = {.tv_nsec = LOOK_NS};
    uint64_t deadline = monotonic_ms() + LONG_PATIENCE_MS;
    ptrace(PTRACE_INTERRUPT, thread->tid, NULL, NULL);
    do {
        int status;
        pid_t got = waitpid(thread->tid, &status, __WALL | WNOHANG);
        if (got < 0 || (got > 0 && !WIFSTOPPED(status))) {
            thread->tid = 0;
            return false;
        }
        if (got > 0 && status >> 16 == PTRACE_EVENT_STOP) {
            thread->stopped = true;
            return true;
        }
        if (got > 0)
            ptrace(PTRACE_CONT, thread->tid, NULL,
                   (void *)(long)(status >> 16 ? 0 : WSTOPSIG(status)));
        nanosleep(&pause, NULL);
    } while (monotonic_ms() < deadline);
    return false;
}

/* In this order: a thread with its signals blocked and its registers as they were would be left so by the recorder's
 * death. */
bool thread_set(struct stopped_thread *thread, const struct user_regs_struct *registers,
                uint64_t mask)
{
    return ptrace(PTRACE_SETREGS, thread->tid, NULL, registers) == 0 &&
           ptrace(PTRACE_SETSIGMASK, thread->tid, (void *)KERNEL_MASK_SIZE, &mask) == 0;
}

bool threads_read(const struct stopped_threads *stopped, uint64_t address, void *bytes, size_t size)
{
    return pread(stopped->memory, bytes, size, (off_t)address) == (ssize_t)size;
}

bool threads_write(const struct stopped_threads *stopped, uint64_t address, const void *bytes,
                   size_t size)
{
    return pwrite(stopped->memory, bytes, size, (off_t)address) == (ssize_t)size;
}
