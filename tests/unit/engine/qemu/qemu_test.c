/* The qemu engine with qemu and its plugin: however the program or magic-trace ends, there is a
 * recording, and stock perf decodes it without an error (where perf is installed). The program is
 * traced_program.c. */
#include "engine/qemu/qemu.h"

#include "base/file.h"
#include "base/memory.h"
#include "recording/perf_data/perf_data_reader.h"
#include "recording/session.h"

#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static const char *traced_program; /* its path, from the command line */

struct folder {
    char path[64];
    char token[80]; /* a file that the program makes */
};

static int make_folder(void **state)
{
    struct folder *folder = memory_allocate_zeroed(sizeof *folder);
    strcpy(folder->path, "/tmp/magic-trace-soft-XXXXXX");
    if (!mkdtemp(folder->path))
        return 1;
    snprintf(folder->token, sizeof folder->token, "%s/token", folder->path);
    *state = folder;
    return 0;
}

static int remove_folder(void **state)
{
    struct folder *folder = *state;
    bool removed = file_remove_tree(folder->path, NULL);
    free(folder);
    return !removed;
}

static bool exists(const struct folder *folder, const char *name)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", folder->path, name);
    return access(path, F_OK) == 0;
}

static void wait_for_token(const struct folder *folder)
{
    while (access(folder->token, F_OK) != 0)
        usleep(10 * 1000);
}

static bool record(struct folder *folder, const char *how, enum record_clock clock,
                   struct record_result *result, struct error *error)
{
    char *command[] = {(char *)traced_program, (char *)how, folder->token, NULL};
    char *magic_trace[] = {"magic-trace", NULL};
    struct record_options options = {
        .command = command,
        .directory = folder->path,
        .clock = clock,
        .snapshot_size = 1 << 20,
        .follow = strcmp(how, "leave") == 0,
        .magic_trace_command = magic_trace,
    };
    return qemu_engine.record(&options, result, error);
}

static struct record_result record_well(struct folder *folder, const char *how,
                                        enum record_clock clock)
{
    struct record_result result;
    struct error error;
    if (!record(folder, how, clock, &result, &error))
        fail_msg("%s", error.text);
    return result;
}

/* `perf script --itrace=e` prints a line per decode error. */
static void expect_perf_decodes(const char *path)
{
    if (system("perf --version >/dev/null 2>&1") != 0) {
        print_message("perf is not installed: not judged by it\n");
        return;
    }
    char command[256];
    snprintf(command, sizeof command,
             "perf script --itrace=e -i %s 2>&1 | grep 'instruction trace error'", path);
    assert_int_not_equal(system(command), 0);
}

static void expect_recording(const struct folder *folder, int exit_status)
{
    char path[128];
    snprintf(path, sizeof path, "%s/perf.data", folder->path);
    struct error error;
    struct perf_data data;
    if (!perf_data_open(&data, path, &error))
        fail_msg("%s", error.text);
    assert_int_equal(data.damage.code, ERROR_NONE);
    assert_true(data.chunk_count >= 1);
    assert_true(data.chunks[0].size > 100);
    perf_data_close(&data);

    struct session session;
    assert_true(session_read(&session, folder->path, &error));
    assert_int_equal(session.exit_status, exit_status);
    assert_true(session.instructions > 10000);
    session_free(&session);
    assert_false(exists(folder, "soft"));
    expect_perf_decodes(path);
}

static void a_program_that_exits(void **state)
{
    struct record_result result = record_well(*state, "exit", RECORD_CLOCK_DEFAULT);
    assert_int_equal(WEXITSTATUS(result.exit_status), 3);
    assert_false(result.interrupted);
    expect_recording(*state, result.exit_status);
}

static void a_program_that_aborts(void **state)
{
    struct record_result result = record_well(*state, "abort", RECORD_CLOCK_DEFAULT);
    assert_int_equal(WTERMSIG(result.exit_status), SIGABRT);
    expect_recording(*state, result.exit_status);
}

static void a_program_that_is_killed(void **state)
{
    struct record_result result = record_well(*state, "kill", RECORD_CLOCK_DEFAULT);
    assert_int_equal(WTERMSIG(result.exit_status), SIGKILL);
    expect_recording(*state, result.exit_status);
}

