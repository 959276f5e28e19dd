/* The pt engine on a kernel that stands in for one with Intel PT. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "made_folder.h"
#include "stand_in.h"

#include "base/memory.h"
#include "engine/pt/pt.h"
#include "engine/pt/pt_recording.h"
#include "engine/pt/pt_unit.h"
#include "perf_event/sideband.h"
#include "recording/perf_data/perf_data_reader.h"

#include <dirent.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { AREA = 4096 };

struct fixture {
    struct stand_in kernel;
    struct made_folder folder;
    struct record_options options;
    struct tracing tracing;
    struct pt_recording recording;
    pid_t pid;
    struct perf_data data;
    uint8_t packets[4 * AREA + AREA];
};

static char *command[] = {"magic-trace", NULL};

static int set_up(void **state)
{
    struct fixture *fixture = memory_allocate_zeroed(sizeof *fixture);
    stand_in_begin(&fixture->kernel);
    made_folder_begin(&fixture->folder);
    fixture->pid = getpid();
    fixture->options = (struct record_options){
        .pids = &fixture->pid,
        .pid_count = 1,
        .directory = fixture->folder.path,
        .snapshot_size = AREA,
        .sized = true,
        .magic_trace_command = command,
    };
    srandom(1);
    for (size_t i = 0; i < sizeof fixture->packets; i++)
        fixture->packets[i] = (uint8_t)(1 + random() % 255);
    *state = fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;
    assert_int_equal(stand_in_left_over(&fixture->kernel), 0);
    stand_in_end(&fixture->kernel);
    made_folder_end(&fixture->folder);
    free(fixture);
    return 0;
}

/* As for a program that waits before exec: no running process is read. */
static struct stand_in_event *begin(struct fixture *fixture)
{
    struct error error = {0};
    if (!tracing_open(&fixture->tracing, &fixture->kernel.kernel, &fixture->options, &fixture->pid,
                      1, true, &error) ||
        !pt_recording_begin(&fixture->recording, &fixture->tracing, fixture->folder.path,
                            &fixture->pid, 1, &error))
        fail_msg("%s", error.text);
    return stand_in_packets_event(&fixture->kernel, -1);
}

static void snapshot(struct fixture *fixture)
{
    struct error error = {0};
    if (!pt_recording_drain(&fixture->recording, &error) ||
        !pt_recording_add_packets(&fixture->recording, &error))
        fail_msg("%s", error.text);
}

/* Ends the recording and reads it. */
static const struct perf_data *end(struct fixture *fixture)
{
    struct error error = {0};
    if (!pt_recording_end(&fixture->recording, &error))
        fail_msg("%s", error.text);
    pt_recording_abandon(&fixture->recording);
    tracing_close(&fixture->tracing);
    char *path = made_folder_path(&fixture->folder, "perf.data");
    if (!perf_data_open(&fixture->data, path, &error))
        fail_msg("%s", error.text);
    assert_int_equal(fixture->data.damage.code, ERROR_NONE);
    free(path);
    return &fixture->data;
}

/* ---- areas that are overwritten ---- */

static void a_snapshot_is_the_newest_bytes_wherever_the_area_ends(void **state)
{
    struct fixture *fixture = *state;
    for (size_t size = AREA; size < 2 * AREA; size++) {
        struct stand_in_event *event = begin(fixture);
        stand_in_write_packets(&fixture->kernel, event, fixture->packets, size);
        snapshot(fixture);
        const struct perf_data *data = end(fixture);
        assert_int_equal(data->chunk_count, 1);
        assert_int_equal(data->chunks[0].size, AREA);
        assert_memory_equal(data->chunks[0].bytes, fixture->packets + size - AREA, AREA);
        assert_int_equal(data->chunks[0].tid, fixture->pid);
        perf_data_close(&fixture->data);
        assert_int_equal(stand_in_left_over(&fixture->kernel), 0);
        stand_in_forget(&fixture->kernel);
    }
}

static void an_area_that_has_not_filled_up_is_kept_from_its_beginning(void **state)
{
    struct fixture *fixture = *state;
    stand_in_write_packets(&fixture->kernel, begin(fixture), fixture->packets, 1000);
    snapshot(fixture);
    const struct perf_data *data = end(fixture);
    assert_int_equal(data->chunk_count, 1);
    assert_int_equal(data->chunks[0].offset, 0);
    assert_int_equal(data->chunks[0].size, 1000);
    assert_memory_equal(data->chunks[0].bytes, fixture->packets, 1000);
    assert_true(data->setup.snapshot);
    perf_data_close(&fixture->data);
}

