/* Which thread ran when on a processor, from the context switches that each version of perf
 * records.
 */
#include "decode/schedule.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

enum { THREADS_MAX = 16 };

/* In place of the driver: a sink per thread, known by its index. */
struct sinks {
    uint32_t pid[THREADS_MAX];
    struct thread_sink output[THREADS_MAX];
};

static struct thread_sink *find(void *context, uint32_t pid, uint32_t tid)
{
    struct sinks *sinks = context;
    assert_true(tid < THREADS_MAX);
    sinks->pid[tid] = pid;
    return &sinks->output[tid];
}

struct entry {
    uint64_t since;
    uint32_t tid; /* 0: unknown */
};

static void check(const struct sideband_record *records, size_t record_count,
                  const struct entry *expected, size_t count, struct sinks *sinks)
{
    static struct thread threads[] = {{.pid = 5, .tid = 5}, {.pid = 5, .tid = 6}};
    struct process processes[] = {{.pid = 5, .name = ""}};
    const struct address_spaces spaces = {
        .threads = threads, .thread_count = 2, .processes = processes, .process_count = 1};
    const struct perf_data data = {
        .setup = {.clock = {.mult = 1, .shift = 0}, .has_clock = true},
        .records = (struct sideband_record *)records,
        .record_count = record_count,
    };
    struct schedule schedule;
    schedule_of_processor(&schedule, &data, 1, &spaces, find, sinks);
    assert_int_equal(schedule.entries.count, count);
    for (size_t i = 0; i < count; i++) {
        const struct schedule_entry *entry = schedule_at(&schedule, i);
        assert_int_equal(entry->since.value, expected[i].since);
        assert_ptr_equal(entry->output, expected[i].tid ? &sinks->output[expected[i].tid] : NULL);
    }
    schedule_free(&schedule);
}

static struct sideband_record switch_at(uint64_t time, uint32_t pid, uint32_t tid, bool out)
{
    return (struct sideband_record){.kind = SIDEBAND_CONTEXT_SWITCH,
                                    .time = {time},
                                    .pid = pid,
                                    .tid = tid,
                                    .cpu = 1,
                                    .context_switch = {.out = out}};
}

static void own_switches_report_who_comes_and_goes(void **state)
{
    struct sinks sinks = {0};
    struct sideband_record records[] = {switch_at(10, 5, 5, true), switch_at(20, 5, 6, false),
                                        switch_at(30, 5, 6, true), switch_at(31, 0, 0, false)};
    records[3].cpu = 0; /* another processor's */
    check(records, 4, (struct entry[]){{0, 5}, {10, 0}, {20, 6}, {30, 0}}, 4, &sinks);
}

static void who_leaves_a_processor_reports_who_comes(void **state)
{
    struct sinks sinks = {0};
    struct sideband_record records[] = {switch_at(10, 5, 5, true), switch_at(11, 7, 7, false),
                                        switch_at(20, 7, 7, true), switch_at(30, 5, 6, false)};
    records[0].context_switch.other_pid = records[0].context_switch.other_tid = 7;
    /* The other half of the last switch: the idle thread. */
    check(records, 4, (struct entry[]){{0, 5}, {10, 7}, {11, 7}, {20, 0}, {30, 6}}, 5, &sinks);
    assert_int_equal(sinks.pid[7], 7);
}

static void an_exiting_thread_is_unknown(void **state)
{
    struct sinks sinks = {0};
    const struct sideband_record records[] = {switch_at(10, UINT32_MAX, UINT32_MAX, true),
                                              switch_at(20, 5, 6, false)};
    check(records, 2, (struct entry[]){{0, 0}, {10, 0}, {20, 6}}, 3, &sinks);
}

static void sampled_switches_have_their_process_found(void **state)
{
    struct sinks sinks = {0};
    const struct sideband_record records[] = {switch_at(10, UINT32_MAX, 6, false),
                                              switch_at(20, 0, 0, false),
                                              switch_at(30, UINT32_MAX, 9, false)};
    check(records, 3, (struct entry[]){{0, 6}, {20, 0}, {30, 9}}, 3, &sinks);
    assert_int_equal(sinks.pid[6], 5);
    assert_int_equal(sinks.pid[9], 9); /* not known: treated as a process of its own */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(own_switches_report_who_comes_and_goes),
        cmocka_unit_test(who_leaves_a_processor_reports_who_comes),
        cmocka_unit_test(an_exiting_thread_is_unknown),
        cmocka_unit_test(sampled_switches_have_their_process_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
