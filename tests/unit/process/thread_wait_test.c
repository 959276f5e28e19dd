/* A program of two threads is killed while both are traced. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "process/processes.h"
#include "process/thread_wait.h"

#include <pthread.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

struct program {
    pid_t leader, other;
};

static void *report_and_sleep(void *pipe)
{
    pid_t tid = (pid_t)syscall(SYS_gettid);
    if (write(*(int *)pipe, &tid, sizeof tid) == sizeof tid)
        for (;;)
            pause();
    return NULL;
}

static void run(int pipe)
{
    pthread_t thread;
    pthread_create(&thread, NULL, report_and_sleep, &pipe);
    for (;;)
        pause();
}

static struct program start(void)
{
    struct program program;
    int pipes[2];
    assert_int_equal(pipe(pipes), 0);
    program.leader = fork();
    if (program.leader == 0)
        run(pipes[1]);
    assert_int_equal(read(pipes[0], &program.other, sizeof program.other), sizeof program.other);
    close(pipes[0]);
    close(pipes[1]);
    assert_int_equal(ptrace(PTRACE_SEIZE, program.leader, NULL, NULL), 0);
    assert_int_equal(ptrace(PTRACE_SEIZE, program.other, NULL, NULL), 0);
    return program;
}

static void stops_are_waited_for(void **state)
{
    int status;
    struct program program = start();
    assert_int_equal(ptrace(PTRACE_INTERRUPT, program.other, NULL, NULL), 0);
    assert_true(thread_wait(program.other, &status));
    assert_true(WIFSTOPPED(status));
    assert_int_equal(ptrace(PTRACE_INTERRUPT, program.leader, NULL, NULL), 0);
    assert_true(thread_wait(program.leader, &status));
    assert_true(WIFSTOPPED(status));
    kill(program.leader, SIGKILL);
    assert_true(thread_wait(program.other, &status));
    assert_true(WIFSIGNALED(status));
    assert_true(thread_wait(program.leader, &status));
    assert_true(WIFSIGNALED(status));
}

/* waitpid for the first thread alone would wait for ever. */
static void a_leader_dies_before_the_others_are_waited_for(void **state)
{
    int status;
    struct program program = start();
    assert_int_equal(ptrace(PTRACE_INTERRUPT, program.leader, NULL, NULL), 0);
    assert_true(thread_wait(program.leader, &status));
    kill(program.leader, SIGKILL);
    assert_false(thread_wait(program.leader, &status));
    assert_int_equal(thread_state(program.leader, program.leader), 'Z');
    assert_true(thread_wait(program.other, &status));
    assert_true(thread_wait(program.leader, &status));
    assert_int_equal(thread_state(program.leader, program.leader), 0);
}

static void what_a_thread_has_run_for_is_counted(void **state)
{
    pid_t tid = gettid();
    uint64_t begin = thread_processor_time(getpid(), tid);
    assert_true(begin > 0);
    /* The kernel counts at least at each tick of its clock. */
    while (thread_processor_time(getpid(), tid) == begin)
        ;
    assert_true(thread_processor_time(getpid(), tid) > begin);
    assert_int_equal(thread_processor_time(getpid(), 1), 0);
}

static void one_waits_while_others_have_stopped(void **state)
{
    int status;
    struct program program = start();
    assert_int_equal(ptrace(PTRACE_INTERRUPT, program.other, NULL, NULL), 0);
    assert_int_equal(ptrace(PTRACE_INTERRUPT, program.leader, NULL, NULL), 0);
    assert_true(thread_wait(program.leader, &status));
    assert_true(thread_wait(program.other, &status));
    kill(program.leader, SIGKILL);
    assert_true(thread_wait(program.other, &status));
    assert_true(thread_wait(program.leader, &status));
}

static void who_is_not_there_is_not_waited_for(void **state)
{
    int status;
    assert_false(thread_wait(getppid(), &status));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stops_are_waited_for),
        cmocka_unit_test(a_leader_dies_before_the_others_are_waited_for),
        cmocka_unit_test(what_a_thread_has_run_for_is_counted),
        cmocka_unit_test(one_waits_while_others_have_stopped),
        cmocka_unit_test(who_is_not_there_is_not_waited_for),
    };
    alarm(60); /* hanging is what this is about */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
