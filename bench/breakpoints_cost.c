/* What breakpoints.h costs: attaching to a process of many threads, waiting, and hits.
 *
 *     breakpoints_cost [THREADS] [SECONDS]     1000 threads, 5 seconds
 *
 * Prints the time to attach and to let go, the processor time that waiting took, as a share of one
 * processor, how often it was woken meanwhile, and what a hit costs the thread that makes it.
 */
#include "base/memory.h"
#include "engine/trigger/breakpoints.h"

#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { HITS = 20000, STACK = 64 << 10 };

static struct {
    _Atomic bool ready, begin;
    _Atomic uint64_t hit_ns; /* that HITS calls took */
} * shared;

__attribute__((noinline)) static void place(void)
{
    __asm__ volatile("" ::: "memory");
}

static double seconds_of(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static double seconds_now(void)
{
    return seconds_of(CLOCK_MONOTONIC);
}

static double seconds_used(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

/* ---- the program ---- */

static void *sleep_for_ever(void *unused)
{
    pause();
    return unused;
}

static void run_program(int threads)
{
    pthread_attr_t small;
    pthread_t thread;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, STACK);
    for (int i = 1; i < threads; i++)
        if (pthread_create(&thread, &small, sleep_for_ever, NULL) != 0)
            _exit(1);
    shared->ready = true;
    while (!shared->begin)
        usleep(1000);
    double begin = seconds_of(CLOCK_THREAD_CPUTIME_ID);
    for (int i = 0; i < HITS; i++)
        place();
    shared->hit_ns = (uint64_t)((seconds_of(CLOCK_THREAD_CPUTIME_ID) - begin) * 1e9);
    pause();
}

/* ---- watching it ---- */

static bool find_place(struct trigger_place *found)
{
    unsigned long start, end, offset, place_at = (unsigned long)(void *)place;
    FILE *maps = fopen("/proc/self/maps", "re");
    char line[PATH_MAX + 100], path[PATH_MAX];
    while (maps && fgets(line, sizeof line, maps))
        if (sscanf(line, "%lx-%lx %*s %lx %*s %*s %4095s", &start, &end, &offset, path) == 4 &&
            place_at >= start && place_at < end)
            *found = (struct trigger_place){.path = memory_copy_string(path),
                                            .file_offset = place_at - start + offset};
    if (maps)
        fclose(maps);
    return found->path != NULL;
}

static uint64_t read_hits(struct breakpoints *breakpoints, uint64_t wanted, double until,
                          uint64_t *wakeups)
{
    struct pollfd waited_for = {.fd = breakpoints_descriptor(breakpoints), .events = POLLIN};
    struct breakpoint_hit hit;
    uint64_t count = 0;
    for (double left; count < wanted && (left = until - seconds_now()) > 0;) {
        if (poll(&waited_for, 1, (int)(left * 1000) + 1) > 0)
            ++*wakeups;
        while (breakpoints_next(breakpoints, &hit))
            count++;
    }
    return count;
}

static void measure(struct breakpoints *breakpoints, double seconds)
{
    uint64_t wakeups = 0;
    double used = seconds_used(), begin = seconds_now();
    read_hits(breakpoints, 1, begin + seconds, &wakeups);
    printf("idle       %.4f %% of a processor, woken %llu times in %.1f s\n",
           100 * (seconds_used() - used) / (seconds_now() - begin), (unsigned long long)wakeups,
           seconds_now() - begin);
    used = seconds_used();
    shared->begin = true;
    uint64_t hits = read_hits(breakpoints, HITS, seconds_now() + 60, &wakeups);
    used = seconds_used() - used;
    while (!shared->hit_ns)
        usleep(1000);
    printf(
        "hits       %llu of %d, lost %llu; %.2f us each in the program, %.2f us in magic-trace\n",
        (unsigned long long)hits, HITS, (unsigned long long)breakpoints_lost(breakpoints),
        (double)shared->hit_ns / HITS / 1000, used / HITS * 1e6);
}

int main(int argument_count, char **arguments)
{
    int threads = argument_count > 1 ? atoi(arguments[1]) : 1000;
    double seconds = argument_count > 2 ? atof(arguments[2]) : 5;
    struct trigger_place at = {0};
    struct trigger trigger = {.name = "place", .places = &at, .place_count = 1};
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED || !find_place(&at))
        return 1;
    pid_t program = fork();
    if (program == 0)
        run_program(threads);
    while (!shared->ready && waitpid(program, NULL, WNOHANG) == 0)
        usleep(1000);
    struct breakpoints_options options = {.kernel = &kernel_real,
                                          .trigger = &trigger,
                                          .pids = &program,
                                          .pid_count = 1,
                                          .scope = BREAKPOINTS_ALL_THREADS};
    struct error error;
    double begin = seconds_now();
    struct breakpoints *breakpoints = breakpoints_open(&options, &error);
    if (!breakpoints) {
        fprintf(stderr, "%s\n", error.text);
        return 1;
    }
    printf("attach     %.1f ms to %d threads\n", 1000 * (seconds_now() - begin), threads);
    measure(breakpoints, seconds);
    begin = seconds_now();
    breakpoints_close(breakpoints);
    printf("let go     %.1f ms\n", 1000 * (seconds_now() - begin));
    free(at.path);
    return 0;
}
