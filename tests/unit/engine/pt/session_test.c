/* The pt engine from beginning to end: Intel PT is the stand-in's, processes, records, breakpoints
 * and signals are real. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "made_folder.h"
#include "stand_in.h"

#include "base/file.h"
#include "base/memory.h"
#include "engine/pt/pt.h"
#include "process/debug_registers.h"
#include "recording/perf_data/perf_data_reader.h"
#include "recording/session.h"

#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { AREA = 4096, PACKETS = 64 << 10 };

struct fixture {
    struct stand_in kernel;
    struct made_folder folder;
    struct record_options options;
    struct record_result result;
    pid_t child;
    int begun; /* how often tracing was started */
    pthread_t writer;
    bool writing;
    uint8_t packets[PACKETS];
};

static char *command_line[] = {"magic-trace", NULL};

static size_t count_descriptors(void)
{
    size_t count = 0;
    DIR *folder = opendir("/proc/self/fd");
    assert_non_null(folder);
    while (readdir(folder))
        count++;
    closedir(folder);
    return count;
}

static size_t descriptors_before;

static int set_up(void **state)
{
    struct fixture *fixture = memory_allocate_zeroed(sizeof *fixture);
    descriptors_before = count_descriptors();
    stand_in_begin(&fixture->kernel);
    fixture->kernel.others_are_real = true;
    fixture->kernel.context = fixture;
    made_folder_begin(&fixture->folder);
    fixture->options = (struct record_options){
        .pids = &fixture->child,
        .pid_count = 1,
        .directory = fixture->folder.path,
        .snapshot_size = AREA,
        .sized = true,
        .magic_trace_command = command_line,
    };
    srandom(1);
    for (size_t i = 0; i < PACKETS; i++)
        fixture->packets[i] = (uint8_t)(1 + random() % 255);
    *state = fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;
    assert_int_equal(stand_in_left_over(&fixture->kernel), 0);
    stand_in_end(&fixture->kernel);
    if (fixture->child > 0) {
        kill(fixture->child, SIGKILL);
        waitpid(fixture->child, NULL, 0);
    }
    made_folder_end(&fixture->folder);
    free(fixture);
    assert_int_equal(count_descriptors(), descriptors_before);
    return 0;
}

/* ---- the traced process ---- */

__attribute__((noinline)) void called_now_and_then(uint64_t time, uint64_t argument);
void called_now_and_then(uint64_t time, uint64_t argument)
{
    __asm__ volatile("" : : "r"(time), "r"(argument) : "memory");
}

/* Calls the function every millisecond, until it is killed. */
static pid_t start_child(void)
{
    pid_t child = fork();
    struct timespec millisecond = {.tv_nsec = 1000000};
    if (child)
        return child;
    for (;;) {
        called_now_and_then(3, 2 * 21 + 1);
        nanosleep(&millisecond, NULL);
    }
}

static bool open_data(struct fixture *fixture, struct perf_data *data)
{
    char *path = made_folder_path(&fixture->folder, "perf.data");
    struct error error = {0};
    bool ok = perf_data_open(data, path, &error);
    if (!ok)
        print_error("%s\n", error.text);
    free(path);
    return ok;
}

static void attach(struct fixture *fixture)
{
    struct error error = {0};
    if (!pt_attach(&fixture->kernel.kernel, &fixture->options, &fixture->result, &error))
        fail_msg("%s", error.text);
}

static bool record(struct fixture *fixture, char **command, struct error *error)
{
    fixture->options.command = command;
    return pt_record(&fixture->kernel.kernel, &fixture->options, &fixture->result, error);
}

/* ---- attach ---- */

static void write_and_kill(struct stand_in *kernel, struct stand_in_event *event)
{
    struct fixture *fixture = kernel->context;
    stand_in_write_packets(kernel, event, fixture->packets, AREA + 100);
    kill(fixture->child, SIGKILL);
}

