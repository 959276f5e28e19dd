/* Stopping the threads of a program that ignores SIGCHLD and waits in epoll_wait, which returns EINTR when the kernel wakes it for a
 * signal that is ignored: it must not notice, whenever its children end.
 */
#include "engine/translator/inject/stopped_threads.h"

#include "process/system_call_restart.h"

#include <ctype.h>
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

/* Shared with the program. */
struct program {
    pid_t pid;
    _Atomic pid_t waiter, parent, child; /* threads, and the process that `parent` waits for */
    _Atomic bool child_has_ended;
    _Atomic bool wait_has_ended; /* which it never should */
};

static void pause_briefly(void)
{
    const struct timespec moment = {.tv_nsec = 1000 * 1000};
    nanosleep(&moment, NULL);
}

/* ---- the program ---- */

static void *wait_for_ever(void *argument)
{
    struct program *program = argument;
    struct epoll_event event;
    int epoll = epoll_create1(0);
    atomic_store(&program->waiter, gettid());
    epoll_wait(epoll, &event, 1, -1);
    atomic_store(&program->wait_has_ended, true);
    return NULL;
}

static void *wait_for_child(void *argument)
{
    struct program *program = argument;
    atomic_store(&program->parent, gettid());
    pid_t child = fork();
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        pause();
        _exit(0);
    }
    atomic_store(&program->child, child);
    waitpid(child, NULL, 0);
    atomic_store(&program->child_has_ended, true);
    return NULL;
}

static _Noreturn void run(struct program *program)
{
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, wait_for_ever, program);
    pthread_create(&threads[1], NULL, wait_for_child, program);
    for (;;)
        pause();
}

/* ---- the test's side ---- */

static void expect_call(pid_t tid, long call)
{
    char path[64], text[64] = "";
    snprintf(path, sizeof path, "/proc/%d/syscall", (int)tid);
    do {
        FILE *file = fopen(path, "r");
        assert_non_null(file);
        if (!fgets(text, sizeof text, file))
            text[0] = '\0';
        fclose(file);
        pause_briefly();
    } while (!isdigit((unsigned char)text[0]) || strtol(text, NULL, 10) != call);
}

static void expect_call_that_waits(pid_t tid)
{
    expect_call(tid, SYS_epoll_wait);
}

static struct program *begin(bool has_threads)
{
    struct program *program =
        mmap(NULL, sizeof *program, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(program != MAP_FAILED);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL); /* when a test fails */
        if (has_threads)
            run(program);
        wait_for_ever(program);
        _exit(0);
    }
    program->pid = pid;
    while (!program->waiter || (has_threads && !program->child))
        pause_briefly();
    expect_call_that_waits(program->waiter);
    if (has_threads)
        expect_call(program->parent, SYS_wait4);
    return program;
}

static void end(struct program *program)
{
    if (program->child && !program->child_has_ended)
        kill(program->child, SIGKILL);
    kill(program->pid, SIGKILL);
    assert_int_equal(waitpid(program->pid, NULL, 0), program->pid);
    munmap(program, sizeof *program);
}

static struct stopped_thread *thread_at(struct stopped_threads *stopped, size_t index)
{
    return array_at(&stopped->threads, index);
}

/* However long it takes to let the others go after the first one. */
static void no_wait_ends_because_a_child_ends_while_they_go_on(void **state)
{
    struct program *program = begin(true);
    struct stopped_threads stopped;
    struct error error;
    (void)state;
    while (!threads_stop(&stopped, program->pid, &error)) /* on a busy machine */
        assert_int_equal(error.code, ERROR_IO);
    assert_int_equal(stopped.threads.count, 3);

    struct stopped_thread *first = thread_at(&stopped, 0);
    assert_int_equal(first->tid, program->parent);
    assert_int_equal(thread_at(&stopped, 2)->tid, program->waiter);
    thread_detach(first);
    kill(program->child, SIGKILL);
    while (!program->child_has_ended)
        pause_briefly();

    threads_go_on(&stopped);
    expect_call_that_waits(program->waiter);
    assert_false(program->wait_has_ended);
    end(program);
}

/* The kernel keeps an ignored signal for a thread that is traced, and wakes it. */
static void an_ignored_signal_that_comes_before_the_stop_ends_no_wait(void **state)
{
    struct program *program = begin(false);
    struct stopped_threads stopped;
    struct error error;
    siginfo_t info;
    (void)state;
    assert_int_equal(ptrace(PTRACE_SEIZE, program->pid, NULL, NULL), 0);
    assert_int_equal(kill(program->pid, SIGCHLD), 0);
    assert_int_equal(waitid(P_PID, (id_t)program->pid, &info, WSTOPPED | WNOWAIT), 0);
    assert_int_equal(info.si_status, SIGCHLD);

    assert_true(threads_stop_at(&stopped, program->pid, 0, &error));
    threads_go_on(&stopped);
    expect_call_that_waits(program->waiter);
    assert_false(program->wait_has_ended);
    end(program);
}

static void handle(int signal)
{
    (void)signal;
}

static void signals_are_ignored_by_default_or_by_disposition(void **state)
{
    (void)state;
    assert_true(signal_is_ignored(getpid(), SIGCHLD));
    assert_false(signal_is_ignored(getpid(), SIGUSR1));
    assert_false(signal_is_ignored(getpid(), 0));
    assert_false(signal_is_ignored(getpid(), SIGTRAP | 0x80));
    signal(SIGCHLD, handle);
    signal(SIGUSR1, SIG_IGN);
    assert_false(signal_is_ignored(getpid(), SIGCHLD));
    assert_true(signal_is_ignored(getpid(), SIGUSR1));
    signal(SIGCHLD, SIG_DFL);
    signal(SIGUSR1, SIG_DFL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_wait_ends_because_a_child_ends_while_they_go_on),
        cmocka_unit_test(an_ignored_signal_that_comes_before_the_stop_ends_no_wait),
        cmocka_unit_test(signals_are_ignored_by_default_or_by_disposition),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