/* Bytes that two snapshots share have the same offsets; a snapshot after overwritten bytes shows
 * the gap. */
static void snapshots_of_one_ring_report_what_they_share(void **state)
{
    struct fixture *fixture = *state;
    static const size_t steps[] = {800, 0, 1600, 1600, 96, 3 * AREA, AREA, 2 * AREA, 8};
    struct stand_in_event *event = begin(fixture);

    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        stand_in_write_packets(&fixture->kernel, event, fixture->packets, steps[i]);
        snapshot(fixture);
    }
    const struct perf_data *data = end(fixture);
    assert_int_equal(data->chunk_count, sizeof steps / sizeof *steps);
    for (size_t i = 1; i < data->chunk_count; i++) {
        const struct aux_chunk *before = &data->chunks[i - 1], *chunk = &data->chunks[i];
        uint64_t end = before->offset + before->size;
        assert_true(chunk->offset + chunk->size >= end);
        assert_int_equal((chunk->offset + chunk->size) % AREA, (end + steps[i]) % AREA);
        /* As much as the area holds was lost. */
        if (steps[i] >= AREA)
            assert_true(chunk->offset != end);
    }
    perf_data_close(&fixture->data);
}

/* ---- areas that are kept ---- */

static void everything_is_kept_in_order(void **state)
{
    struct fixture *fixture = *state;
    fixture->options.full_execution = true;
    struct stand_in_event *event = begin(fixture);
    size_t done = 0, next = 1;
    while (done < sizeof fixture->packets) {
        size_t left = sizeof fixture->packets - done, step = next % 3001;
        step = step < left ? step : left;
        assert_int_equal(
            stand_in_write_packets(&fixture->kernel, event, fixture->packets + done, step), step);
        assert_true(pt_recording_drain(&fixture->recording, NULL));
        assert_false(fixture->recording.records.must_go_on);
        done += step;
        next = next * 7 + 5;
    }
    snapshot(fixture);
    const struct perf_data *data = end(fixture);
    uint64_t offset = 0;
    for (size_t i = 0; i < data->chunk_count; i++) {
        const struct aux_chunk *chunk = &data->chunks[i];
        assert_int_equal(chunk->offset, offset);
        size_t after =
            i + 1 < data->chunk_count ? data->chunks[i + 1].offset : sizeof fixture->packets;
        assert_memory_equal(chunk->bytes, fixture->packets + offset, after - offset);
        assert_int_equal(chunk->size, (after - offset + 7) & ~(size_t)7);
        offset = after;
    }
    assert_int_equal(offset, sizeof fixture->packets);
    assert_false(data->setup.snapshot);
    perf_data_close(&fixture->data);
}

static void what_finds_no_room_is_a_loss_and_tracing_goes_on(void **state)
{
    struct fixture *fixture = *state;
    fixture->options.full_execution = true;
    struct stand_in_event *event = begin(fixture);
    event->enabled = true;
    assert_int_equal(stand_in_write_packets(&fixture->kernel, event, fixture->packets, 2 * AREA),
                     AREA - 1);
    assert_false(event->enabled);
    assert_true(pt_recording_drain(&fixture->recording, NULL));
    assert_true(fixture->recording.records.must_go_on);
    assert_int_equal(fixture->recording.records.lost_packets, 1);
    tracing_start(&fixture->tracing);
    assert_true(event->enabled);
    stand_in_write_packets(&fixture->kernel, event, fixture->packets, 100);
    snapshot(fixture);
    const struct perf_data *data = end(fixture);
    const struct aux_chunk *last = &data->chunks[data->chunk_count - 1];
    assert_int_equal(last->offset, AREA - 1);
    assert_int_equal(last->size, 104);
    const struct sideband_record *loss = NULL;
    for (size_t i = 0; i < data->record_count && !loss; i++)
        if (data->records[i].kind == SIDEBAND_AUX)
            loss = &data->records[i];
    assert_non_null(loss);
    assert_int_equal(loss->aux.flags, PERF_AUX_FLAG_TRUNCATED);
    assert_int_equal(loss->aux.size, AREA - 1);
    perf_data_close(&fixture->data);
}

