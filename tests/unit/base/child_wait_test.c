/* Waiting for a child: its end, its stops, and signals that arrive meanwhile. */
#include "base/child_wait.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { INTERRUPTIONS = 50 };

static volatile sig_atomic_t interruptions;

static void interrupt(int number)
{
    interruptions++;
}

static void interrupted(void **state)
{
    struct sigaction before;
    const struct sigaction action = {.sa_handler = interrupt};
    pid_t parent = getpid();
    assert_int_equal(sigaction(SIGUSR1, &action, &before), 0);
    pid_t child = fork();
    if (child == 0) {
        for (int i = 0; i < INTERRUPTIONS; i++) {
            usleep(1000);
            kill(parent, SIGUSR1);
        }
        _exit(7);
    }
    int status = child_wait(child);
    sigaction(SIGUSR1, &before, NULL);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 7);
    assert_in_range(interruptions, 1, INTERRUPTIONS);
}

static void killed(void **state)
{
    pid_t child = fork();
    if (child == 0)
        for (;;)
            pause();
    kill(child, SIGKILL);
    int status = child_wait(child);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGKILL);
}

static void stopped(void **state)
{
    pid_t child = fork();
    if (child == 0) {
        ptrace(PTRACE_TRACEME, 0, NULL, NULL);
        raise(SIGTRAP);
        _exit(0);
    }
    int status = child_wait(child);
    assert_true(WIFSTOPPED(status));
    assert_int_equal(WSTOPSIG(status), SIGTRAP);
    ptrace(PTRACE_CONT, child, NULL, NULL);
    status = child_wait(child);
    assert_true(WIFEXITED(status));
}

static void none(void **state)
{
    int status = child_wait(getpid());
    assert_int_equal(status, -1);
    assert_false(WIFEXITED(status) || WIFSIGNALED(status) || WIFSTOPPED(status));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(interrupted),
        cmocka_unit_test(killed),
        cmocka_unit_test(stopped),
        cmocka_unit_test(none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
