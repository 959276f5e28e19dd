/* On the real kernel, with real processes and threads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/file.h"
#include "base/memory.h"
#include "engine/trigger/breakpoints.h"
#include "perf_event/permissions.h"
#include "process/debug_registers.h"

#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- watched programs: children of the test ---- */

enum {
    WORKERS = 8,
    SHORT_THREADS = 62, /* that each worker bears, one after the other */
    CALLS = 10,         /* of each short thread, and of the worker after each */
    FIRST_CALLS = 10,   /* of each worker, before */
    HITS = WORKERS * (FIRST_CALLS + SHORT_THREADS * 2 * CALLS),
};

static struct trigger_place the_place;

/* What is watched, at the_place. */
__attribute__((noinline)) static void place(uint64_t worker, uint64_t number)
{
    __asm__ volatile("" ::"r"(worker), "r"(number) : "memory");
}

struct work {
    uint64_t worker, number;
};

/* Shared by the test and its programs. */
static struct {
    _Atomic int begin;           /* those that wait for it in a loop may begin to call */
    _Atomic uint64_t rounds;     /* work done so far */
    _Atomic uint64_t made, seen; /* calls of workers, and hits that the test has read */
} * shared;

static void call(struct work *work, int calls)
{
    for (int i = 0; i < calls; i++)
        place(work->worker, work->number++);
}

static pthread_t bear(void *(*body)(void *), void *argument)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, body, argument) != 0)
        _exit(3);
    return thread;
}

static void *short_thread(void *work)
{
    call(work, CALLS);
    return NULL;
}

/* So that the rings can be small, whenever the test gets to run. */
static void wait_for_reader(void)
{
    enum { AHEAD = 500 };
    while (shared->made > shared->seen + AHEAD)
        usleep(200);
}

static void *worker(void *given)
{
    struct work work = {.worker = (uint64_t)(uintptr_t)given};
    call(&work, FIRST_CALLS);
    for (int i = 0; i < SHORT_THREADS; i++) {
        wait_for_reader();
        shared->made += 2 * CALLS;
        pthread_join(bear(short_thread, &work), NULL);
        call(&work, CALLS);
    }
    return (void *)(uintptr_t)work.number;
}

static void *nothing(void *unused)
{
    return unused;
}

/* Creates threads all the time, and calls nothing until it may begin. */
static void *restless_worker(void *given)
{
    while (!shared->begin)
        pthread_join(bear(nothing, NULL), NULL);
    return worker(given);
}

/* Exits with 0 when every worker has made all its calls. */
static void run_workers(void *(*body)(void *))
{
    pthread_t threads[WORKERS];
    uint64_t sum = 0;
    for (uintptr_t i = 0; i < WORKERS; i++)
        threads[i] = bear(body, (void *)i);
    for (int i = 0; i < WORKERS; i++) {
        void *calls;
        pthread_join(threads[i], &calls);
        sum += (uintptr_t)calls;
    }
    _exit(sum == HITS ? 0 : 1);
}

static void work(void)
{
    run_workers(worker);
}

static void work_restlessly(void)
{
    run_workers(restless_worker);
}

struct program {
    pid_t pid;
    int go; /* it begins when something is written here */
};

/* Reads a byte from `descriptor`: waits until the test has written it. */
static void wait_for_go(int descriptor)
{
    char byte;
    if (read(descriptor, &byte, 1) != 1)
        _exit(4);
}

static int go_descriptor; /* of the program */

/* In some virtual machines a breakpoint's trap comes, once in a million, without the word in the
 * debug status register that says so (seen with perf record --no-buffering too). Linux takes it for
 * an int1 instruction and sends SIGTRAP. The instruction is then tried again, and hits as it
 * should.
 */
static void endure_traps(int signal)
{
    (void)signal;
}

