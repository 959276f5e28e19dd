/* What the sample engine asks of kernels that can do more or less. */
#include "engine/sample_event.h"

#include "made_folder.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/eventfd.h>

#include <cmocka.h>

/* A kernel with a /proc of its own. */
struct machine {
    struct kernel kernel; /* first, to be found again */
    struct made_folder folder;
    bool counts_cycles, remembers_calls;
    int refusal; /* 0, or the errno of every call */
};

static int open_event(const struct kernel *kernel, const struct perf_event_attr *attributes,
                      pid_t pid, int cpu, int group, unsigned long flags)
{
    const struct machine *machine = (const struct machine *)kernel;
    bool calls = attributes->sample_type & PERF_SAMPLE_BRANCH_STACK;
    errno = machine->refusal;
    if (!errno && attributes->type == PERF_TYPE_HARDWARE && !machine->counts_cycles)
        errno = ENOENT;
    if (!errno && calls && !machine->remembers_calls)
        errno = EOPNOTSUPP;
    return errno ? -1 : eventfd(0, EFD_CLOEXEC);
}

static int set_up(void **state)
{
    static struct machine machine;
    machine = (struct machine){.kernel = kernel_real};
    made_folder_begin(&machine.folder);
    machine.kernel.open_event = open_event;
    machine.kernel.proc = machine.folder.path;
    made_folder_put(&machine.folder, "sys/kernel/perf_event_max_sample_rate", "100000\n");
    made_folder_put(&machine.folder, "sys/kernel/perf_event_paranoid", "3\n");
    *state = &machine;
    return 0;
}

static int tear_down(void **state)
{
    struct machine *machine = *state;
    made_folder_end(&machine->folder);
    return 0;
}

static struct sampling_means find(const struct machine *machine,
                                  const struct processor_options *options)
{
    struct sampling_means means;
    struct error error = {0};
    if (!sampling_means_find(&means, &machine->kernel, options, &error))
        fail_msg("%s", error.text);
    return means;
}

static void refuse(const struct machine *machine, const struct processor_options *options,
                   const char *word)
{
    struct sampling_means means;
    struct error error = {0};
    assert_false(sampling_means_find(&means, &machine->kernel, options, &error));
    if (!strstr(error.text, word))
        fail_msg("\"%s\" does not say \"%s\"", error.text, word);
}

static void cycles_where_they_are_counted(void **state)
{
    struct machine *machine = *state;
    const struct processor_options options = {0};
    struct sampling_means means = find(machine, &options);
    assert_false(means.cycles);
    assert_int_equal(sample_event(&means, TRACE_USER).config, PERF_COUNT_SW_CPU_CLOCK);
    machine->counts_cycles = true;
    means = find(machine, &options);
    assert_true(means.cycles);
    assert_int_equal(sample_event(&means, TRACE_USER).type, PERF_TYPE_HARDWARE);
}

static void calls_from_the_processor_if_it_remembers_them(void **state)
{
    struct machine *machine = *state;
    struct processor_options options = {0};
    assert_int_equal(find(machine, &options).callgraph, CALLGRAPH_DWARF);
    machine->counts_cycles = machine->remembers_calls = true;
    struct sampling_means means = find(machine, &options);
    assert_int_equal(means.callgraph, CALLGRAPH_LBR);
    struct perf_event_attr event = sample_event(&means, TRACE_USER);
    assert_true(event.branch_sample_type & PERF_SAMPLE_BRANCH_CALL_STACK);
    assert_true(event.exclude_callchain_user);
    machine->remembers_calls = false;
    options.callgraph = CALLGRAPH_LBR;
    refuse(machine, &options, "Use -callgraph-mode dwarf");
    options.callgraph = CALLGRAPH_FRAME_POINTERS;
    means = find(machine, &options);
    event = sample_event(&means, TRACE_USER);
    assert_false(event.exclude_callchain_user);
    assert_int_equal(event.sample_stack_user, 0);
}

static void saved_stacks_come_with_registers(void **state)
{
    const struct sampling_means means = {.callgraph = CALLGRAPH_DWARF, .frequency = 1000};
    struct perf_event_attr event = sample_event(&means, TRACE_USER);
    assert_int_equal(event.sample_stack_user, 8192);
    assert_int_equal(event.sample_regs_user, 0xff01ff);
    assert_true(event.sample_type & PERF_SAMPLE_REGS_USER);
    assert_true(event.exclude_callchain_user);
}

static void the_scope_is_what_was_asked_for(void **state)
{
    const struct sampling_means means = {.callgraph = CALLGRAPH_FRAME_POINTERS, .frequency = 1000};
    assert_true(sample_event(&means, TRACE_USER).exclude_kernel);
    assert_false(sample_event(&means, TRACE_USER_AND_KERNEL).exclude_kernel);
    assert_false(sample_event(&means, TRACE_USER_AND_KERNEL).exclude_user);
    assert_true(sample_event(&means, TRACE_KERNEL).exclude_user);
}

static void resolutions_are_frequencies(void **state)
{
    struct machine *machine = *state;
    struct processor_options options = {.timer.kind = TIMER_LOW};
    assert_int_equal(find(machine, &options).frequency, 1000);
    options.timer.kind = TIMER_NORMAL;
    assert_int_equal(find(machine, &options).frequency, 10000);
    options.timer.kind = TIMER_HIGH;
    assert_int_equal(find(machine, &options).frequency, 100000);
    options.timer = (struct timer_resolution){.kind = TIMER_SAMPLE, .frequency = 777};
    assert_int_equal(find(machine, &options).frequency, 777);
    options.timer.frequency = 1000000; /* more than the kernel allows */
    assert_int_equal(find(machine, &options).frequency, 100000);
}

static void a_refusal_names_the_setting(void **state)
{
    struct machine *machine = *state;
    const struct processor_options options = {0};
    machine->refusal = EACCES;
    refuse(machine, &options, "perf_event_paranoid");
}

static void events_beside_are_in_the_scope_where_they_can_be_seen(void **state)
{
    struct extra_event event = {.kind = event_kind_find("page-faults"), .count = 1};
    assert_true(sample_extra_event(&event, TRACE_USER).exclude_kernel);
    event.kind = event_kind_find("context-switches");
    assert_false(sample_extra_event(&event, TRACE_USER).exclude_kernel);
    event = (struct extra_event){
        .kind = event_kind_find("cache-misses"), .by_frequency = true, .count = 50, .precision = 2};
    struct perf_event_attr attributes = sample_extra_event(&event, TRACE_USER);
    assert_int_equal(attributes.freq, 1);
    assert_int_equal(attributes.sample_freq, 50);
    assert_int_equal(attributes.precise_ip, 2);
}

int main(void)
{
#define ON_MACHINE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        ON_MACHINE(cycles_where_they_are_counted),
        ON_MACHINE(calls_from_the_processor_if_it_remembers_them),
        ON_MACHINE(saved_stacks_come_with_registers),
        ON_MACHINE(the_scope_is_what_was_asked_for),
        ON_MACHINE(resolutions_are_frequencies),
        ON_MACHINE(a_refusal_names_the_setting),
        ON_MACHINE(events_beside_are_in_the_scope_where_they_can_be_seen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