static void a_recorder_that_is_interrupted(void **state)
{
    struct folder *folder = *state;
    pid_t interrupter = fork();
    if (interrupter == 0) {
        wait_for_token(folder);
        kill(getppid(), SIGINT);
        _exit(0);
    }
    struct record_result result = record_well(folder, "work", RECORD_CLOCK_DEFAULT);
    waitpid(interrupter, NULL, 0);
    assert_true(result.interrupted);
    assert_int_equal(WTERMSIG(result.exit_status), SIGINT);
    expect_recording(folder, result.exit_status);
}

/* The only descendant of `parent`. */
static pid_t child_of(pid_t parent)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/task/%d/children", parent, parent);
    char *text = file_read(path, NULL, NULL);
    pid_t child = text ? (pid_t)atoi(text) : 0;
    free(text);
    return child;
}

static void a_recorder_that_is_killed(void **state)
{
    struct folder *folder = *state;
    pid_t recorder = fork();
    if (recorder == 0) {
        struct record_result result;
        record(folder, "work", RECORD_CLOCK_DEFAULT, &result, NULL);
        _exit(0);
    }
    wait_for_token(folder);
    pid_t program = child_of(recorder);
    assert_true(program > 0);
    kill(recorder, SIGKILL);
    waitpid(recorder, NULL, 0);

    assert_true(exists(folder, "soft/control"));
    assert_false(exists(folder, "perf.data"));
    struct error error;
    if (!qemu_engine.salvage(folder->path, &error)) /* while the program still runs */
        fail_msg("%s", error.text);
    assert_int_equal(kill(program, 0), 0);
    kill(program, SIGKILL);
    expect_recording(folder, -1);
    assert_true(qemu_engine.salvage(folder->path, &error)); /* nothing left to do */
}

static void a_child_that_outlives_the_recording(void **state)
{
    struct folder *folder = *state;
    struct record_result result = record_well(folder, "leave", RECORD_CLOCK_DEFAULT);
    assert_int_equal(WEXITSTATUS(result.exit_status), 3);
    expect_recording(folder, result.exit_status);
    wait_for_token(folder);
}

static void two_runs_by_the_instruction_clock_are_equal(void **state)
{
    struct folder *folder = *state;
    char path[128];
    snprintf(path, sizeof path, "%s/perf.data", folder->path);
    char *bytes[2];
    size_t sizes[2];
    for (int i = 0; i < 2; i++) {
        struct record_result result = record_well(folder, "exit", RECORD_CLOCK_INSTRUCTIONS);
        expect_recording(folder, result.exit_status);
        bytes[i] = file_read(path, &sizes[i], NULL);
        unlink(path);
    }
    assert_int_equal(sizes[0], sizes[1]);
    assert_memory_equal(bytes[0], bytes[1], sizes[0]);
    free(bytes[0]);
    free(bytes[1]);
}

static void what_cannot_be_recorded_leaves_nothing(void **state)
{
    struct folder *folder = *state;
    struct error error = {0};
    struct record_result result;
    const char *program = traced_program;
    traced_program = "/no/such/program";
    assert_false(record(folder, "exit", RECORD_CLOCK_DEFAULT, &result, &error));
    traced_program = program;
    assert_non_null(strstr(error.text, "/no/such/program"));
    assert_false(exists(folder, "soft"));
    assert_false(exists(folder, "session.json"));
}

int main(int argc, char **argv)
{
    struct engine_probe probe;
    if (argc != 2)
        return 2;
    traced_program = argv[1];
    qemu_engine.probe(&probe);
    if (!probe.available) {
        printf("skipped: %s. %s\n", probe.why, probe.advice);
        return 77; /* what Meson takes for "skipped" */
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_program_that_exits, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(a_program_that_aborts, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(a_program_that_is_killed, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(a_recorder_that_is_interrupted, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(a_recorder_that_is_killed, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(a_child_that_outlives_the_recording, make_folder,
                                        remove_folder),
        cmocka_unit_test_setup_teardown(two_runs_by_the_instruction_clock_are_equal, make_folder,
                                        remove_folder),
        cmocka_unit_test_setup_teardown(what_cannot_be_recorded_leaves_nothing, make_folder,
                                        remove_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
