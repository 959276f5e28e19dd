/* Plays `perf record` as far as its callers see it: argument list, control channel, signals, end.
 *
 *     STAND_IN_VERSION   what --version says (default 6.1.0)
 *     STAND_IN_LOG       a file to which goes what happens, a line each: "argument WORD", a command
 *                        of the control channel, "signal N", "end"
 *     STAND_IN_DOES      "" (what perf does), or
 *         die            ends with status 255 at once, with words on stderr
 *         die-later      kills itself when it has been enabled and the program runs
 *         late           enables after a third of a second
 *         mute           never answers and waits; SIGTERM ends it
 *         deaf           likewise, and nothing but SIGKILL ends it
 *         mute-at-stop   answers everything but the last command
 *         fail-at-end    ends with status 3 and words on stderr
 *         stuck          is kept in the kernel (state D of proc(5)) for a second before it enables
 *         slow           works for a second and a half (uses its processor) before it enables
 *
 * Without --control it is ready when it waits in poll(2) without end, as perf is.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t ended, snapshots;

static const char *environment(const char *name, const char *otherwise)
{
    const char *value = getenv(name);
    return value ? value : otherwise;
}

static bool does(const char *what)
{
    return strcmp(environment("STAND_IN_DOES", ""), what) == 0;
}

__attribute__((format(printf, 1, 2))) static void write_log(const char *format, ...)
{
    char line[4096];
    va_list values;
    va_start(values, format);
    int length = vsnprintf(line, sizeof line - 1, format, values);
    va_end(values);
    line[length++] = '\n';
    int file = open(environment("STAND_IN_LOG", "/dev/null"), O_WRONLY | O_CREAT | O_APPEND, 0600);
    if (write(file, line, (size_t)length) < 0)
        exit(99);
    close(file);
}

static void on_end(int number)
{
    ended = number;
}

static void on_snapshot(int number)
{
    (void)number;
    snapshots++;
}

static void listen_to_signals(void)
{
    struct sigaction end = {.sa_handler = does("deaf") ? SIG_IGN : on_end};
    struct sigaction snapshot = {.sa_handler = on_snapshot};
    sigaction(SIGTERM, &end, NULL);
    sigaction(SIGINT, &end, NULL);
    sigaction(SIGUSR2, &snapshot, NULL);
}

static void append(const char *path, const char *bytes)
{
    int file = open(path, O_WRONLY | O_CREAT | O_APPEND, 0600);
    if (write(file, bytes, strlen(bytes)) < 0)
        exit(99);
    close(file);
}

/* vfork(2) keeps the parent until its child has ended. */
static void be_kept_for_a_while(void)
{
    if (vfork() == 0) {
        nanosleep(&(struct timespec){.tv_sec = 1}, NULL);
        _exit(0);
    }
}

static void work_for_a_while(void)
{
    struct timespec now, begin;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &begin);
    do
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    while ((now.tv_sec - begin.tv_sec) * 1000000000L + now.tv_nsec - begin.tv_nsec < 1500000000L);
}

/* The next line of the control channel; false when none is there. */
static bool read_command(int control, char *line, size_t size)
{
    size_t used = 0;
    while (used + 1 < size && read(control, line + used, 1) == 1)
        if (line[used++] == '\n')
            break;
    line[used] = 0;
    return used > 0;
}

/* The process is held by its tracer no longer. */
static void wait_until_it_runs(pid_t process)
{
    char path[64], state = 't';
    snprintf(path, sizeof path, "/proc/%d/stat", (int)process);
    while (state == 't') {
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
        FILE *file = fopen(path, "r");
        if (!file || fscanf(file, "%*d (%*[^)]) %c", &state) != 1)
            state = 0;
        if (file)
            fclose(file);
    }
}

static void answer(int control, int acks, pid_t process)
{
    char line[64];
    while (read_command(control, line, sizeof line)) {
        line[strcspn(line, "\n")] = 0;
        if (does("mute") || does("deaf"))
            continue;
        if (does("late") && strcmp(line, "enable") == 0)
            nanosleep(&(struct timespec){.tv_nsec = 333000000}, NULL);
        if (does("stuck") && strcmp(line, "enable") == 0)
            be_kept_for_a_while();
        if (does("slow") && strcmp(line, "enable") == 0)
            work_for_a_while();
        write_log("%s", line);
        if (strcmp(line, "stop") == 0 && does("mute-at-stop"))
            continue;
        if (write(acks, "ack\n", 5) != 5)
            exit(99);
        if (strcmp(line, "stop") == 0)
            ended = -1;
        if (strcmp(line, "enable") == 0 && does("die-later")) {
            wait_until_it_runs(process);
            raise(SIGKILL);
        }
    }
}

static void record(const char *output, int control, int acks, pid_t process)
{
    int target = process ? (int)syscall(SYS_pidfd_open, process, 0) : -1;
    struct pollfd waited_for[] = {{.fd = control, .events = POLLIN},
                                  {.fd = target, .events = POLLIN}};
    append(output, "header");
    int logged = 0;
    while (!ended) {
        if (poll(waited_for, 2, -1) > 0 && waited_for[1].revents)
            break;
        if (waited_for[0].revents)
            answer(control, acks, process);
        for (; logged < snapshots; logged++) {
            write_log("signal %d", SIGUSR2);
            append(output, "snapshot");
        }
    }
    if (ended > 0)
        write_log("signal %d", (int)ended);
    append(output, "end");
    write_log("end");
}

static int finish(void)
{
    if (does("fail-at-end")) {
        fputs("failed to write feature HEADER_TOO_GOOD\n", stderr);
        return 3;
    }
    fputs("[ perf record: Woken up 1 times to write data ]\n", stderr);
    if (ended > 0) { /* as perf does: it dies of the signal that has ended it */
        signal((int)ended, SIG_DFL);
        raise((int)ended);
    }
    return 0;
}

int main(int count, char **arguments)
{
    if (count > 1 && strcmp(arguments[1], "--version") == 0) {
        printf("perf version %s\n", environment("STAND_IN_VERSION", "6.1.0"));
        return 0;
    }
    const char *output = "perf.data";
    int control = -1, acks = -1;
    pid_t process = 0;
    for (int i = 1; i < count; i++) {
        write_log("argument %s", arguments[i]);
        sscanf(arguments[i], "--control=fd:%d,%d", &control, &acks);
        if (strcmp(arguments[i - 1], "-o") == 0)
            output = arguments[i];
        if (strcmp(arguments[i - 1], "-t") == 0 || strcmp(arguments[i - 1], "-p") == 0)
            process = atoi(arguments[i]);
    }
    if (does("die")) {
        fputs("Error:\nNo permission to enable cycles event.\n", stderr);
        return 255;
    }
    if (control >= 0)
        fcntl(control, F_SETFL, O_NONBLOCK);
    listen_to_signals();
    record(output, control, acks, process);
    return finish();
}