static struct program start(void (*body)(void))
{
    int ends[2];
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    shared->begin = 0;
    shared->rounds = 0;
    shared->made = shared->seen = 0;
    struct program program = {fork(), ends[1]};
    if (program.pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        signal(SIGTRAP, endure_traps);
        close(ends[1]);
        go_descriptor = ends[0];
        wait_for_go(go_descriptor);
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

/* Counts hits until there are `wanted`. */
static uint64_t count_hits(struct breakpoints *breakpoints, uint64_t wanted)
{
    struct breakpoint_hit hit;
    uint64_t count = 0;
    while (count < wanted && wait_for_hits(breakpoints, -1))
        while (breakpoints_next(breakpoints, &hit))
            count++;
    return count;
}

/* Every call of every worker, once, in order. */
static void expect_all_hits(struct breakpoints *breakpoints, pid_t pid)
{
    uint64_t next[WORKERS] = {0}, count = 0;
    struct breakpoint_hit hit;
    while (count < HITS && wait_for_hits(breakpoints, -1))
        while (breakpoints_next(breakpoints, &hit)) {
            assert_int_equal(hit.pid, pid);
            assert_int_equal(hit.ip, (uintptr_t)place);
            assert_in_range(hit.arguments[0], 0, WORKERS - 1);
            assert_int_equal(hit.arguments[1], next[hit.arguments[0]]++);
            shared->seen = ++count;
        }
    assert_int_equal(count, HITS);
    nothing_went_wrong(breakpoints);
}

/* Small: the rings wrap several times, and records cross their ends. */
static const uint64_t small_ring = 128 << 10;

static void ten_thousand_hits_in_threads_that_come_and_go(void **state)
{
    (void)state;
    struct program program = start(work);
    struct breakpoints *breakpoints = watch(&program.pid, 1, BREAKPOINTS_ALL_THREADS, small_ring);
    assert_int_equal(breakpoints_watched(breakpoints, program.pid), 1);
    let_begin(&program);
    expect_all_hits(breakpoints, program.pid);
    assert_int_equal(wait_for(&program), 0);
    breakpoints_close(breakpoints);
}

/* Threads are created while events of them and their parents are opened, and until then no record
 * is read.
 */
static void a_program_that_bears_threads_all_the_time_is_watched_whole(void **state)
{
    (void)state;
    for (int i = 0; i < 10; i++) {
        struct program program = start(work_restlessly);
        let_begin(&program);
        usleep(3000);
        struct breakpoints *breakpoints = watch(&program.pid, 1, BREAKPOINTS_ALL_THREADS, 2 << 20);
        shared->begin = 1;
        expect_all_hits(breakpoints, program.pid);
        assert_int_equal(wait_for(&program), 0);
        breakpoints_close(breakpoints);
    }
}

/* ---- processes ---- */

static void call_in_a_child(void)
{
    struct work work = {0};
    call(&work, 5);
    pid_t child = fork();
    if (child == 0) {
        call(&work, 5);
        pthread_join(bear(short_thread, &work), NULL);
        _exit(0);
    }
    waitpid(child, NULL, 0);
    call(&work, 5);
}

static uint64_t hits_of_parent_and_child(enum breakpoint_scope scope)
{
    struct program program = start(call_in_a_child);
    struct breakpoints *breakpoints = watch(&program.pid, 1, scope, 0);
    let_begin(&program);
    assert_int_equal(wait_for(&program), 0);
    struct breakpoint_hit hit;
    uint64_t count = 0;
    while (breakpoints_next(breakpoints, &hit))
        count++;
    nothing_went_wrong(breakpoints);
    breakpoints_close(breakpoints);
    return count;
}

static void child_processes_are_watched_if_wanted(void **state)
{
    (void)state;
    assert_int_equal(hits_of_parent_and_child(BREAKPOINTS_CHILDREN), 5 + 5 + CALLS + 5);
    assert_int_equal(hits_of_parent_and_child(BREAKPOINTS_ALL_THREADS), 10);
    assert_int_equal(hits_of_parent_and_child(BREAKPOINTS_ONE_THREAD), 10);
}

static void call_in_a_thread(void)
{
    struct work work = {0};
    call(&work, 5);
    pthread_join(bear(short_thread, &work), NULL);
}

static void one_thread_alone_is_watched_if_wanted(void **state)
{
    (void)state;
    struct program program = start(call_in_a_thread);
    struct breakpoints *breakpoints = watch(&program.pid, 1, BREAKPOINTS_ONE_THREAD, 0);
    let_begin(&program);
    assert_int_equal(wait_for(&program), 0);
    assert_int_equal(count_hits(breakpoints, 5), 5);
    breakpoints_close(breakpoints);
}

static void several_processes_are_watched_at_once(void **state)
{
    (void)state;
    struct program programs[] = {start(call_in_a_thread), start(call_in_a_thread)};
    pid_t pids[] = {programs[0].pid, programs[1].pid};
    struct breakpoints *breakpoints = watch(pids, 2, BREAKPOINTS_ALL_THREADS, 0);
    for (int i = 0; i < 2; i++)
        let_begin(&programs[i]);
    assert_int_equal(count_hits(breakpoints, 2 * (5 + CALLS)), 2 * (5 + CALLS));
    for (int i = 0; i < 2; i++)
        assert_int_equal(wait_for(&programs[i]), 0);
    nothing_went_wrong(breakpoints);
    breakpoints_close(breakpoints);
}

/* ---- files mapped later ---- */

/* Follows the process until it is watched at `count` addresses. */
static void wait_until_watched(struct breakpoints *breakpoints, pid_t pid, size_t count)
{
    struct breakpoint_hit hit;
    while (breakpoints_watched(breakpoints, pid) != count && wait_for_hits(breakpoints, -1))
        assert_false(breakpoints_next(breakpoints, &hit));
    assert_int_equal(breakpoints_watched(breakpoints, pid), count);
}

/* Maps its own code once more, as dlopen would a library's, and calls it there, in a thread that
 * existed before and in a new one. */
static void *call_mapped(void *mapped)
{
    ((void (*)(uint64_t, uint64_t))mapped)(7, 8);
    return NULL;
}

static void *wait_and_call_mapped(void *mapped)
{
    while (!shared->begin)
        usleep(100);
    return call_mapped(*(void **)mapped);
}

static void map_and_call(void)
{
    void *mapped = NULL;
    pthread_t old = bear(wait_and_call_mapped, &mapped);
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    uint64_t offset = the_place.file_offset / page * page;
    int file = open("/proc/self/exe", O_RDONLY);
    wait_for_go(go_descriptor);
    char *memory = mmap(NULL, 2 * page, PROT_READ | PROT_EXEC, MAP_PRIVATE, file, (off_t)offset);
    if (memory == MAP_FAILED)
        _exit(5);
    mapped = memory + (the_place.file_offset - offset);
    wait_for_go(go_descriptor);
    shared->begin = 1;
    pthread_join(old, NULL);
    pthread_join(bear(call_mapped, mapped), NULL);
    munmap(memory, 2 * page);
}

static void a_file_that_is_mapped_later_is_watched(void **state)
{
    (void)state;
    struct program program = start(map_and_call);
    let_begin(&program);
    struct breakpoints *breakpoints = watch(&program.pid, 1, BREAKPOINTS_ALL_THREADS, 0);
    let_begin(&program);
    wait_until_watched(breakpoints, program.pid, 2);
    let_begin(&program);
    assert_int_equal(wait_for(&program), 0);
    struct breakpoint_hit hit;
    for (int i = 0; i < 2; i++) {
        assert_true(breakpoints_next(breakpoints, &hit));
        assert_int_not_equal(hit.ip, (uintptr_t)place);
        assert_int_equal(hit.arguments[0], 7);
        assert_int_equal(hit.arguments[1], 8);
    }
    assert_false(breakpoints_next(breakpoints, &hit));
    nothing_went_wrong(breakpoints);
    breakpoints_close(breakpoints);
}

/* The test's own program again, which then does what main() below does with arguments. */
static int ready[2]; /* a pipe: it has begun */

static void become_another_program(void)
{
    char descriptors[2][16];
    snprintf(descriptors[0], sizeof descriptors[0], "%d", dup(go_descriptor));
    snprintf(descriptors[1], sizeof descriptors[1], "%d", dup(ready[1]));
    execl("/proc/self/exe", "another", descriptors[0], descriptors[1], (char *)NULL);
    _exit(6);
}

static void become_a_program_that_calls_at_once(void)
{
    execl("/proc/self/exe", "another", "at once", (char *)NULL);
    _exit(6);
}

static int another_program(char **descriptors)
{
    struct work work = {0};
    if (strcmp(descriptors[0], "at once") == 0) {
        call(&work, 3);
        return 0;
    }
    signal(SIGTRAP, endure_traps);
    if (write(atoi(descriptors[1]), "", 1) != 1)
        return 7;
    wait_for_go(atoi(descriptors[0]));
    call(&work, 3);
    pthread_join(bear(short_thread, &work), NULL);
    return 0;
}

static void a_program_that_becomes_another_is_watched(void **state)
{
    (void)state;
    assert_int_equal(pipe2(ready, O_CLOEXEC), 0);
    struct program program = start(become_another_program);
    struct breakpoints *breakpoints = watch(&program.pid, 1, BREAKPOINTS_ALL_THREADS, 0);
    let_begin(&program);
    struct breakpoint_hit hit;
    wait_for_go(ready[0]);
    assert_false(breakpoints_next(breakpoints, &hit));
    assert_int_equal(breakpoints_watched(breakpoints, program.pid), 1);
    let_begin(&program);
    assert_int_equal(wait_for(&program), 0);
    assert_int_equal(count_hits(breakpoints, 3 + CALLS), 3 + CALLS);
    nothing_went_wrong(breakpoints);
    breakpoints_close(breakpoints);
    close(ready[0]);
    close(ready[1]);
}

static void a_program_is_watched_from_its_first_instruction_if_it_is_stopped_there(void **state)
{
    (void)state;
    struct program program = start(become_a_program_that_calls_at_once);
    struct breakpoints *breakpoints = watch(&program.pid, 1, BREAKPOINTS_ALL_THREADS, 0);
    struct breakpoint_hit hit;
    int status;
    assert_int_equal(ptrace(PTRACE_SEIZE, program.pid, NULL, (void *)PTRACE_O_TRACEEXEC), 0);
    let_begin(&program);
    assert_int_equal(waitpid(program.pid, &status, 0), program.pid);
    assert_int_equal(status >> 16, PTRACE_EVENT_EXEC);
    assert_false(breakpoints_next(breakpoints, &hit));
    assert_int_equal(breakpoints_watched(breakpoints, program.pid), 1);
    assert_int_equal(ptrace(PTRACE_DETACH, program.pid, NULL, NULL), 0);
    assert_int_equal(wait_for(&program), 0);
    assert_int_equal(count_hits(breakpoints, 3), 3);
    breakpoints_close(breakpoints);
}

/* ---- armed or not ---- */

static void wait_to_call(void)
{
    struct work work = {0};
    for (int i = 0; i < 3; i++) {
        call(&work, 4);
        shared->rounds++;
        wait_for_go(go_descriptor);
    }
}

static void wait_for_rounds(uint64_t rounds)
{
    while (shared->rounds < rounds)
        usleep(100);
}

static void hits_count_while_armed_alone_and_nothing_wakes_us_idle(void **state)
{
    (void)state;
    struct program program = start(wait_to_call);
    struct breakpoints *breakpoints = watch(&program.pid, 1, BREAKPOINTS_ALL_THREADS, 0);
    assert_true(breakpoints_arm(breakpoints, false, NULL));
    let_begin(&program);
    wait_for_rounds(1);
    assert_false(wait_for_hits(breakpoints, 0));
    assert_true(breakpoints_arm(breakpoints, true, NULL));
    assert_false(wait_for_hits(breakpoints, 50));
    let_begin(&program);
    wait_for_rounds(2);
    assert_int_equal(count_hits(breakpoints, 4), 4);
    assert_true(breakpoints_arm(breakpoints, false, NULL));
    let_begin(&program);
    wait_for_rounds(3);
    assert_false(wait_for_hits(breakpoints, 50));
    let_begin(&program);
    assert_int_equal(wait_for(&program), 0);
    struct breakpoint_hit hit;
    assert_false(breakpoints_next(breakpoints, &hit));
    breakpoints_close(breakpoints);
}

/* ---- being killed ---- */

static void *count_for_ever(void *given)
{
    struct work work = {.worker = (uint64_t)(uintptr_t)given};
    while (!shared->begin) {
        pthread_join(bear(short_thread, &work), NULL);
        call(&work, 1);
    }
    return (void *)(uintptr_t)(work.number % (CALLS + 1));
}

/* Exits with 0 when all that was begun was finished. */
static void call_until_reported(void)
{
    pthread_t threads[2];
    uintptr_t unfinished = 0;
    for (uintptr_t i = 0; i < 2; i++)
        threads[i] = bear(count_for_ever, (void *)i);
    for (int i = 0; i < 2; i++) {
        void *left;
        pthread_join(threads[i], &left);
        unfinished += (uintptr_t)left;
    }
    _exit(unfinished ? 1 : 0);
}

static void be_killed_watching(pid_t pid, unsigned microseconds)
{
    pid_t watcher = fork();
    if (watcher == 0) {
        struct breakpoints *breakpoints = watch(&pid, 1, BREAKPOINTS_ALL_THREADS, 0);
        count_hits(breakpoints, UINT64_MAX);
        _exit(0);
    }
    usleep(microseconds);
    kill(watcher, SIGKILL);
    int status;
    assert_int_equal(waitpid(watcher, &status, 0), watcher);
    assert_true(WIFSIGNALED(status));
}

static void a_watcher_that_is_killed_leaves_nothing(void **state)
{
    (void)state;
    struct program program = start(call_until_reported);
    let_begin(&program);
    unsigned random = 1;
    for (int i = 0; i < 200; i++) {
        random = random * 1103515245 + 12345;
        be_killed_watching(program.pid, random / 65536 % 6000);
        assert_int_equal(waitpid(program.pid, NULL, WNOHANG), 0);
    }
    shared->begin = 1;
    assert_int_equal(wait_for(&program), 0);
}

/* ---- what cannot be watched ---- */

static void refuse(const struct trigger *wanted, pid_t pid, const char *part)
{
    struct breakpoints_options options = {.kernel = &kernel_real,
                                          .trigger = wanted,
                                          .pids = &pid,
                                          .pid_count = 1,
                                          .scope = BREAKPOINTS_ALL_THREADS};
    struct error error = {0};
    assert_null(breakpoints_open(&options, &error));
    if (!strstr(error.text, part))
        fail_msg("`%s` is not in: %s", part, error.text);
}

static void what_cannot_be_watched_is_reported(void **state)
{
    (void)state;
    struct program program = start(work);
    struct trigger_place places[5];
    for (int i = 0; i < 5; i++) {
        places[i] = the_place;
        places[i].file_offset += (uint64_t)i;
    }
    struct trigger five = {.name = "five", .places = places, .place_count = 5};
    refuse(&five, program.pid, "five is at 5 places in process");
    kill(program.pid, SIGKILL);
    wait_for(&program);
    refuse(&trigger, program.pid, "has ended");
}

static void four_places_are_watched(void **state)
{
    (void)state;
    struct program program = start(call_in_a_thread);
    /* The first is an instruction's beginning for certain. */
    struct trigger_place places[4];
    for (int i = 0; i < 4; i++) {
        places[i] = the_place;
        places[i].file_offset += (uint64_t)i;
    }
    struct trigger four = {.name = "four", .places = places, .place_count = 4};
    struct breakpoints_options options = {.kernel = &kernel_real,
                                          .trigger = &four,
                                          .pids = &program.pid,
                                          .pid_count = 1,
                                          .scope = BREAKPOINTS_ALL_THREADS};
    struct error error = {0};
    struct breakpoints *breakpoints = breakpoints_open(&options, &error);
    if (!breakpoints)
        fail_msg("%s", error.text);
    refuse(&four, program.pid, "no debug register");
    let_begin(&program);
    assert_true(count_hits(breakpoints, 5 + CALLS) >= 5 + CALLS);
    assert_int_equal(wait_for(&program), 0);
    breakpoints_close(breakpoints);
}

/* ---- without privileges ---- */

/* Exit statuses of a user's watcher. */
enum { USER_OK, USER_CANNOT_BECOME, USER_CANNOT_WATCH_OWN, USER_MISSES_HITS, USER_MAY_TOO_MUCH };

/* One of its own: what perf may lock is counted for all processes of a user together (perf_event_mlock_kb), and `nobody` may have others. */
static bool become_a_user(uid_t user)
{
    struct rlimit none = {0, 0};
    return setgroups(0, NULL) == 0 && setresgid(user, user, user) == 0 &&
           setresuid(user, user, user) == 0 && prctl(PR_SET_DUMPABLE, 1) == 0 &&
           setrlimit(RLIMIT_MEMLOCK, &none) == 0;
}

static struct breakpoints *try_to_watch(pid_t pid, struct error *error)
{
    struct breakpoints_options options = {.kernel = &kernel_real,
                                          .trigger = &trigger,
                                          .pids = &pid,
                                          .pid_count = 1,
                                          .scope = BREAKPOINTS_ALL_THREADS};
    return breakpoints_open(&options, error);
}

static int watch_as_a_user(pid_t root_program)
{
    enum { FIRST_USER = 60000, USERS = 5000 };
    uid_t user = FIRST_USER + (uid_t)getpid() % USERS;
    struct error error = {0};
    char difference[64];
    snprintf(difference, sizeof difference, "another user (0; this is %u)", (unsigned)user);
    if (!become_a_user(user))
        return USER_CANNOT_BECOME;
    struct program own = start(call_in_a_thread);
    struct breakpoints *breakpoints = try_to_watch(own.pid, &error);
    if (!breakpoints) {
        fprintf(stderr, "%s\n", error.text);
        return USER_CANNOT_WATCH_OWN;
    }
    let_begin(&own);
    if (count_hits(breakpoints, 5 + CALLS) != 5 + CALLS)
        return USER_MISSES_HITS;
    breakpoints_close(breakpoints);
    bool refused = !try_to_watch(root_program, &error) && strstr(error.text, difference) &&
                   strstr(error.text, "cap_perfmon");
    if (!refused)
        fprintf(stderr, "%s\n", error.text);
    return refused ? USER_OK : USER_MAY_TOO_MUCH;
}

static void users_may_watch_what_is_theirs_without_locked_memory(void **state)
{
    (void)state;
    struct kernel kernel = kernel_real;
    if (geteuid() != 0 || event_paranoia(&kernel) != 2) {
        print_message("not root, or not the default perf_event_paranoid\n");
        skip();
    }
    struct program program = start(work);
    pid_t user = fork();
    if (user == 0)
        _exit(watch_as_a_user(program.pid));
    int status;
    assert_int_equal(waitpid(user, &status, 0), user);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), USER_OK);
    kill(program.pid, SIGKILL);
    wait_for(&program);
}

