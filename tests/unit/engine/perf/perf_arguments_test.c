/* perf's version, and the command line that follows from it, from the machine and the options. */
#include "engine/perf/perf_arguments.h"

#include "base/memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void versions_are_read(void **state)
{
    static const struct {
        const char *text;
        unsigned major, minor;
    } versions[] = {
        {"perf version 6.1.187\n", 6, 1},
        {"perf version 5.4.g6c1b0b2\n", 5, 4},
        {"perf version 4.18.0-305.el8.x86_64\n", 4, 18},
        {"perf version 5.10.rc3.gabc\n", 5, 10},
    };
    struct perf_version version;
    for (size_t i = 0; i < sizeof versions / sizeof *versions; i++) {
        assert_true(perf_version_parse(&version, versions[i].text));
        assert_int_equal(version.major, versions[i].major);
        assert_int_equal(version.minor, versions[i].minor);
    }
    assert_false(perf_version_parse(&version, ""));
    assert_false(perf_version_parse(&version, "WARNING: perf not found for kernel 5.15.0-1"));
    assert_false(perf_version_parse(&version, "perf version unknown"));
}

/* A machine of root's with every capability, and the default options. */
struct bench {
    struct perf_machine machine;
    struct record_options options;
    pid_t pids[2];
    struct perf_request request;
};

static void set_up(struct bench *bench, unsigned major, unsigned minor)
{
    *bench = (struct bench){
        .machine = {.perf = "/usr/bin/perf",
                    .version = {major, minor},
                    .intel_pt = true,
                    .cycle_packets = true,
                    .cycles = true,
                    .branch_stack = true,
                    .sample_rate = 100000,
                    .privileged = true},
        .options = {.snapshot_size = 4 << 20},
        .pids = {7, 8},
    };
    bench->request = (struct perf_request){.machine = &bench->machine,
                                           .options = &bench->options,
                                           .pids = bench->pids,
                                           .pid_count = 1,
                                           .output = "D/perf.data",
                                           .control = 3,
                                           .acks = 6};
}

static void expect(const struct bench *bench, const char *expected)
{
    char **arguments = perf_arguments(&bench->request);
    char *joined = memory_copy_string("");
    for (char **word = arguments; *word; word++) {
        char *longer = memory_format("%s%s%s", joined, *joined ? " " : "", *word);
        free(joined);
        joined = longer;
    }
    assert_string_equal(joined, expected);
    free(joined);
    perf_arguments_free(arguments);
}

static void trace_of_each_range_of_versions(void **state)
{
    static const struct {
        unsigned major, minor;
        const char *expected;
    } ranges[] = {
        {4, 18,
         "/usr/bin/perf record -o D/perf.data --timestamp "
         "--event=intel_pt/cyc=1,cyc_thresh=1,mtc_period=0/u --per-thread -t 7 --snapshot -m,1024"},
        {5, 3,
         "/usr/bin/perf record -o D/perf.data --timestamp "
         "--event=intel_pt/cyc=1,cyc_thresh=1,mtc_period=0/u --per-thread -t 7 --snapshot -m,1024"},
        {5, 4,
         "/usr/bin/perf record -o D/perf.data --timestamp "
         "--event=intel_pt/cyc=1,cyc_thresh=1,mtc_period=0/u --per-thread -t 7 --snapshot=e "
         "-m,1024"},
        {5, 9,
         "/usr/bin/perf record -o D/perf.data --timestamp "
         "--event=intel_pt/cyc=1,cyc_thresh=1,mtc_period=0/u --per-thread -t 7 --snapshot=e "
         "-m,1024"},
        {5, 10,
         "/usr/bin/perf record -o D/perf.data --timestamp "
         "--event=intel_pt/cyc=1,cyc_thresh=1,mtc_period=0/u --per-thread -t 7 --snapshot=e "
         "--control=fd:3,6 -m,1024"},
        {6, 1,
         "/usr/bin/perf record -o D/perf.data --timestamp "
         "--event=intel_pt/cyc=1,cyc_thresh=1,mtc_period=0/u --per-thread -t 7 --snapshot=e "
         "--control=fd:3,6 -m,1024"},
    };
    struct bench bench;
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) {
        set_up(&bench, ranges[i].major, ranges[i].minor);
        expect(&bench, ranges[i].expected);
        assert_int_equal(perf_has_stop(bench.machine.version), i == 5);
    }
}

static void everything_is_kept_without_snapshots(void **state)
{
    struct bench bench;
    set_up(&bench, 6, 1);
    bench.options.full_execution = true;
    expect(&bench, "/usr/bin/perf record -o D/perf.data --timestamp "
                   "--event=intel_pt/cyc=1,cyc_thresh=1,mtc_period=0/u --per-thread -t 7 "
                   "--control=fd:3,6 -m,1024");
    bench.options.processor.sampling = true;
    expect(&bench, "/usr/bin/perf record -o D/perf.data --timestamp --event=cycles/freq=10000/u "
                   "--per-thread -t 7 --control=fd:3,6 -m1024 --call-graph=lbr");
}

