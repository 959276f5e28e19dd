/* The descriptor of a process, by a pidfd and without: it is readable when the process has ended, not before. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "process/pidfd.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <sys/wait.h>
#include <unistd.h>

static int (*const ways[])(pid_t) = {pidfd_of, pidfd_by_thread};

static void *wait_for_line(void *line)
{
    char byte;
    if (read(*(int *)line, &byte, 1) != 1)
        _exit(1);
    _exit(7);
}

/* A process whose first thread ends at once; the other one ends the process when a byte comes. */
static pid_t start(int line)
{
    static int watched_line; /* outlives the thread's stack */
    pid_t pid = fork();
    pthread_t thread;
    if (pid != 0)
        return pid;
    watched_line = line;
    pthread_create(&thread, NULL, wait_for_line, &watched_line);
    pthread_exit(NULL);
}

static bool is_readable(int descriptor, int milliseconds)
{
    struct pollfd waited = {.fd = descriptor, .events = POLLIN};
    return poll(&waited, 1, milliseconds) == 1;
}

static void it_becomes_readable_at_the_end(void **state)
{
    for (size_t i = 0; i < 2; i++) {
        int line[2], status;
        assert_int_equal(pipe(line), 0);
        pid_t pid = start(line[0]);
        int descriptor = ways[i](pid);
        assert_true(descriptor >= 0);
        assert_false(
            is_readable(descriptor, 50)); /* an error here is found at some time, not always */
        assert_int_equal(write(line[1], "", 1), 1);
        assert_true(is_readable(descriptor, -1));
        assert_true(is_readable(descriptor, 0)); /* and stays so */
        assert_int_equal(waitpid(pid, &status, 0), pid);
        assert_int_equal(status, 7 << 8);
        close(descriptor);
        close(line[0]);
        close(line[1]);
    }
}

static void there_is_none_of_what_has_been_waited_for(void **state)
{
    for (size_t i = 0; i < 2; i++) {
        pid_t pid = fork();
        if (pid == 0)
            _exit(0);
        assert_int_equal(waitpid(pid, NULL, 0), pid);
        assert_int_equal(ways[i](pid), -1);
        assert_int_equal(errno, ESRCH);
    }
}

static void signals_reach_the_process(void **state)
{
    for (size_t i = 0; i < 2; i++) {
        int status;
        pid_t pid = fork();
        if (pid == 0)
            for (;;)
                pause();
        int descriptor = ways[i](pid);
        pidfd_signal(descriptor, pid, SIGTERM, NULL);
        assert_true(is_readable(descriptor, -1));
        assert_int_equal(waitpid(pid, &status, 0), pid);
        assert_int_equal(status, SIGTERM);
        close(descriptor);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_becomes_readable_at_the_end),
        cmocka_unit_test(there_is_none_of_what_has_been_waited_for),
        cmocka_unit_test(signals_reach_the_process),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
