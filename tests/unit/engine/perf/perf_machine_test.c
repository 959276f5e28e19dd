/* What a machine offers, read from sysfs and proc made for it. argv[1] is a stand-in for perf. */
#include "engine/perf/perf_machine.h"

#include "made_folder.h"

#include "base/memory.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cmocka.h>

/* The kernel of a test: where its file systems are, and whether it counts cycles. */
struct place {
    struct kernel kernel;
    struct made_folder folder;
    char *sysfs, *proc;
    int problem; /* errno of open_event; 0: it works */
};

static int open_event(const struct kernel *kernel, const struct perf_event_attr *attributes,
                      pid_t pid, int cpu, int group, unsigned long flags)
{
    const struct place *place = (const struct place *)kernel;
    assert_int_equal(attributes->config, PERF_COUNT_HW_CPU_CYCLES);
    errno = place->problem;
    return place->problem ? -1 : eventfd(0, EFD_CLOEXEC);
}

static void set_up(struct place *place)
{
    *place = (struct place){0};
    made_folder_begin(&place->folder);
    place->sysfs = made_folder_path(&place->folder, "sys");
    place->proc = made_folder_path(&place->folder, "proc");
    place->kernel =
        (struct kernel){.open_event = open_event, .sysfs = place->sysfs, .proc = place->proc};
    made_folder_put(&place->folder, "proc/sys/kernel/perf_event_max_sample_rate", "25000\n");
    made_folder_put(&place->folder, "proc/cpuinfo", "flags\t\t: fpu vme pdcm pcid\n");
}

static void tear_down(struct place *place)
{
    made_folder_end(&place->folder);
    free(place->sysfs);
    free(place->proc);
}

static struct perf_machine examine(const struct place *place)
{
    struct perf_machine machine;
    struct error error = {0};
    if (!perf_machine_examine(&machine, &place->kernel, &error))
        fail_msg("%s", error.text);
    return machine;
}

static void a_bare_machine_has_everything(void **state)
{
    struct place place;
    set_up(&place);
    made_folder_put(&place.folder, "sys/bus/event_source/devices/intel_pt/type", "9\n");
    made_folder_put(&place.folder, "sys/bus/event_source/devices/intel_pt/caps/psb_cyc", "1\n");
    made_folder_put(&place.folder, "sys/bus/event_source/devices/cpu/type", "4\n");
    made_folder_put(&place.folder, "sys/bus/event_source/devices/cpu/caps/branches", "32\n");
    setenv("STAND_IN_VERSION", "5.15.g123", 1);
    struct perf_machine machine = examine(&place);
    assert_true(machine.intel_pt);
    assert_true(machine.cycle_packets);
    assert_true(machine.cycles);
    assert_true(machine.branch_stack);
    assert_int_equal(machine.sample_rate, 25000);
    assert_int_equal(machine.version.major, 5);
    assert_int_equal(machine.version.minor, 15);
    perf_machine_free(&machine);
    tear_down(&place);
}

static void an_older_processor_counts_no_cycles_in_packets(void **state)
{
    struct place place;
    set_up(&place);
    made_folder_put(&place.folder, "sys/bus/event_source/devices/intel_pt/type", "9\n");
    made_folder_put(&place.folder, "sys/bus/event_source/devices/intel_pt/caps/psb_cyc", "0\n");
    made_folder_put(&place.folder, "sys/bus/event_source/devices/cpu_core/type", "4\n");
    made_folder_put(&place.folder, "sys/bus/event_source/devices/cpu_core/caps/branches", "32\n");
    place.problem = EACCES;
    struct perf_machine machine = examine(&place);
    assert_true(machine.intel_pt);
    assert_false(machine.cycle_packets);
    assert_true(machine.branch_stack);
    /* Forbidden is not absent: perf will say what it needs. */
    assert_true(machine.cycles);
    perf_machine_free(&machine);
    tear_down(&place);
}

static void a_virtual_machine_has_a_clock(void **state)
{
    struct place place;
    set_up(&place);
    place.problem = ENOENT;
    struct perf_machine machine = examine(&place);
    assert_false(machine.intel_pt || machine.cycle_packets || machine.cycles ||
                 machine.branch_stack);
    perf_machine_free(&machine);
    tear_down(&place);
}

static void the_environment_has_a_say(void **state)
{
    struct place place;
    set_up(&place);
    setenv("MAGIC_TRACE_PERF_IS_PRIVILEGED", "1", 1);
    setenv("MAGIC_TRACE_PERF_NO_KCORE", "1", 1);
    struct perf_machine machine = examine(&place);
    assert_true(machine.privileged);
    assert_true(machine.no_kcore);
    perf_machine_free(&machine);
    unsetenv("MAGIC_TRACE_PERF_IS_PRIVILEGED");
    unsetenv("MAGIC_TRACE_PERF_NO_KCORE");
    machine = examine(&place);
    assert_false(machine.privileged); /* this proc has no file about our privileges */
    assert_false(machine.no_kcore);
    perf_machine_free(&machine);
    tear_down(&place);
}

static void what_is_no_perf_is_reported(void **state)
{
    struct place place;
    struct perf_machine machine;
    struct error error = {0};
    set_up(&place);
    setenv("STAND_IN_VERSION", "of nothing", 1);
    assert_false(perf_machine_examine(&machine, &place.kernel, &error));
    assert_non_null(strstr(error.text, "perf version of nothing"));
    unsetenv("STAND_IN_VERSION");
    char *perf = memory_copy_string(getenv("MAGIC_TRACE_PERF_PATH"));
    setenv("MAGIC_TRACE_PERF_PATH", "/nonexistent/perf", 1);
    assert_false(perf_machine_examine(&machine, &place.kernel, &error));
    assert_int_equal(error.code, ERROR_NOT_FOUND);
    assert_non_null(strstr(error.text, "/nonexistent/perf"));
    setenv("MAGIC_TRACE_PERF_PATH", perf, 1);
    free(perf);
    tear_down(&place);
}

int main(int count, char **arguments)
{
    if (count < 2)
        return 1;
    setenv("MAGIC_TRACE_PERF_PATH", arguments[1], 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_bare_machine_has_everything),
        cmocka_unit_test(an_older_processor_counts_no_cycles_in_packets),
        cmocka_unit_test(a_virtual_machine_has_a_clock),
        cmocka_unit_test(the_environment_has_a_say),
        cmocka_unit_test(what_is_no_perf_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
