#include "process/pidfd.h"

#include "base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

/* ---- without pidfds ---- */

enum { LOOK_MS = 10 };

struct watch {
    int stat; /* /proc/PID/stat, of this process even if another one gets its pid */
    int line; /* the other end of the caller's descriptor */
};

/* As the kernel decides for a pidfd: its first thread has ended, and all others are gone. */
static bool has_ended(int stat)
{
    char text[1024], state = 0;
    long threads = 0;
    ssize_t size = pread(stat, text, sizeof text - 1, 0);
    if (size < 0)
        return errno == ESRCH;
    text[size] = 0;
    /* After the name, which may hold anything, come the state and, as the 18th word, the number of threads (proc(5)). */
    const char *at = strrchr(text, ')');
    if (at)
        sscanf(at + 1, " %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %ld",
               &state, &threads);
    return (state == 'Z' || state == 'X') && threads <= 1;
}

/* Ends with the process, or when the caller has closed its descriptor. */
static void *watch_in_proc(void *argument)
{
    struct watch *watch = argument;
    struct pollfd line = {.fd = watch->line};
    while (!has_ended(watch->stat) && poll(&line, 1, LOOK_MS) <= 0)
        ;
    /* A byte, because a process that was forked from ours may have a copy of this end. */
    send(watch->line, "", 1, MSG_NOSIGNAL);
    close(watch->line);
    close(watch->stat);
    free(watch);
    return NULL;
}

/* Signals are for the other threads. Returns an error number. */
static int start_watching(struct watch *watch)
{
    pthread_t thread;
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int failed = pthread_create(&thread, NULL, watch_in_proc, watch);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (!failed)
        pthread_detach(thread);
    return failed;
}

/* Takes `stat` over if it succeeds; -1 and errno. */
static int begin_watch(int stat)
{
    int lines[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, lines) != 0)
        return -1;
    struct watch *watch = memory_allocate(sizeof *watch);
    *watch = (struct watch){stat, lines[1]};
    int failed = start_watching(watch);
    if (!failed)
        return lines[0];
    free(watch);
    close(lines[0]);
    close(lines[1]);
    errno = failed;
    return -1;
}

int pidfd_by_thread(pid_t pid)
{
    char path[32];
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    int stat = open(path, O_RDONLY | O_CLOEXEC);
    int descriptor = stat >= 0 ? begin_watch(stat) : -1;
    int reason = errno == ENOENT ? ESRCH : errno;
    if (stat >= 0 && descriptor < 0)
        close(stat);
    errno = reason;
    return descriptor;
}

/* ---- with them ---- */

int pidfd_of(pid_t pid)
{
    int descriptor = (int)syscall(SYS_pidfd_open, pid, 0);
    return descriptor < 0 && errno == ENOSYS ? pidfd_by_thread(pid) : descriptor;
}

void pidfd_signal(int descriptor, pid_t pid, int number, siginfo_t *info)
{
    if (syscall(SYS_pidfd_send_signal, descriptor, number, info, 0) == 0 ||
        (errno != ENOSYS && errno != EBADF))
        return;
    if (info)
        syscall(SYS_rt_sigqueueinfo, pid, number, info);
    else
        kill(pid, number);
}
