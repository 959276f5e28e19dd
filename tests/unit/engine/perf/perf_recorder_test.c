/* One run of perf, played by tests/programs/stand_in_perf.c, whose log contains its arguments and
 * commands. argv[1] is its path.
 */
#include "engine/perf/perf_recorder.h"

#include "base/file.h"
#include "base/memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static char *stand_in; /* constant: the path of the stand-in */

struct scene {
    char folder[64];
    char *output, *log;
    pid_t target;
    struct perf_machine machine;
    struct record_options options;
    struct signals signals;
    struct perf_request request;
    struct perf_recorder recorder;
};

static void begin(struct scene *scene, unsigned major, unsigned minor, const char *behaviour)
{
    *scene = (struct scene){
        .folder = "/tmp/perf_recorder_test.XXXXXX",
        .machine = {.perf = stand_in, .version = {major, minor}, .intel_pt = true},
        .options = {.snapshot_size = 65536},
    };
    assert_non_null(mkdtemp(scene->folder));
    scene->output = memory_format("%s/perf.data", scene->folder);
    scene->log = memory_format("%s/log", scene->folder);
    setenv("STAND_IN_LOG", scene->log, 1);
    setenv("STAND_IN_DOES", behaviour, 1);
    setenv("MAGIC_TRACE_PERF_PATIENCE", "60", 1);
    scene->target = fork();
    if (scene->target == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        pause();
        _exit(0);
    }
    assert_true(signals_hold(&scene->signals, NULL));
    scene->request = (struct perf_request){
        .machine = &scene->machine,
        .options = &scene->options,
        .pids = &scene->target,
        .pid_count = 1,
        .output = scene->output,
    };
}

static void start(struct scene *scene)
{
    struct error error = {0};
    if (!perf_recorder_start(&scene->recorder, &scene->request, &scene->signals, NULL, &error))
        fail_msg("%s", error.text);
}

static void wait_for(struct scene *scene, enum perf_phase phase)
{
    while (scene->recorder.phase < phase)
        perf_recorder_wait(&scene->recorder);
    assert_int_equal(scene->recorder.phase, phase);
}

/* The log of perf without its arguments, with blanks between. The caller frees. */
static char *reported(const struct scene *scene)
{
    char *log = file_read(scene->log, NULL, NULL);
    char *words = memory_copy_string("");
    assert_non_null(log);
    for (char *rest = log, *line; (line = strsep(&rest, "\n"));) {
        if (!*line || strncmp(line, "argument", strlen("argument")) == 0)
            continue;
        char *longer = memory_format("%s%s%s", words, *words ? " " : "", line);
        free(words);
        words = longer;
    }
    free(log);
    return words;
}

static void expect_reported(const struct scene *scene, const char *expected)
{
    char *words = reported(scene);
    assert_string_equal(words, expected);
    free(words);
}

static void end(struct scene *scene)
{
    if (scene->recorder.perf.pid)
        perf_recorder_free(&scene->recorder);
    kill(scene->target, SIGKILL);
    waitpid(scene->target, NULL, 0);
    signals_release(&scene->signals, true);
    assert_true(file_remove_tree(scene->folder, NULL));
    free(scene->output);
    free(scene->log);
}

static void expect_verdict(const struct scene *scene, const char *words)
{
    struct error error = {0};
    bool ok = perf_recorder_verdict(&scene->recorder, &error);
    assert_int_equal(ok, words == NULL);
    if (words && !strstr(error.text, words))
        fail_msg("%s", error.text);
}

/* ---- commands for each range of versions of perf ---- */

static void record(unsigned major, unsigned minor, const char *expected)
{
    struct scene scene;
    begin(&scene, major, minor, "");
    start(&scene);
    wait_for(&scene, PERF_RECORDING);
    perf_recorder_stop(&scene.recorder);
    wait_for(&scene, PERF_ENDED);
    expect_verdict(&scene, NULL);
    expect_reported(&scene, expected);
    end(&scene);
}

static void each_range_of_versions_is_ended_in_its_way(void **state)
{
    record(4, 18, "signal 12 signal 15 end");
    record(5, 3, "signal 12 signal 15 end");
    record(5, 4, "signal 15 end");
    record(5, 9, "signal 15 end");
    record(5, 10, "enable signal 15 end");
    record(5, 11, "enable signal 15 end");
    record(5, 12, "enable disable stop end");
    record(6, 1, "enable disable stop end");
}

static void take_snapshots(unsigned major, unsigned minor, bool several, const char *expected)
{
    struct scene scene;
    begin(&scene, major, minor, "");
    scene.options.trigger.multi_snapshot = several;
    start(&scene);
    wait_for(&scene, PERF_RECORDING);
    perf_recorder_snapshot(&scene.recorder);
    /* A signal has no acknowledgement: the log shows that it has arrived. */
    char *words;
    while (words = reported(&scene), !strstr(words, "s"))
        free(words);
    free(words);
    while (scene.recorder.control.awaited_count > 0)
        perf_recorder_wait(&scene.recorder);
    perf_recorder_stop(&scene.recorder);
    wait_for(&scene, PERF_ENDED);
    expect_reported(&scene, expected);
    end(&scene);
}