static void all_threads_of_several_processes(void **state)
{
    struct bench bench;
    set_up(&bench, 6, 1);
    bench.options.multi_thread = true;
    bench.request.pid_count = 2;
    expect(&bench, "/usr/bin/perf record -o D/perf.data --timestamp "
                   "--event=intel_pt/cyc=1,cyc_thresh=1,mtc_period=0/u -p 7,8 --snapshot=e "
                   "--control=fd:3,6 -m,1024");
    assert_int_equal(perf_request_shortcomings(&bench.request), 0);
    bench.options.multi_thread = false;
    bench.options.follow = true;
    expect(&bench,
           "/usr/bin/perf record -o D/perf.data --timestamp "
           "--event=intel_pt/cyc=1,cyc_thresh=1,mtc_period=0/u --inherit -t 7,8 --snapshot=e "
           "--control=fd:3,6 -m,1024");
    assert_int_equal(perf_request_shortcomings(&bench.request), PERF_FOLLOWS_THREADS);
}

static void expect_event(struct bench *bench, const char *expected)
{
    char **arguments = perf_arguments(&bench->request);
    assert_string_equal(arguments[5], expected);
    perf_arguments_free(arguments);
}

static void timer_resolutions_of_a_trace(void **state)
{
    struct bench bench;
    set_up(&bench, 6, 1);
    struct timer_resolution *timer = &bench.options.processor.timer;
    timer->kind = TIMER_LOW;
    expect_event(&bench, "--event=intel_pt//u");
    timer->kind = TIMER_HIGH;
    expect_event(&bench, "--event=intel_pt/cyc=1,cyc_thresh=1,mtc_period=0,noretcomp=1/u");
    assert_int_equal(perf_request_shortcomings(&bench.request), 0);
    bench.machine.cycle_packets = false;
    expect_event(&bench, "--event=intel_pt//u");
    assert_int_equal(perf_request_shortcomings(&bench.request), PERF_LACKS_CYCLE_PACKETS);
    timer->kind = TIMER_NORMAL;
    expect_event(&bench, "--event=intel_pt//u");
    timer->kind = TIMER_CUSTOM;
    timer->given[TIMER_PSB_PERIOD] = timer->given[TIMER_CYC] = timer->given[TIMER_MTC] = true;
    timer->values[TIMER_PSB_PERIOD] = 3;
    timer->values[TIMER_CYC] = 1;
    expect_event(&bench, "--event=intel_pt/cyc=1,mtc=0,psb_period=3/u");
    assert_int_equal(perf_request_shortcomings(&bench.request), 0);
}

static void timer_resolutions_of_samples(void **state)
{
    struct bench bench;
    set_up(&bench, 6, 1);
    struct timer_resolution *timer = &bench.options.processor.timer;
    bench.options.processor.sampling = true;
    bench.options.full_execution = true;
    timer->kind = TIMER_LOW;
    expect_event(&bench, "--event=cycles/freq=1000/u");
    timer->kind = TIMER_HIGH;
    expect_event(&bench, "--event=cycles/freq=100000/u");
    timer->kind = TIMER_SAMPLE;
    timer->frequency = 77;
    expect_event(&bench, "--event=cycles/freq=77/u");
    timer->kind = TIMER_NORMAL;
    bench.machine.sample_rate = 5000;
    expect_event(&bench, "--event=cycles/freq=5000/u");
    bench.machine.cycles = false;
    expect_event(&bench, "--event=cpu-clock/freq=5000/u");
    assert_int_equal(perf_request_shortcomings(&bench.request), PERF_LACKS_CYCLES);
}

/* Mappings are recorded with the first event, whose ring is not overwritten. */
static void samples_overwrite_their_ring(void **state)
{
    struct bench bench;
    set_up(&bench, 6, 1);
    bench.options.processor.sampling = true;
    bench.options.processor.callgraph = CALLGRAPH_FRAME_POINTERS;
    expect(&bench, "/usr/bin/perf record -o D/perf.data --timestamp "
                   "--event=dummy:u,cycles/freq=10000,overwrite/u --per-thread -t 7 "
                   "--control=fd:3,6 -m1024 --call-graph=fp");
    bench.options.trigger.multi_snapshot = true;
    expect(&bench, "/usr/bin/perf record -o D/perf.data --timestamp "
                   "--event=dummy:u,cycles/freq=10000,overwrite/u --switch-output=signal "
                   "--per-thread -t 7 --control=fd:3,6 -m1024 --call-graph=fp");
}

static void several_snapshots_of_a_trace(void **state)
{
    struct bench bench;
    set_up(&bench, 6, 1);
    bench.options.trigger.multi_snapshot = true;
    assert_false(perf_request_switches_output(&bench.request));
    bench.machine.version = (struct perf_version){5, 9};
    assert_true(perf_request_switches_output(&bench.request));
    bench.options.full_execution = true;
    assert_false(perf_request_switches_output(&bench.request));
}

