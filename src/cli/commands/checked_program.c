#include "cli/commands/checked_program.h"

#include "base/file.h"
#include "cli/command.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
    DEPTH = 21, /* some thirty thousand calls */
    PLACES = 25,
    WAIT_NS = 20000000,
};

uint64_t magic_trace_checked_recursion(unsigned depth);
void magic_trace_checked_place(uint64_t number);
void magic_trace_checked_wait(uint64_t nanoseconds);

/* The number of its own calls, each of which is one: compilers make no loop of what they cannot see
 * through. */
__attribute__((noinline)) uint64_t magic_trace_checked_recursion(unsigned depth)
{
    if (depth < 2)
        return 1;
    uint64_t first = magic_trace_checked_recursion(depth - 1);
    uint64_t second = magic_trace_checked_recursion(depth - 2);
    __asm__ volatile("" : "+r"(second));
    return 1 + first + second;
}

__attribute__((noinline)) void magic_trace_checked_place(uint64_t number)
{
    __asm__ volatile("" : : "r"(number) : "memory");
}

static uint64_t now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

__attribute__((noinline)) void magic_trace_checked_wait(uint64_t nanoseconds)
{
    uint64_t end = now() + nanoseconds;
    while (now() < end)
        magic_trace_checked_place(end);
}

static void *recursion(void *calls)
{
    *(uint64_t *)calls = magic_trace_checked_recursion(DEPTH);
    return NULL;
}

static void *places(void *calls)
{
    for (uint64_t i = 0; i < PLACES; i++)
        magic_trace_checked_place(i);
    *(uint64_t *)calls = PLACES;
    return NULL;
}

/* In several threads at the same time; gives the number of calls. */
static uint64_t in_threads(void *(*work)(void *))
{
    pthread_t threads[CHECKED_THREAD_COUNT];
    uint64_t calls[CHECKED_THREAD_COUNT], sum = 0;
    for (unsigned i = 0; i < CHECKED_THREAD_COUNT; i++)
        if (pthread_create(&threads[i], NULL, work, &calls[i]) != 0)
            abort();
    for (unsigned i = 0; i < CHECKED_THREAD_COUNT; i++) {
        pthread_join(threads[i], NULL);
        sum += calls[i];
    }
    return sum;
}

static bool leave(const struct checked_work *work, const char *file)
{
    struct error error;
    int descriptor = file_create_private(file, &error);
    bool ok = descriptor >= 0 && file_write_all(descriptor, work, sizeof *work, file, &error);
    if (descriptor >= 0)
        close(descriptor);
    if (!ok)
        command_fail(&error);
    return ok;
}

int checked_program(const char *name, const char *file)
{
    struct checked_work work = {0};
    uint64_t start = now();
    if (strcmp(name, CHECKED_RECURSION) == 0) {
        recursion(&work.calls);
    } else if (strcmp(name, CHECKED_LONG_RECURSION) == 0) {
        work.calls = magic_trace_checked_recursion(DEPTH + 3);
    } else if (strcmp(name, CHECKED_THREADS) == 0) {
        work.calls = in_threads(recursion);
    } else if (strcmp(name, CHECKED_PLACES) == 0) {
        work.calls = in_threads(places);
    } else if (strcmp(name, CHECKED_WAIT) == 0) {
        start = now(); /* an engine may take its time before the first call */
        magic_trace_checked_wait(WAIT_NS);
        work.calls = 1;
    } else if (strcmp(name, CHECKED_ENDLESS) == 0) {
        if (!leave(&work, file))
            return EXIT_STATUS_ERROR;
        for (;;)
            magic_trace_checked_recursion(DEPTH);
    } else {
        return EXIT_STATUS_USAGE;
    }
    work.nanoseconds = now() - start;
    /* Not through exit(): what libraries do at their end would fill a small ring, and push the
     * calls out of it. */
    _exit(leave(&work, file) ? 0 : EXIT_STATUS_ERROR);
}

bool checked_work_read(struct checked_work *work, const char *file)
{
    size_t size = 0;
    char *bytes = file_read(file, &size, NULL);
    bool ok = bytes && size == sizeof *work;
    if (ok)
        memcpy(work, bytes, sizeof *work);
    free(bytes);
    return ok;
}