static void a_snapshot_is_a_command_or_a_signal(void **state)
{
    take_snapshots(6, 1, true, "enable snapshot disable stop end");
    take_snapshots(5, 10, true, "enable snapshot signal 15 end");
    take_snapshots(5, 9, true, "signal 12 signal 15 end");
}

static void the_end_of_the_processes_ends_the_recording(void **state)
{
    struct scene scene;
    begin(&scene, 6, 1, "");
    start(&scene);
    wait_for(&scene, PERF_RECORDING);
    kill(scene.target, SIGKILL);
    wait_for(&scene, PERF_ENDED);
    expect_verdict(&scene, NULL);
    end(&scene);
}

/* ---- perf that does not do what it should ---- */

static void late_and_slow_answers_are_waited_for(void **state)
{
    static const char *const behaviours[] = {"late", "slow"};
    for (size_t i = 0; i < 2; i++) {
        struct scene scene;
        begin(&scene, 6, 1, behaviours[i]);
        if (i == 1)
            setenv("MAGIC_TRACE_PERF_PATIENCE", "1", 1);
        start(&scene);
        wait_for(&scene, PERF_RECORDING);
        perf_recorder_stop(&scene.recorder);
        wait_for(&scene, PERF_ENDED);
        expect_verdict(&scene, NULL);
        assert_int_equal(scene.recorder.signals_sent, 0);
        expect_reported(&scene, "enable disable stop end");
        end(&scene);
    }
}

static void perf_that_dies_is_quoted(void **state)
{
    struct scene scene;
    begin(&scene, 6, 1, "die");
    start(&scene);
    wait_for(&scene, PERF_ENDED);
    expect_verdict(&scene, "status 255. It said:\nError:\nNo permission to enable cycles event.");
    end(&scene);
    begin(&scene, 6, 1, "die-later");
    start(&scene);
    wait_for(&scene, PERF_ENDED);
    expect_verdict(&scene, "killed by signal 9");
    end(&scene);
    begin(&scene, 6, 1, "fail-at-end");
    start(&scene);
    wait_for(&scene, PERF_RECORDING);
    perf_recorder_stop(&scene.recorder);
    wait_for(&scene, PERF_ENDED);
    expect_verdict(&scene, "status 3. It said:\nfailed to write feature");
    end(&scene);
}

static void perf_that_hangs_is_ended(void **state)
{
    static const struct {
        const char *behaviour;
        unsigned signals;
    } hanging[] = {{"mute", 1}, {"deaf", 2}};
    for (size_t i = 0; i < 2; i++) {
        struct scene scene;
        begin(&scene, 6, 1, hanging[i].behaviour);
        setenv("MAGIC_TRACE_PERF_PATIENCE", "0.2", 1);
        start(&scene);
        wait_for(&scene, PERF_STOPPING);
        wait_for(&scene, PERF_ENDED);
        assert_int_equal(scene.recorder.signals_sent, hanging[i].signals);
        expect_verdict(&scene, "hung");
        assert_int_equal(kill(scene.target, 0), 0);
        end(&scene);
    }
}

static void perf_that_others_keep_waiting_is_left_alone(void **state)
{
    struct scene scene;
    begin(&scene, 6, 1, "stuck");
    setenv("MAGIC_TRACE_PERF_PATIENCE", "0.1", 1);
    start(&scene);
    wait_for(&scene, PERF_RECORDING);
    assert_int_equal(scene.recorder.signals_sent, 0);
    perf_recorder_stop(&scene.recorder);
    wait_for(&scene, PERF_ENDED);
    end(&scene);
}

static void perf_that_hangs_at_its_end_is_ended(void **state)
{
    struct scene scene;
    begin(&scene, 6, 1, "mute-at-stop");
    start(&scene);
    wait_for(&scene, PERF_RECORDING);
    scene.recorder.patience_ns = 200000000;
    perf_recorder_stop(&scene.recorder);
    wait_for(&scene, PERF_ENDED);
    assert_int_equal(scene.recorder.signals_sent, 1);
    expect_reported(&scene, "enable disable stop signal 15 end");
    end(&scene);
}

static void perf_that_cannot_be_started_leaves_nothing(void **state)
{
    struct scene scene;
    struct error error = {0};
    begin(&scene, 6, 1, "");
    scene.machine.perf = "/nonexistent/perf";
    assert_false(
        perf_recorder_start(&scene.recorder, &scene.request, &scene.signals, NULL, &error));
    assert_non_null(strstr(error.text, "/nonexistent/perf"));
    scene.recorder.perf.pid = 0;
    end(&scene);
}

int main(int count, char **arguments)
{
    if (count < 2)
        return 1;
    stand_in = arguments[1];
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_range_of_versions_is_ended_in_its_way),
        cmocka_unit_test(a_snapshot_is_a_command_or_a_signal),
        cmocka_unit_test(the_end_of_the_processes_ends_the_recording),
        cmocka_unit_test(late_and_slow_answers_are_waited_for),
        cmocka_unit_test(perf_that_dies_is_quoted),
        cmocka_unit_test(perf_that_hangs_is_ended),
        cmocka_unit_test(perf_that_others_keep_waiting_is_left_alone),
        cmocka_unit_test(perf_that_hangs_at_its_end_is_ended),
        cmocka_unit_test(perf_that_cannot_be_started_leaves_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
