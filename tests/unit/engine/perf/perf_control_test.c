/* The control channel, with the real perf where there is one: every command is acknowledged. */
#include "engine/perf/perf_control.h"

#include "base/file.h"
#include "base/memory.h"
#include "engine/perf/perf_process.h"
#include "engine/perf/perf_version.h"
#include "recording/perf_script/perf_program.h"

#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static void acknowledgements_are_of_the_commands_in_their_order(void **state)
{
    struct perf_control control;
    enum perf_command command;
    assert_true(perf_control_open(&control, NULL));
    assert_true(perf_control_send(&control, PERF_COMMAND_ENABLE));
    assert_true(perf_control_send(&control, PERF_COMMAND_SNAPSHOT));
    assert_false(perf_control_next_ack(&control, &command));
    /* In two writes, as a pipe may split it. */
    assert_int_equal(write(control.acks[1], "ac", 2), 2);
    assert_false(perf_control_next_ack(&control, &command));
    assert_int_equal(write(control.acks[1], "k\n\0ack\n\0", 8), 8);
    assert_true(perf_control_next_ack(&control, &command));
    assert_int_equal(command, PERF_COMMAND_ENABLE);
    assert_true(perf_control_next_ack(&control, &command));
    assert_int_equal(command, PERF_COMMAND_SNAPSHOT);
    assert_false(perf_control_next_ack(&control, &command));
    char sent[64] = "";
    assert_int_equal(read(control.commands[0], sent, sizeof sent - 1), 16);
    assert_string_equal(sent, "enable\nsnapshot\n");
    perf_control_close(&control);
}

static void too_many_commands_are_not_sent(void **state)
{
    struct perf_control control;
    assert_true(perf_control_open(&control, NULL));
    for (int i = 0; i < PERF_COMMANDS_AWAITED; i++)
        assert_true(perf_control_send(&control, PERF_COMMAND_SNAPSHOT));
    assert_false(perf_control_send(&control, PERF_COMMAND_STOP));
    perf_control_close(&control);
}

/* A perf with a control channel; NULL: there is none. */
static char *usable_perf(void)
{
    struct perf_version version;
    char line[128] = "";
    char *perf = perf_program_find();
    char *command = perf ? memory_format("'%s' --version 2>&1", perf) : NULL;
    FILE *output = command ? popen(command, "r") : NULL;
    if (output && !fgets(line, sizeof line, output))
        *line = 0;
    if (output)
        pclose(output);
    free(command);
    if (perf && perf_version_parse(&version, line) && perf_has_stop(version))
        return perf;
    free(perf);
    return NULL;
}

/* Whether perf has answered; false: it has ended. */
static bool acknowledges(struct perf_control *control, const struct perf_process *process,
                         enum perf_command command)
{
    enum perf_command acknowledged;
    assert_true(perf_control_send(control, command));
    for (;;) {
        if (perf_control_next_ack(control, &acknowledged))
            return acknowledged == command;
        struct pollfd waited_for[] = {{.fd = control->acks[0], .events = POLLIN},
                                      {.fd = process->descriptor, .events = POLLIN}};
        poll(waited_for, 2, -1);
        if (!waited_for[0].revents && waited_for[1].revents)
            return false;
    }
}

static void the_real_perf_answers_every_command(void **state)
{
    char *perf = usable_perf();
    if (!perf)
        skip();
    char folder[] = "/tmp/perf_control_test.XXXXXX";
    assert_non_null(mkdtemp(folder));
    pid_t target = fork();
    if (target == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        pause();
        _exit(0);
    }
    struct perf_control control;
    struct perf_process process;
    struct signals signals;
    assert_true(signals_hold(&signals, NULL));
    assert_true(perf_control_open(&control, NULL));
    char *output = memory_format("%s/perf.data", folder);
    char *channel = memory_format("--control=fd:%d,%d", control.commands[0], control.acks[1]);
    char *pid = memory_format("%d", (int)target);
    char *arguments[] = {perf,          "record", "-o", output,  "-e",
                         "cpu-clock:u", "-t",     pid,  channel, NULL};
    const int inherited[] = {control.commands[0], control.commands[1], control.acks[0],
                             control.acks[1]};
    assert_true(perf_process_start(&process, arguments, &signals, inherited, 4, NULL));
    static const enum perf_command commands[] = {PERF_COMMAND_ENABLE, PERF_COMMAND_SNAPSHOT,
                                                 PERF_COMMAND_DISABLE, PERF_COMMAND_STOP};
    bool answered = true;
    for (size_t i = 0; answered && i < sizeof commands / sizeof *commands; i++)
        answered = acknowledges(&control, &process, commands[i]);
    perf_process_reap(&process);
    char *words = perf_process_words(&process);
    if (!answered)
        print_message("perf does not record here: %s\n", words);
    else
        assert_int_equal(process.status, 0);
    kill(target, SIGKILL);
    waitpid(target, NULL, 0);
    signals_release(&signals, true);
    perf_process_free(&process);
    perf_control_close(&control);
    assert_true(file_remove_tree(folder, NULL));
    free(words);
    free(pid);
    free(channel);
    free(output);
    free(perf);
    if (!answered)
        skip();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(acknowledgements_are_of_the_commands_in_their_order),
        cmocka_unit_test(too_many_commands_are_not_sent),
        cmocka_unit_test(the_real_perf_answers_every_command),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