static void expect_call_graph(struct bench *bench, const char *expected)
{
    char **arguments = perf_arguments(&bench->request);
    size_t last = 0;
    while (arguments[last + 1])
        last++;
    assert_string_equal(arguments[last], expected);
    perf_arguments_free(arguments);
}

static void call_graphs(void **state)
{
    struct bench bench;
    set_up(&bench, 6, 1);
    bench.options.processor.sampling = true;
    expect_call_graph(&bench, "--call-graph=lbr");
    bench.machine.branch_stack = false;
    expect_call_graph(&bench, "--call-graph=dwarf");
    bench.options.processor.callgraph = CALLGRAPH_LBR_NO_STITCH;
    expect_call_graph(&bench, "--call-graph=lbr");
    bench.options.processor.callgraph = CALLGRAPH_DWARF;
    expect_call_graph(&bench, "--call-graph=dwarf");
}

static void the_kernel_and_its_code(void **state)
{
    struct bench bench;
    set_up(&bench, 6, 1);
    bench.options.processor.scope = TRACE_USER_AND_KERNEL;
    bench.options.processor.timer.kind = TIMER_LOW;
    expect(&bench, "/usr/bin/perf record -o D/perf.data --timestamp --event=intel_pt//uk "
                   "--per-thread -t 7 --snapshot=e --control=fd:3,6 --kcore -m,1024");
    bench.options.processor.scope = TRACE_KERNEL;
    bench.machine.no_kcore = true;
    expect(&bench, "/usr/bin/perf record -o D/perf.data --timestamp --event=intel_pt//k "
                   "--per-thread -t 7 --snapshot=e --control=fd:3,6 -m,1024");
    bench.machine.no_kcore = false;
    bench.machine.version = (struct perf_version){5, 4};
    expect(&bench, "/usr/bin/perf record -o D/perf.data --timestamp --event=intel_pt//k "
                   "--per-thread -t 7 --snapshot=e -m,1024");
    assert_int_equal(perf_request_shortcomings(&bench.request), PERF_LACKS_KCORE);
}

static void events_beside(void **state)
{
    struct bench bench;
    set_up(&bench, 6, 1);
    struct processor_options *wanted = &bench.options.processor;
    wanted->timer.kind = TIMER_LOW;
    wanted->events[0] = (struct extra_event){.kind = event_kind_find("branch-misses"),
                                             .count = 50,
                                             .precision = EVENT_PRECISION_HIGHEST};
    wanted->events[1] = (struct extra_event){.kind = event_kind_find("cache-misses"),
                                             .by_frequency = true,
                                             .count = 100,
                                             .precision = 2};
    wanted->events[2] =
        (struct extra_event){.kind = event_kind_find("context-switches"), .count = 1};
    wanted->event_count = 3;
    expect(&bench, "/usr/bin/perf record -o D/perf.data --timestamp "
                   "--event=intel_pt//u,branch-misses/period=50/uP,cache-misses/freq=100/upp,"
                   "context-switches/period=1/ -t 7 --snapshot=e --control=fd:3,6 -m,1024");
}

/* Who may lock little memory leaves the size to perf, unless it was given. */
static void size_of_the_unprivileged(void **state)
{
    struct bench bench;
    set_up(&bench, 6, 1);
    bench.machine.privileged = false;
    bench.options.processor.timer.kind = TIMER_LOW;
    expect(&bench, "/usr/bin/perf record -o D/perf.data --timestamp --event=intel_pt//u "
                   "--per-thread -t 7 --snapshot=e --control=fd:3,6");
    bench.options.sized = true;
    bench.options.snapshot_size = 65536;
    expect(&bench, "/usr/bin/perf record -o D/perf.data --timestamp --event=intel_pt//u "
                   "--per-thread -t 7 --snapshot=e --control=fd:3,6 -m,16");
}

static void old_versions_have_shortcomings(void **state)
{
    struct bench bench;
    set_up(&bench, 5, 3);
    assert_int_equal(perf_request_shortcomings(&bench.request), PERF_LACKS_EXIT_SNAPSHOT);
    bench.options.full_execution = true;
    assert_int_equal(perf_request_shortcomings(&bench.request), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(versions_are_read),
        cmocka_unit_test(trace_of_each_range_of_versions),
        cmocka_unit_test(everything_is_kept_without_snapshots),
        cmocka_unit_test(all_threads_of_several_processes),
        cmocka_unit_test(timer_resolutions_of_a_trace),
        cmocka_unit_test(timer_resolutions_of_samples),
        cmocka_unit_test(samples_overwrite_their_ring),
        cmocka_unit_test(several_snapshots_of_a_trace),
        cmocka_unit_test(call_graphs),
        cmocka_unit_test(the_kernel_and_its_code),
        cmocka_unit_test(events_beside),
        cmocka_unit_test(size_of_the_unprivileged),
        cmocka_unit_test(old_versions_have_shortcomings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