static void it_ends_with_the_process(void **state)
{
    struct fixture *fixture = *state;
    fixture->child = start_child();
    fixture->kernel.enabled = write_and_kill;
    attach(fixture);
    assert_false(fixture->result.interrupted);
    assert_int_equal(fixture->result.bytes, AREA);
    struct perf_data data;
    assert_true(open_data(fixture, &data));
    assert_int_equal(data.chunk_count, 1);
    assert_memory_equal(data.chunks[0].bytes, fixture->packets + 100, AREA);
    bool mapped = false, ended = false;
    for (size_t i = 0; i < data.record_count; i++) {
        mapped |= data.records[i].kind == SIDEBAND_MAPPING;
        ended |= data.records[i].kind == SIDEBAND_EXIT;
    }
    assert_true(mapped);
    assert_true(ended);
    perf_data_close(&data);
}

static void write_and_interrupt(struct stand_in *kernel, struct stand_in_event *event)
{
    struct fixture *fixture = kernel->context;
    stand_in_write_packets(kernel, event, fixture->packets, 100);
    kill(getpid(), SIGINT);
}

static void ctrl_c_ends_it_and_the_process_goes_on(void **state)
{
    struct fixture *fixture = *state;
    fixture->child = start_child();
    fixture->kernel.enabled = write_and_interrupt;
    attach(fixture);
    assert_true(fixture->result.interrupted);
    assert_int_equal(fixture->result.bytes, 100);
    assert_int_equal(kill(fixture->child, 0), 0);
    assert_int_equal(waitpid(fixture->child, NULL, WNOHANG), 0);
}

/* ---- triggers ---- */

static void write_some(struct stand_in *kernel, struct stand_in_event *event)
{
    struct fixture *fixture = kernel->context;
    stand_in_write_packets(kernel, event, fixture->packets + 100 * fixture->begun++, 100);
    if (fixture->begun == 4)
        kill(fixture->child, SIGKILL);
}

static void set_trigger(struct fixture *fixture)
{
    char self[256] = "";
    const char *objects[] = {self};
    struct error error = {0};
    assert_true(readlink("/proc/self/exe", self, sizeof self - 1) > 0);
    if (!trigger_find(&fixture->options.trigger, "called_now_and_then", objects, 1, &error))
        fail_msg("%s", error.text);
}

/* Breakpoints may be missing in virtual machines, or never fire. */
static bool breakpoints_work(void)
{
    if (!debug_registers_fire())
        return false;
    struct perf_event_attr attributes = {
        .type = PERF_TYPE_BREAKPOINT,
        .size = sizeof attributes,
        .bp_type = 4, /* HW_BREAKPOINT_X */
        .bp_addr = (uintptr_t)called_now_and_then,
        .bp_len = sizeof(long),
        .sample_period = 1,
        .exclude_kernel = 1,
        .exclude_hv = 1,
        .disabled = 1,
    };
    int event = kernel_real.open_event(&kernel_real, &attributes, 0, -1, -1, 0);
    if (event >= 0)
        close(event);
    return event >= 0;
}

static void a_hit_takes_the_snapshot(void **state)
{
    struct fixture *fixture = *state;
    if (!breakpoints_work())
        skip();
    set_trigger(fixture);
    fixture->child = start_child();
    fixture->kernel.enabled = write_some;
    attach(fixture);
    assert_int_equal(fixture->begun, 1);
    assert_int_equal(fixture->result.snapshots, 1);
    assert_true(fixture->result.hits >= 1);
    struct session session;
    assert_true(session_read(&session, fixture->folder.path, NULL));
    assert_string_equal(session.trigger, "called_now_and_then");
    assert_int_equal(session.hit_count, 1);
    assert_int_equal(session.hits[0].address, (uintptr_t)called_now_and_then);
    assert_int_equal(session.hits[0].tid, fixture->child);
    session_free(&session);
    trigger_free(&fixture->options.trigger);
}

