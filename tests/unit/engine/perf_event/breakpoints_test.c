/* On the real kernel, with real processes and threads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/file.h"
#include "base/memory.h"
#include "engine/perf_event/breakpoints.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- the watched program: a child of the test ---- */

enum {
    WORKERS = 8,
    SHORT_THREADS = 62, /* that each worker bears, one after the other */
    CALLS = 10,         /* of each short thread, and of the worker after each */
    FIRST_CALLS = 10,   /* of each worker, before */
    HITS = WORKERS * (FIRST_CALLS + SHORT_THREADS * 2 * CALLS),
};

/* What is watched. */
__attribute__((noinline)) static void place(uint64_t worker, uint64_t number)
{
    __asm__ volatile("" ::"r"(worker), "r"(number) : "memory");
}

struct work {
    uint64_t worker, number;
};

static void call(struct work *work, int calls)
{
    for (int i = 0; i < calls; i++)
        place(work->worker, work->number++);
}

static void *short_thread(void *work)
{
    call(work, CALLS);
    return NULL;
}

static void *worker(void *given)
{
    struct work work = {.worker = (uint64_t)(uintptr_t)given};
    call(&work, FIRST_CALLS);
    for (int i = 0; i < SHORT_THREADS; i++) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, short_thread, &work) != 0)
            _exit(3);
        pthread_join(thread, NULL);
        call(&work, CALLS);
    }
    return (void *)(uintptr_t)work.number;
}

/* Exits with 0 when every worker has made all its calls. */
static void work(void)
{
    pthread_t threads[WORKERS];
    uint64_t sum = 0;
    for (uintptr_t i = 0; i < WORKERS; i++)
        if (pthread_create(&threads[i], NULL, worker, (void *)i) != 0)
            _exit(2);
    for (int i = 0; i < WORKERS; i++) {
        void *calls;
        pthread_join(threads[i], &calls);
        sum += (uintptr_t)calls;
    }
    _exit(sum == HITS ? 0 : 1);
}

struct program {
    pid_t pid;
    int go; /* it begins when something is written here */
};

static struct program start(void (*body)(void))
{
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    struct program program = {fork(), ends[1]};
    if (program.pid == 0) {
        char byte;
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (read(ends[0], &byte, 1) != 1)
            _exit(4);
        body();
        _exit(0);
    }
    close(ends[0]);
    return program;
}

static void let_begin(const struct program *program)
{
    assert_int_equal(write(program->go, "", 1), 1);
}

static int wait_for(const struct program *program)
{
    int status;
    close(program->go);
    assert_int_equal(waitpid(program->pid, &status, 0), program->pid);
    return status;
}

/* ---- watching ---- */

static struct trigger_place the_place;
static const struct trigger trigger = {.name = "place", .places = &the_place, .place_count = 1};

/* The file and the offset in it that our own memory has at an address. */
static void find_place(struct trigger_place *found, const void *address)
{
    char *maps = file_read("/proc/self/maps", NULL, NULL);
    char *rest = maps;
    assert_non_null(maps);
    for (char *line; (line = strsep(&rest, "\n")) != NULL;) {
        unsigned long start, end, offset;
        int name = 0;
        if (sscanf(line, "%lx-%lx %*s %lx %*s %*s %n", &start, &end, &offset, &name) == 3 &&
            (uintptr_t)address >= start && (uintptr_t)address < end)
            *found = (struct trigger_place){.path = memory_copy_string(line + name),
                                            .file_offset = (uintptr_t)address - start + offset};
    }
    free(maps);
}

static struct breakpoints *watch(const pid_t *pids, size_t count, enum breakpoint_scope scope,
                                 uint64_t ring_size)
{
    struct breakpoints_options options = {
        .kernel = &kernel_real,
        .trigger = &trigger,
        .pids = pids,
        .pid_count = count,
        .scope = scope,
        .ring_size = ring_size,
    };
    struct error error = {0};
    struct breakpoints *breakpoints = breakpoints_open(&options, &error);
    if (!breakpoints)
        fail_msg("%s", error.text);
    return breakpoints;
}

static bool wait_for_hits(const struct breakpoints *breakpoints, int timeout)
{
    struct pollfd waited_for = {.fd = breakpoints_descriptor(breakpoints), .events = POLLIN};
    return poll(&waited_for, 1, timeout) == 1;
}

static void nothing_went_wrong(struct breakpoints *breakpoints)
{
    struct error problem;
    if (breakpoints_problem(breakpoints, &problem))
        fail_msg("%s", problem.text);
    assert_int_equal(breakpoints_lost(breakpoints), 0);
}

static void ten_thousand_hits_in_threads_that_come_and_go(void **state)
{
    (void)state;
    struct program program = start(work);
    /* The smallest rings: records lie across their ends. */
    struct breakpoints *breakpoints = watch(&program.pid, 1, BREAKPOINTS_ALL_THREADS, 131072);
    uint64_t next[WORKERS] = {0}, count = 0, before = 0;
    assert_int_equal(breakpoints_watched(breakpoints, program.pid), 1);
    breakpoints_arm(breakpoints, true);
    let_begin(&program);
    struct breakpoint_hit hit;
    while (count < HITS && wait_for_hits(breakpoints, 20000))
        while (breakpoints_next(breakpoints, &hit)) {
            assert_int_equal(hit.pid, program.pid);
            assert_int_equal(hit.ip, (uintptr_t)place);
            assert_in_range(hit.arguments[0], 0, WORKERS - 1);
            assert_int_equal(hit.arguments[1], next[hit.arguments[0]]++);
            assert_true(hit.time >= before);
            before = hit.time;
            count++;
        }
    assert_int_equal(count, HITS);
    nothing_went_wrong(breakpoints);
    assert_int_equal(wait_for(&program), 0);
    breakpoints_close(breakpoints);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ten_thousand_hits_in_threads_that_come_and_go),
    };
    find_place(&the_place, (void *)(uintptr_t)place);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
