/* Starting a program and treating its signals as a shell would. The programs are shell scripts, run
 * natively; each reports through a pipe when it is ready, and a helper process then sends us the
 * signals.
 */
#include "engine/supervise.h"

#include "base/file.h"

#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

enum { READY = 7 }; /* the program's descriptor for reporting that it is ready */

struct outcome {
    int status;
    unsigned interrupts;
    bool frozen;
};

static void freeze(void *outcome)
{
    ((struct outcome *)outcome)->frozen = true;
}

static void send_when_ready(int ready, const int *numbers)
{
    struct timespec apart = {.tv_nsec = 150 * 1000000}; /* between two Ctrl-C of a user */
    char byte;
    if (read(ready, &byte, 1) != 1)
        _exit(1);
    for (; *numbers; numbers++) {
        kill(getppid(), *numbers);
        nanosleep(&apart, NULL);
    }
    _exit(0);
}

/* Runs a program and sends us `numbers` (ended by 0) once it has written to descriptor 7. */
static struct outcome run_program(char **arguments, const int *numbers)
{
    int ready[2];
    assert_int_equal(pipe2(ready, O_CLOEXEC), 0);
    pid_t helper = fork();
    if (helper == 0)
        send_when_ready(ready[0], numbers);
    close(ready[0]);
    assert_int_equal(dup2(ready[1], READY), READY);
    close(ready[1]);

    struct error error;
    struct signals signals;
    struct outcome outcome = {0};
    _Atomic uint32_t frozen = 0;
    _Atomic uint64_t snapshots = 0, freeze_at = 0, longest_delay = 0;
    struct supervision supervision = {
        .program.signals = &signals,
        .shared = {&frozen, &snapshots, &freeze_at, &longest_delay},
        .freeze = freeze,
        .descriptor = -1,
        .recording = &outcome,
        .is_traced = {process_has_argument, "no such argument"},
    };
    assert_true(signals_hold(&signals, &error));
    assert_true(launch(&supervision.program.child, arguments, environ, &signals, false, &error));
    close(READY);
    outcome.status = supervise(&supervision);
    outcome.interrupts = supervision.program.interrupts;
    kill(helper, SIGKILL);
    waitpid(helper, NULL, 0);
    signals_release(&signals, true);
    return outcome;
}

static struct outcome run(const char *script, const int *numbers)
{
    char *arguments[] = {"/bin/sh", "-c", (char *)script, NULL};
    return run_program(arguments, numbers);
}

static const int nothing[] = {0};

static void the_exit_status_is_the_programs(void **state)
{
    struct outcome outcome = run("exit 42", nothing);
    assert_true(WIFEXITED(outcome.status));
    assert_int_equal(WEXITSTATUS(outcome.status), 42);
    assert_int_equal(outcome.interrupts, 0);
    assert_false(outcome.frozen);
    outcome = run("kill -KILL $$", nothing);
    assert_true(WIFSIGNALED(outcome.status));
    assert_int_equal(WTERMSIG(outcome.status), SIGKILL);
}

static void signals_of_others_are_passed_on(void **state)
{
    struct outcome outcome = run("trap 'exit 5' USR1; echo >&7; while :; do sleep 0.05; done",
                                 (const int[]){SIGUSR1, 0});
    assert_int_equal(WEXITSTATUS(outcome.status), 5);
    assert_false(outcome.frozen);
}

static void an_interrupt_freezes_and_is_passed_on(void **state)
{
    struct outcome outcome =
        run("trap 'exit 6' INT; echo >&7; while :; do sleep 0.05; done", (const int[]){SIGINT, 0});
    assert_int_equal(WEXITSTATUS(outcome.status), 6);
    assert_int_equal(outcome.interrupts, 1);
    assert_true(outcome.frozen);
}

/* Every sender lives until we have taken its signal: the owner of a process that has ended is
 * unknown. */
static void what_the_program_sends_does_not_come_back_to_it(void **state)
{
    struct outcome outcome =
        run("trap 'exit 7' INT USR1; us=$PPID; export us; "
            "taken='while ! grep -q \"^ShdPnd:.0*$\" /proc/$us/status; do sleep 0.01; done; "
            "sleep 0.1'; export taken; "
            "kill -INT $us; kill -USR1 $us; eval \"$taken\"; "
            "sh -c 'kill -INT $us; eval \"$taken\"'; exit 3",
            nothing);
    assert_int_equal(WEXITSTATUS(outcome.status), 3);
    assert_int_equal(outcome.interrupts, 0);
}

/* The children ignore the interrupt; a grandchild is alone in its session. The program sleeps in a
 * read that a signal only repeats. */
static void a_second_interrupt_kills_the_whole_tree(void **state)
{
    char pids[] = "/tmp/magic-trace-pids-XXXXXX";
    int descriptor = mkstemp(pids);
    assert_true(descriptor >= 0);
    char script[512];
    snprintf(script, sizeof script,
             "trap '' INT; sleep 1000 & echo $! >>%s; setsid sh -c 'sleep 1000 & echo $! >>%s; "
             "echo >&7; wait' & echo $! >>%s; wait",
             pids, pids, pids);
    struct outcome outcome = run(script, (const int[]){SIGINT, SIGINT, 0});
    assert_int_equal(WTERMSIG(outcome.status), SIGKILL);
    assert_int_equal(outcome.interrupts, 2);

    char *text = file_read(pids, NULL, NULL);
    size_t count = 0;
    for (char *rest = text, *line; (line = strsep(&rest, "\n"));) {
        if (!*line)
            continue;
        pid_t pid = (pid_t)atoi(line);
        assert_true(thread_state(pid, pid) == 0 || thread_state(pid, pid) == 'Z');
        count++;
    }
    assert_int_equal(count, 3);
    free(text);
    close(descriptor);
    unlink(pids);
}