/* ---- records ---- */

static void records_that_find_no_room_are_counted(void **state)
{
    struct fixture *fixture = *state;
    enum { RECORDS = 5000 };
    const struct {
        struct perf_event_header header;
        uint32_t pid, tid;
        char name[8];
        uint32_t ids[2];
        uint64_t time, cpu, id;
    } record = {{PERF_RECORD_COMM, 0, sizeof record}, 5, 5, "name", {5, 5}, 77, 0, 100};
    begin(fixture);
    struct stand_in_event *event = stand_in_side_band_event(&fixture->kernel);
    for (size_t i = 0; i < RECORDS; i++)
        stand_in_write_record(event, &record, sizeof record);
    assert_true(pt_recording_drain(&fixture->recording, NULL));
    stand_in_write_record(event, &record, sizeof record);
    snapshot(fixture);
    uint64_t lost = fixture->recording.records.lost_records, kept = 0, reported = 0;
    const struct perf_data *data = end(fixture);
    for (size_t i = 0; i < data->record_count; i++) {
        kept += data->records[i].kind == SIDEBAND_NAME;
        reported += data->records[i].kind == SIDEBAND_LOST ? data->records[i].lost.count : 0;
    }
    assert_true(lost > 0);
    assert_int_equal(lost + kept, RECORDS + 1);
    assert_int_equal(reported, lost);
    perf_data_close(&fixture->data);
}

/* A program may be waited for for days: of the switches of its threads the newest are kept. */
static void switches_wait_for_the_snapshot(void **state)
{
    struct fixture *fixture = *state;
    struct switch_record {
        struct perf_event_header header;
        uint32_t pid, tid;
        uint64_t time, cpu, id;
    } record = {{PERF_RECORD_SWITCH, 0, sizeof record}, 5, 5, 0, 0, 100};
    enum { SWITCHES = 3 * RECENT_RECORDS_KEPT / sizeof record };
    fixture->options.multi_thread = true;
    begin(fixture);
    struct stand_in_event *event = stand_in_side_band_event(&fixture->kernel);
    for (record.time = 1; record.time <= SWITCHES; record.time++) {
        stand_in_write_record(event, &record, sizeof record);
        if (record.time % 500 == 0)
            assert_true(pt_recording_drain(&fixture->recording, NULL));
    }
    snapshot(fixture);
    assert_int_equal(fixture->recording.records.lost_records, 0);
    const struct perf_data *data = end(fixture);
    uint64_t count = 0, latest = 0;
    for (size_t i = 0; i < data->record_count; i++) {
        if (data->records[i].kind != SIDEBAND_CONTEXT_SWITCH)
            continue;
        assert_true(count == 0 || data->records[i].time.value == latest + 1);
        latest = data->records[i].time.value;
        count++;
    }
    assert_int_equal(latest, SWITCHES);
    assert_in_range(count, RECENT_RECORDS_KEPT / sizeof record,
                    2 * RECENT_RECORDS_KEPT / sizeof record);
    perf_data_close(&fixture->data);
}

/* ---- event attributes ---- */

static struct perf_event_attr ask(struct fixture *fixture, struct timer_resolution timer)
{
    struct pmu unit;
    struct perf_event_attr attributes;
    struct error error = {0};
    struct processor_options options = {.timer = timer};
    assert_true(pt_unit_open(&unit, &fixture->kernel.kernel, NULL));
    if (!pt_unit_ask(&unit, &options, &attributes, &error))
        fail_msg("%s", error.text);
    return attributes;
}

enum {
    PT = 1 << 0,
    CYC = 1 << 1,
    FUP_ON_PTW = 1 << 5,
    MTC = 1 << 9,
    TSC = 1 << 10,
    NORETCOMP = 1 << 11,
    PTW = 1 << 12,
    BRANCH = 1 << 13,
    MTC_PERIOD_3 = 3 << 14,
    CYC_THRESH_1 = 1 << 19,
    PSB_PERIOD_3 = 3 << 24,
    USUAL = PT | TSC | MTC | BRANCH | PTW | FUP_ON_PTW | PSB_PERIOD_3,
};