/* ---- the tests ---- */

static bool breakpoints_work_here(void)
{
    if (!debug_registers_fire()) {
        print_message("skipped: " DEBUG_REGISTERS_SILENT "\n");
        return false;
    }
    pid_t own = getpid();
    struct breakpoints_options options = {
        .kernel = &kernel_real, .trigger = &trigger, .pids = &own, .pid_count = 1};
    struct error error = {0};
    struct breakpoints *breakpoints = breakpoints_open(&options, &error);
    breakpoints_close(breakpoints);
    if (!breakpoints)
        print_message("skipped: %s\n", error.text);
    return breakpoints != NULL;
}

int main(int argument_count, char **arguments)
{
    if (argument_count > 1)
        return another_program(arguments + 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ten_thousand_hits_in_threads_that_come_and_go),
        cmocka_unit_test(a_program_that_bears_threads_all_the_time_is_watched_whole),
        cmocka_unit_test(child_processes_are_watched_if_wanted),
        cmocka_unit_test(one_thread_alone_is_watched_if_wanted),
        cmocka_unit_test(several_processes_are_watched_at_once),
        cmocka_unit_test(a_file_that_is_mapped_later_is_watched),
        cmocka_unit_test(a_program_that_becomes_another_is_watched),
        cmocka_unit_test(a_program_is_watched_from_its_first_instruction_if_it_is_stopped_there),
        cmocka_unit_test(hits_count_while_armed_alone_and_nothing_wakes_us_idle),
        cmocka_unit_test(a_watcher_that_is_killed_leaves_nothing),
        cmocka_unit_test(what_cannot_be_watched_is_reported),
        cmocka_unit_test(four_places_are_watched),
        cmocka_unit_test(users_may_watch_what_is_theirs_without_locked_memory),
    };
    find_place(&the_place, (void *)(uintptr_t)place);
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED || !breakpoints_work_here())
        return 77; /* meson: skipped */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