static void several_hits_take_several_snapshots(void **state)
{
    struct fixture *fixture = *state;
    if (!breakpoints_work())
        skip();
    set_trigger(fixture);
    fixture->options.trigger.multi_snapshot = true;
    fixture->child = start_child();
    fixture->kernel.enabled = write_some;
    attach(fixture);
    /* More than three when it is called once more before the signal ends it. */
    size_t snapshots = fixture->result.snapshots;
    assert_true(snapshots >= 3);
    struct perf_data data;
    assert_true(open_data(fixture, &data));
    assert_int_equal(data.chunk_count, snapshots + 1); /* and the packets after the last */
    for (size_t i = 0; i <= snapshots; i++) {
        size_t written = 100 * (i + 1);
        assert_int_equal(data.chunks[i].size, (written + 7) / 8 * 8);
        assert_memory_equal(data.chunks[i].bytes, fixture->packets, written);
    }
    perf_data_close(&data);
    trigger_free(&fixture->options.trigger);
}

/* ---- events beside ---- */

static void interrupt_soon(struct stand_in *kernel, struct stand_in_event *event)
{
    struct fixture *fixture = kernel->context;
    stand_in_write_packets(kernel, event, fixture->packets, 100);
    if (fixture->begun++ == 0)
        alarm(1);
}

/* Several threads' way: a ring per processor. Context switches are the kernel's own event. */
static void events_are_recorded_beside(void **state)
{
    struct fixture *fixture = *state;
    const struct event_kind *switches = event_kind_find("context-switches");
    assert_non_null(switches);
    fixture->child = start_child();
    fixture->options.multi_thread = true;
    fixture->options.processor.event_count = 1;
    fixture->options.processor.events[0] = (struct extra_event){.kind = switches, .count = 1};
    fixture->kernel.enabled = interrupt_soon;
    char *online = file_read("/sys/devices/system/cpu/online", NULL, NULL);
    assert_non_null(online);
    made_folder_put(&fixture->kernel.sysfs, "devices/system/cpu/online", online);
    free(online);
    attach(fixture);
    struct perf_data data;
    assert_true(open_data(fixture, &data));
    size_t samples = 0, came = 0;
    for (size_t i = 0; i < data.record_count; i++) {
        const struct sideband_record *record = &data.records[i];
        samples += record->kind == SIDEBAND_SAMPLE && record->tid == (uint32_t)fixture->child &&
                   strcmp(data.events[record->sample.event].name, "context-switches") == 0;
        came += record->kind == SIDEBAND_CONTEXT_SWITCH;
    }
    assert_true(samples > 1);
    assert_true(came > 1);
    perf_data_close(&data);
}

/* ---- full execution ---- */

static void *write_everything(void *argument)
{
    struct fixture *fixture = argument;
    struct stand_in_event *event = stand_in_packets_event(&fixture->kernel, -1);
    struct timespec moment = {.tv_nsec = 100000};
    for (size_t done = 0; done < PACKETS;) {
        uint64_t used = event->ring->written - *(volatile __u64 *)&event->ring->page->aux_tail;
        size_t step = PACKETS - done < 1000 ? PACKETS - done : 1000;
        if (used + step < AREA)
            done += stand_in_write_packets(&fixture->kernel, event, fixture->packets + done, step);
        else
            nanosleep(&moment, NULL);
    }
    kill(fixture->child, SIGKILL);
    return NULL;
}

static void begin_to_write(struct stand_in *kernel, struct stand_in_event *event)
{
    struct fixture *fixture = kernel->context;
    if (!fixture->writing)
        pthread_create(&fixture->writer, NULL, write_everything, fixture);
    fixture->writing = true;
}

static void a_full_execution_is_drained_while_it_goes_on(void **state)
{
    struct fixture *fixture = *state;
    fixture->child = start_child();
    fixture->options.full_execution = true;
    fixture->kernel.enabled = begin_to_write;
    attach(fixture);
    pthread_join(fixture->writer, NULL);
    assert_int_equal(fixture->result.bytes, PACKETS);
    struct perf_data data;
    assert_true(open_data(fixture, &data));
    uint64_t offset = 0;
    for (size_t i = 0; i < data.chunk_count; i++) {
        uint64_t after = i + 1 < data.chunk_count ? data.chunks[i + 1].offset : PACKETS;
        assert_int_equal(data.chunks[i].offset, offset);
        assert_memory_equal(data.chunks[i].bytes, fixture->packets + offset, after - offset);
        offset = after;
    }
    perf_data_close(&data);
}