static void timer_resolutions_are_as_perf_would_ask(void **state)
{
    struct fixture *fixture = *state;
    struct perf_event_attr low = ask(fixture, (struct timer_resolution){.kind = TIMER_LOW});
    assert_int_equal(low.type, STAND_IN_UNIT);
    assert_int_equal(low.config, USUAL | MTC_PERIOD_3);
    assert_true(low.exclude_kernel);
    struct perf_event_attr normal = ask(fixture, (struct timer_resolution){0});
    assert_int_equal(normal.config, USUAL | CYC | CYC_THRESH_1);
    struct perf_event_attr high = ask(fixture, (struct timer_resolution){.kind = TIMER_HIGH});
    assert_int_equal(high.config, USUAL | CYC | CYC_THRESH_1 | NORETCOMP);
    struct timer_resolution custom = {.kind = TIMER_CUSTOM,
                                      .given = {[TIMER_CYC] = true, [TIMER_MTC] = true},
                                      .values = {[TIMER_CYC] = 1}};
    assert_int_equal(ask(fixture, custom).config, (USUAL & ~MTC) | CYC | MTC_PERIOD_3);
}

static void fields_are_where_sysfs_says(void **state)
{
    struct fixture *fixture = *state;
    stand_in_put(&fixture->kernel, "format/tsc", "config:40\n");
    stand_in_put(&fixture->kernel, "format/pt", NULL);
    stand_in_put(&fixture->kernel, "caps/mtc", "0\n");
    stand_in_put(&fixture->kernel, "caps/ptwrite", NULL);
    stand_in_put(&fixture->kernel, "caps/psb_periods", "30\n");
    struct perf_event_attr low = ask(fixture, (struct timer_resolution){.kind = TIMER_LOW});
    assert_int_equal(low.config, (uint64_t)1 << 40 | BRANCH | 4 << 24);
}

static void older_processors_count_no_cycles(void **state)
{
    struct fixture *fixture = *state;
    stand_in_put(&fixture->kernel, "caps/psb_cyc", "0\n");
    assert_int_equal(ask(fixture, (struct timer_resolution){.kind = TIMER_HIGH}).config,
                     (USUAL & ~PSB_PERIOD_3) | MTC_PERIOD_3);
}

static void values_that_the_processor_lacks_are_refused(void **state)
{
    struct fixture *fixture = *state;
    struct pmu unit;
    struct perf_event_attr attributes;
    struct error error;
    struct processor_options options = {.timer = {.kind = TIMER_CUSTOM,
                                                  .given = {[TIMER_MTC_PERIOD] = true},
                                                  .values = {[TIMER_MTC_PERIOD] = 4}}};
    assert_true(pt_unit_open(&unit, &fixture->kernel.kernel, NULL));
    assert_false(pt_unit_ask(&unit, &options, &attributes, &error));
    assert_string_equal(error.text,
                        "mtc_period=4 is none that this processor has (it has: 0, 3, 6, 9).");
    options.timer = (struct timer_resolution){.kind = TIMER_SAMPLE, .frequency = 1};
    assert_false(pt_unit_ask(&unit, &options, &attributes, &error));
    assert_non_null(strstr(error.text, "for sampling"));
}

/* ---- threads ---- */

static void threads_share_a_ring_per_processor_and_are_inherited(void **state)
{
    struct fixture *fixture = *state;
    fixture->options.multi_thread = true;
    begin(fixture);
    const struct stand_in *kernel = &fixture->kernel;
    size_t packets = 0;
    for (size_t i = 0; i < kernel->event_count; i++) {
        const struct stand_in_event *event = &kernel->events[i];
        bool is_packets = event->attributes.type == STAND_IN_UNIT;
        packets += is_packets;
        assert_true(event->attributes.inherit);
        assert_int_equal(event->attributes.inherit_thread, is_packets);
        assert_int_equal(event->attributes.context_switch, !is_packets);
        assert_int_equal(event->attributes.disabled, is_packets);
        assert_int_equal(event->attributes.enable_on_exec, is_packets);
        assert_true(event->cpu >= 0);
    }
    assert_int_equal(packets, 2); /* one thread on two processors */
    snapshot(fixture);
    const struct perf_data *data = end(fixture);
    assert_true(data->setup.per_cpu);
    perf_data_close(&fixture->data);
}

/* ---- refusals ---- */

static size_t count_entries(const char *path)
{
    size_t count = 0;
    DIR *folder = opendir(path);
    assert_non_null(folder);
    while (readdir(folder))
        count++;
    closedir(folder);
    return count - 2;
}