static void the_program_gets_the_signal_state_we_were_given(void **state)
{
    sigset_t blocked, before;
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGUSR2);
    sigprocmask(SIG_BLOCK, &blocked, &before);
    signal(SIGCHLD, SIG_IGN);
    /* Not through a shell: it would set its own. SIGCHLD is the lowest bit of the fifth digit. */
    char *sees_mask[] = {"/bin/grep", "-q", "SigBlk:.0000000000000800", "/proc/self/status", NULL};
    char *sees_ignored[] = {"/bin/grep", "-q", "SigIgn:.*[13579bdf]....$", "/proc/self/status",
                            NULL};
    struct outcome mask = run_program(sees_mask, nothing);
    struct outcome ignored = run_program(sees_ignored, nothing);
    signal(SIGCHLD, SIG_DFL);
    sigprocmask(SIG_SETMASK, &before, NULL);
    assert_int_equal(mask.status, 0);
    assert_int_equal(ignored.status, 0);
}

static void the_program_gets_no_descriptor_of_ours(void **state)
{
    struct outcome outcome = run("exec 7>&-; for fd in /proc/self/fd/*; do case $(readlink $fd) in "
                                 "*signalfd*|*pidfd*) exit 1;; esac; done",
                                 nothing);
    assert_int_equal(outcome.status, 0);
}

static void what_cannot_be_started_is_an_error(void **state)
{
    struct error error = {0};
    struct signals signals;
    struct child child;
    char *arguments[] = {"/no/such/emulator", NULL};
    assert_true(signals_hold(&signals, &error));
    assert_false(launch(&child, arguments, environ, &signals, false, &error));
    signals_release(&signals, false);
    assert_non_null(strstr(error.text, "/no/such/emulator"));
    assert_non_null(strstr(error.text, "No such file"));
}

/* Whether the file exists. */
static bool hold(struct held_program *held, struct signals *signals, const char *path)
{
    char *arguments[] = {"/bin/sh", "-c", "touch \"$0\"; exit 9", (char *)path, NULL};
    unlink(path);
    *held = (struct held_program){0};
    assert_true(launch_held(held, arguments[0], arguments, environ, signals, NULL));
    return access(path, F_OK) == 0;
}

static void a_held_program_runs_when_it_is_let_go(void **state)
{
    (void)state;
    char path[] = "/tmp/magic-trace-held-XXXXXX";
    close(mkstemp(path));
    struct signals signals;
    assert_true(signals_hold(&signals, NULL));
    struct held_program held;
    assert_false(hold(&held, &signals, path));
    assert_true(launch_go(&held, NULL));
    struct program_signals program = {.signals = &signals, .child = held.child};
    assert_int_equal(WEXITSTATUS(program_signals_end(&program)), 9);
    assert_int_equal(access(path, F_OK), 0);

    assert_false(hold(&held, &signals, path));
    launch_give_up(&held);
    assert_int_equal(waitpid(held.child.pid, NULL, 0), -1);
    assert_int_not_equal(access(path, F_OK), 0);
    signals_release(&signals, true);
}

/* ---- a snapshot of a process that was attached to ---- */

struct attached_recording {
    _Atomic uint32_t frozen;
    _Atomic uint64_t snapshots, freeze_at, longest_delay;
    unsigned looks;
    bool froze;
};

static void freeze_attached(void *context)
{
    struct attached_recording *recording = context;
    recording->froze = true;
    atomic_store(&recording->frozen, 1);
}

/* The thread that takes the snapshot sets the time after the recorder has looked; then it sleeps for ever. */
static void set_time(void *context)
{
    enum { PATIENCE = 20 };
    struct attached_recording *recording = context;
    atomic_store(&recording->freeze_at, 1);
    if (++recording->looks == PATIENCE)
        atomic_store(&recording->frozen, 1);
}

static void a_snapshot_whose_time_is_set_late_ends_the_recording(void **state)
{
    struct attached_recording recording = {.snapshots = 1};
    struct signals signals;
    pid_t process = getpid();
    struct supervision supervision = {
        .program.signals = &signals,
        .shared = {&recording.frozen, &recording.snapshots, &recording.freeze_at,
                   &recording.longest_delay},
        .has_trigger = true,
        .freeze = freeze_attached,
        .serve = set_time,
        .descriptor = -1,
        .recording = &recording,
    };
    (void)state;
    assert_true(signals_hold(&signals, NULL));
    assert_false(supervise_attached(&supervision, &process, 1));
    signals_release(&signals, true);
    assert_true(recording.froze);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_snapshot_whose_time_is_set_late_ends_the_recording),
        cmocka_unit_test(a_held_program_runs_when_it_is_let_go),
        cmocka_unit_test(the_exit_status_is_the_programs),
        cmocka_unit_test(signals_of_others_are_passed_on),
        cmocka_unit_test(an_interrupt_freezes_and_is_passed_on),
        cmocka_unit_test(what_the_program_sends_does_not_come_back_to_it),
        cmocka_unit_test(a_second_interrupt_kills_the_whole_tree),
        cmocka_unit_test(the_program_gets_the_signal_state_we_were_given),
        cmocka_unit_test(the_program_gets_no_descriptor_of_ours),
        cmocka_unit_test(what_cannot_be_started_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