/* Each time that the area is full the event stops, and continues when it has been drained. */
static void write_too_much(struct stand_in *kernel, struct stand_in_event *event)
{
    struct fixture *fixture = kernel->context;
    enum { TIMES = 5 };
    fixture->begun++;
    if (fixture->begun <= TIMES)
        stand_in_write_packets(kernel, event, fixture->packets, 2 * AREA);
    else
        kill(fixture->child, SIGKILL);
}

static void what_stops_for_want_of_room_goes_on(void **state)
{
    struct fixture *fixture = *state;
    fixture->child = start_child();
    fixture->options.full_execution = true;
    fixture->kernel.enabled = write_too_much;
    attach(fixture);
    assert_true(fixture->begun > 5);
    assert_true(fixture->result.bytes > 4 * AREA);
}

/* ---- run ---- */

static void a_program_is_traced_from_its_beginning(void **state)
{
    struct fixture *fixture = *state;
    char *command[] = {"sh", "-c", "exit 3", NULL};
    struct error error = {0};
    if (!record(fixture, command, &error))
        fail_msg("%s", error.text);
    assert_true(WIFEXITED(fixture->result.exit_status));
    assert_int_equal(WEXITSTATUS(fixture->result.exit_status), 3);
    assert_true(fixture->kernel.events[0].attributes.enable_on_exec);
    struct perf_data data;
    assert_true(open_data(fixture, &data));
    bool executed = false;
    for (size_t i = 0; i < data.record_count; i++)
        executed |= data.records[i].kind == SIDEBAND_NAME && data.records[i].name.exec &&
                    strcmp(data.records[i].name.name, "sh") == 0;
    assert_true(executed);
    perf_data_close(&data);
}

static void what_ran_untraced_is_said(void **state)
{
    struct fixture *fixture = *state;
    char *command[] = {"sh", "-c", "/bin/true; exit 0", NULL};
    struct error error = {0};
    if (!record(fixture, command, &error))
        fail_msg("%s", error.text);
    struct session session;
    assert_true(session_read(&session, fixture->folder.path, NULL));
    assert_int_equal(session.untraced_count, 1);
    assert_string_equal(session.untraced[0].name, "true");
    assert_string_equal(session.untraced[0].flag, "-follow");
    assert_int_equal(session.untraced[0].threads, 1);
    session_free(&session);
}

static void expect_nothing(struct fixture *fixture, char **command, const char *text)
{
    struct error error = {0};
    assert_false(record(fixture, command, &error));
    if (!strstr(error.text, text))
        fail_msg("`%s` is not in: %s", text, error.text);
    assert_int_equal(rmdir(fixture->folder.path), 0); /* it is empty */
    made_folder_make(&fixture->folder, "");
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    assert_int_equal(stand_in_left_over(&fixture->kernel), 0);
    stand_in_forget(&fixture->kernel);
}

static void what_cannot_run_leaves_nothing(void **state)
{
    struct fixture *fixture = *state;
    expect_nothing(fixture, (char *[]){"/no/such/program", NULL}, "cannot start /no/such/program");
    expect_nothing(fixture, (char *[]){"no-such-program", NULL}, "cannot find the program");
    fixture->kernel.open_problem = EBUSY;
    expect_nothing(fixture, (char *[]){"true", NULL}, "End it");
    fixture->kernel.open_problem = 0;
    fixture->kernel.map_problem = EPERM;
    for (size_t calls = 0; calls < 2; calls++) {
        fixture->kernel.map_calls = calls;
        expect_nothing(fixture, (char *[]){"true", NULL}, "perf_event_mlock_kb");
    }
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(it_ends_with_the_process),
        TEST(ctrl_c_ends_it_and_the_process_goes_on),
        TEST(a_hit_takes_the_snapshot),
        TEST(several_hits_take_several_snapshots),
        TEST(events_are_recorded_beside),
        TEST(a_full_execution_is_drained_while_it_goes_on),
        TEST(what_stops_for_want_of_room_goes_on),
        TEST(a_program_is_traced_from_its_beginning),
        TEST(what_ran_untraced_is_said),
        TEST(what_cannot_run_leaves_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