static void expect_refusal(struct fixture *fixture, const char *text)
{
    struct record_result result;
    struct error error = {0};
    if (pt_attach(&fixture->kernel.kernel, &fixture->options, &result, &error))
        fail_msg("it should have been refused: %s", text);
    if (!strstr(error.text, text))
        fail_msg("`%s` is not in: %s", text, error.text);
    assert_int_equal(stand_in_left_over(&fixture->kernel), 0);
    assert_int_equal(count_entries(fixture->folder.path), 0);
    stand_in_forget(&fixture->kernel);
}

static void what_the_kernel_refuses_is_explained_and_leaves_nothing(void **state)
{
    struct fixture *fixture = *state;
    static const struct {
        int problem;
        const char *text;
    } refusals[] = {
        {EMFILE, "ulimit -n"},
        {ENODEV, "has no such unit"},
        {EBUSY, "End it"},
        {EACCES, "cannot trace the thread"},
        {EPERM, "cannot trace the thread"},
        {ENOMEM, "out of memory"},
        {EINVAL, "does not know one of the settings"},
    };
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
        fixture->kernel.open_problem = refusals[i].problem;
        expect_refusal(fixture, refusals[i].text);
    }
    for (size_t calls = 0; calls < 3; calls++) {
        fixture->kernel.open_problem = EMFILE;
        fixture->kernel.open_calls = calls;
        expect_refusal(fixture, "ulimit -n");
    }
}

static void rings_that_cannot_be_mapped_are_explained_and_leave_nothing(void **state)
{
    struct fixture *fixture = *state;
    for (size_t calls = 0; calls < 4; calls++) {
        fixture->kernel.map_problem = EPERM;
        fixture->kernel.map_calls = calls;
        expect_refusal(fixture, "perf_event_mlock_kb");
        fixture->kernel.map_problem = ENOMEM;
        fixture->kernel.map_calls = calls;
        expect_refusal(fixture, "not enough memory");
    }
}

static void a_process_that_has_ended_is_said_to_have(void **state)
{
    struct fixture *fixture = *state;
    pid_t child = fork();
    if (child == 0)
        _exit(0);
    assert_int_equal(waitpid(child, NULL, 0), child);
    fixture->pid = child;
    expect_refusal(fixture, "it has ended");
}

/* A default size is lowered to what the kernel allows. */
static void a_default_size_is_lowered(void **state)
{
    struct fixture *fixture = *state;
    fixture->options.snapshot_size = 1 << 20;
    fixture->options.sized = false;
    fixture->kernel.largest_area = 256 << 10;
    begin(fixture);
    assert_int_equal(fixture->tracing.area_size, 256 << 10);
    pt_recording_abandon(&fixture->recording);
    tracing_close(&fixture->tracing);
}

static void without_the_unit_the_probe_says_why(void **state)
{
    struct fixture *fixture = *state;
    struct engine_probe probe;
    pt_probe(&fixture->kernel.kernel, &probe);
    assert_true(probe.available);
    stand_in_put(&fixture->kernel, "type", NULL);
    pt_probe(&fixture->kernel.kernel, &probe);
    assert_false(probe.available);
    assert_non_null(strstr(probe.why, "there is no Intel PT here"));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(a_snapshot_is_the_newest_bytes_wherever_the_area_ends),
        TEST(an_area_that_has_not_filled_up_is_kept_from_its_beginning),
        TEST(snapshots_of_one_ring_report_what_they_share),
        TEST(everything_is_kept_in_order),
        TEST(what_finds_no_room_is_a_loss_and_tracing_goes_on),
        TEST(records_that_find_no_room_are_counted),
        TEST(switches_wait_for_the_snapshot),
        TEST(timer_resolutions_are_as_perf_would_ask),
        TEST(fields_are_where_sysfs_says),
        TEST(older_processors_count_no_cycles),
        TEST(values_that_the_processor_lacks_are_refused),
        TEST(threads_share_a_ring_per_processor_and_are_inherited),
        TEST(what_the_kernel_refuses_is_explained_and_leaves_nothing),
        TEST(rings_that_cannot_be_mapped_are_explained_and_leave_nothing),
        TEST(a_process_that_has_ended_is_said_to_have),
        TEST(a_default_size_is_lowered),
        TEST(without_the_unit_the_probe_says_why),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
