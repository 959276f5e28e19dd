/* What attaching with the translator costs the process that it attaches to.
 *
 *     attach_cost MAGIC-TRACE THREADS [ROUNDS]     10 rounds
 *
 * THREADS - 1 threads wait for a futex; one reads the clock all the time. MAGIC-TRACE attaches to all of them, and gets
 * SIGINT once it has said that it is attached. Prints, of each round and the median of all: milliseconds from the
 * start of magic-trace until it is attached; the longest time for which the thread that reads the clock stood still while it
 * was attached to (which includes the translation of its first code), and while it was let go; and how fast that
 * thread works after it, as a share of its speed before the first round. On a machine that does something else, too, the
 * longest times include those in which another process had the processor.
 */
#include "bench_clock.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ROUNDS = 10, MOST_ROUNDS = 1000, STACK = 64 << 10 };

struct round {
    double attached, stopped, released, speed; /* seconds, seconds, seconds, share */
};

static uint32_t never;

static void *wait_for_ever(void *unused)
{
    (void)unused;
    for (;;)
        syscall(SYS_futex, &never, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
    return NULL;
}

static bool start_threads(unsigned count)
{
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, STACK);
    for (unsigned i = 0; i < count; i++) {
        pthread_t thread;
        if (pthread_create(&thread, &attributes, wait_for_ever, NULL) != 0)
            return false;
    }
    return true;
}

/* ---- the thread that reads the clock ---- */

struct pause {
    double since, longest; /* seconds */
};

static void look_at_clock(struct pause *pause)
{
    double now = bench_wall_seconds();
    if (now - pause->since > pause->longest)
        pause->longest = now - pause->since;
    pause->since = now;
}

static struct pause begin_pause(void)
{
    return (struct pause){.since = bench_wall_seconds()};
}

/* Readings of the clock per second of the thread's processor time. */
static double measure_speed(void)
{
    enum { READINGS = 10 * 1000 * 1000 };
    struct pause unused = begin_pause();
    double begin = bench_cpu_seconds();
    for (int i = 0; i < READINGS; i++)
        look_at_clock(&unused);
    return READINGS / (bench_cpu_seconds() - begin);
}

/* ---- magic-trace ---- */

struct recorder {
    pid_t pid;
    int messages; /* its standard error, which does not block */
};

static bool start_recorder(struct recorder *recorder, const char *program)
{
    int lines[2];
    char target[16];
    char folder[] = "/tmp/magic-trace-attach-cost-XXXXXX";
    snprintf(target, sizeof target, "%d", (int)getpid());
    if (!mkdtemp(folder) || pipe2(lines, O_CLOEXEC) != 0 ||
        fcntl(lines[0], F_SETFL, O_NONBLOCK) != 0)
        return false;
    recorder->messages = lines[0];
    recorder->pid = fork();
    if (recorder->pid == 0) {
        dup2(lines[1], STDERR_FILENO);
        chdir(folder);
        execl(program, program, "attach", "-engine", "translator", "-pid", target, "-multi-thread",
              "-snapshot-size", "64K", "-no-decode", "-working-directory", "recording", NULL);
        _exit(127);
    }
    close(lines[1]);
    prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
    return recorder->pid > 0;
}

/* Whether it has said so; looks now and then, because the thread is to do little else than read the clock. */
static bool says_attached(const struct recorder *recorder, char *text, size_t size)
{
    size_t used = strlen(text);
    ssize_t got = read(recorder->messages, text + used, size - used - 1);
    if (got > 0)
        text[used + (size_t)got] = 0;
    return strstr(text, "Attached") != NULL;
}

static bool has_ended(const struct recorder *recorder, int *status)
{
    return waitpid(recorder->pid, status, WNOHANG) != 0;
}

static bool attach(struct round *round, const char *program)
{
    enum { LOOK = 1000 };
    char text[4096] = "";
    struct recorder recorder;
    int status = 0;
    double begin = bench_wall_seconds();
    if (!start_recorder(&recorder, program))
        return false;
    struct pause pause = begin_pause();
    bool ended = false;
    for (unsigned i = 1; !ended && (i % LOOK != 0 || !says_attached(&recorder, text, sizeof text));
         i++) {
        look_at_clock(&pause);
        ended = i % (LOOK * LOOK) == 0 && has_ended(&recorder, &status);
    }
    round->attached = bench_wall_seconds() - begin;
    round->stopped = pause.longest;
    pause = begin_pause();
    kill(recorder.pid, SIGINT);
    for (unsigned i = 1; !ended; i++) {
        look_at_clock(&pause);
        ended = i % LOOK == 0 && has_ended(&recorder, &status);
    }
    round->released = pause.longest;
    close(recorder.messages);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return true;
    fprintf(stderr, "%s", text);
    return false;
}

/* ---- results ---- */

static int compare(const void *a, const void *b)
{
    double difference = *(const double *)a - *(const double *)b;
    return (difference > 0) - (difference < 0);
}

static double median(const struct round *rounds, unsigned count, size_t field)
{
    double values[MOST_ROUNDS];
    for (unsigned i = 0; i < count; i++)
        memcpy(&values[i], (const char *)&rounds[i] + field, sizeof values[i]);
    qsort(values, count, sizeof *values, compare);
    return values[count / 2];
}

static void print(const char *name, const struct round *round)
{
    printf("%-8s %10.1f %12.2f %12.2f %11.3f\n", name, round->attached * 1e3, round->stopped * 1e3,
           round->released * 1e3, round->speed);
    fflush(stdout);
}

int main(int count, char **words)
{
    unsigned threads = count > 2 ? (unsigned)atoi(words[2]) : 0,
             rounds = count > 3 ? (unsigned)atoi(words[3]) : ROUNDS;
    struct round all[MOST_ROUNDS];
    char *program =
        count > 1 ? realpath(words[1], NULL) : NULL; /* it is started in another folder */
    if (!program || threads == 0 || rounds == 0 || rounds > MOST_ROUNDS ||
        !start_threads(threads - 1)) {
        fprintf(stderr, "usage: attach_cost MAGIC-TRACE THREADS [ROUNDS]\n");
        return 2;
    }
    sleep(1);
    double before = measure_speed();
    printf("round    attached ms   stopped ms   let go ms   speed after\n");
    for (unsigned i = 0; i < rounds; i++) {
        char name[16];
        snprintf(name, sizeof name, "%u", i + 1);
        if (!attach(&all[i], program))
            return 1;
        all[i].speed = measure_speed() / before;
        print(name, &all[i]);
    }
    struct round middle = {
        .attached = median(all, rounds, offsetof(struct round, attached)),
        .stopped = median(all, rounds, offsetof(struct round, stopped)),
        .released = median(all, rounds, offsetof(struct round, released)),
        .speed = median(all, rounds, offsetof(struct round, speed)),
    };
    print("median", &middle);
    return 0;
}
