/* With a kernel of our own: what refuses, and what cannot be brought about at will. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "made_folder.h"

#include "base/file.h"
#include "engine/trigger/breakpoints.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

/* ---- the kernel ---- */

enum { PROCESSORS = 2, PID = 4000, PAGE = 4096, RING = 8 * PAGE, ADDRESS = 0x401234 };

struct opened {
    pid_t tid;
    int cpu, descriptor;
    bool breakpoint;
    uint64_t address;
};

static struct {
    struct made_folder folder;
    struct opened opened[1000];
    size_t count;   /* of opened */
    int fails_at;   /* the event, counted from 1; 0: none */
    int problem;    /* its errno */
    bool map_fails; /* rings cannot be mapped */
    bool old;       /* before Linux 5.13 */
    uint8_t *rings[PROCESSORS];
    size_t ring_count;
    uint64_t heads[PROCESSORS];
} machine;

static bool is_open(const struct opened *opened)
{
    return opened->descriptor >= 0 && fcntl(opened->descriptor, F_GETFD) >= 0;
}

static size_t count_open(pid_t tid, int cpu)
{
    size_t count = 0;
    for (size_t i = 0; i < machine.count; i++) {
        const struct opened *opened = &machine.opened[i];
        count += opened->breakpoint && opened->tid == tid && opened->cpu == cpu && is_open(opened);
    }
    return count;
}

static int refuse(int problem)
{
    errno = problem;
    return -1;
}

static int open_event(const struct kernel *kernel, const struct perf_event_attr *attributes,
                      pid_t pid, int cpu, int group, unsigned long flags)
{
    (void)kernel;
    bool breakpoint = attributes->type == PERF_TYPE_BREAKPOINT;
    assert_int_equal(group, -1);
    assert_int_equal(flags, PERF_FLAG_FD_CLOEXEC);
    if (machine.fails_at && --machine.fails_at == 0)
        return refuse(machine.problem);
    if (machine.old && (attributes->inherit_thread || attributes->remove_on_exec))
        return refuse(EINVAL);
    if (breakpoint && count_open(pid, cpu) >= 4)
        return refuse(ENOSPC);
    int descriptor = eventfd(0, EFD_CLOEXEC);
    for (size_t i = 0; i < machine.count; i++)
        if (machine.opened[i].descriptor == descriptor)
            machine.opened[i].descriptor = -1;
    assert_true(machine.count < 1000);
    machine.opened[machine.count++] =
        (struct opened){pid, cpu, descriptor, breakpoint, breakpoint ? attributes->bp_addr : 0};
    return descriptor;
}

static int control(const struct kernel *kernel, int event, unsigned long request,
                   unsigned long argument)
{
    (void)kernel;
    if (request == PERF_EVENT_IOC_ID)
        *(uint64_t *)argument = 1000 + (uint64_t)event;
    return 0;
}

static void *map(const struct kernel *kernel, size_t size, int protection, int event,
                 uint64_t offset)
{
    (void)kernel;
    (void)event;
    (void)offset;
    if (machine.map_fails) {
        errno = EPERM;
        return MAP_FAILED;
    }
    uint8_t *memory = mmap(NULL, size, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    machine.rings[machine.ring_count++ % PROCESSORS] = memory;
    return memory;
}

static int unmap(const struct kernel *kernel, void *address, size_t size)
{
    (void)kernel;
    machine.ring_count--;
    return munmap(address, size);
}

static struct kernel stand_in = {
    .open_event = open_event, .control = control, .map = map, .unmap = unmap};

static int set_up(void **state)
{
    (void)state;
    memset(&machine, 0, sizeof machine);
    made_folder_begin(&machine.folder);
    stand_in.sysfs = stand_in.proc = machine.folder.path;
    made_folder_make(&machine.folder, "4000/task/4000");
    made_folder_make(&machine.folder, "4000/task/4001");
    made_folder_put(&machine.folder, "devices/system/cpu/online", "0-1\n");
    made_folder_put(&machine.folder, "sys/kernel/perf_event_paranoid", "2\n");
    made_folder_put(&machine.folder, "4000/maps",
                    "00400000-00401000 r--p 00000000 08:01 7     /bin/program\n"
                    "00401000-00402000 r-xp 00001000 08:01 7     /bin/program\n"
                    "7f0000000000-7f0000001000 rw-p 00000000 00:00 0 \n");
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    made_folder_end(&machine.folder);
    return 0;
}

/* ---- what is watched ---- */

static char program_path[] = "/bin/program";
static struct trigger_place places[] = {{.path = program_path, .file_offset = 0x1234},
                                        {.path = program_path, .file_offset = 0x1300},
                                        {.path = program_path, .file_offset = 0x1400}};

static struct breakpoints *open_places(size_t count, enum breakpoint_scope scope,
                                       struct error *error)
{
    static struct trigger trigger = {.name = "place", .places = places};
    static const pid_t pid = PID;
    trigger.place_count = count;
    struct breakpoints_options options = {.kernel = &stand_in,
                                          .trigger = &trigger,
                                          .pids = &pid,
                                          .pid_count = 1,
                                          .scope = scope,
                                          .ring_size = RING};
    *error = (struct error){0};
    return breakpoints_open(&options, error);
}

static struct breakpoints *open_one(void)
{
    struct error error;
    struct breakpoints *breakpoints = open_places(1, BREAKPOINTS_ALL_THREADS, &error);
    if (!breakpoints)
        fail_msg("%s", error.text);
    return breakpoints;
}

static size_t count_descriptors(void)
{
    size_t count = 0;
    DIR *entries = opendir("/proc/self/fd");
    while (readdir(entries))
        count++;
    closedir(entries);
    return count;
}

/* ---- records ---- */

static void put_record(size_t ring, const void *record, size_t size)
{
    for (size_t i = 0; i < size; i++)
        machine.rings[ring][PAGE + (machine.heads[ring] + i) % RING] = ((const uint8_t *)record)[i];
    machine.heads[ring] += size;
    ((struct perf_event_mmap_page *)machine.rings[ring])->data_head = machine.heads[ring];
}

static void put_hit(size_t ring, uint32_t tid, uint64_t time, uint64_t id)
{
    struct {
        struct perf_event_header header;
        uint64_t ip;
        uint32_t pid, tid;
        uint64_t time, id, kind, rsi, rdi;
    } record = {{PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER, sizeof record},
                ADDRESS,
                PID,
                tid,
                time,
                id,
                PERF_SAMPLE_REGS_ABI_64,
                time + 2,
                time + 1};
    put_record(ring, &record, sizeof record);
}

static void put_birth(size_t ring, uint32_t tid, uint32_t parent, uint64_t time)
{
    struct {
        struct perf_event_header header;
        uint32_t pid, parent_pid, tid, parent_tid;
        uint64_t at;
        uint32_t sample_pid, sample_tid;
        uint64_t time, id;
    } record = {
        {PERF_RECORD_FORK, 0, sizeof record}, PID, PID, tid, parent, time, PID, parent, time, 1};
    put_record(ring, &record, sizeof record);
}

static void put_lost(size_t ring, uint64_t count)
{
    struct {
        struct perf_event_header header;
        uint64_t id, count;
        uint32_t pid, tid;
        uint64_t time, sample_id;
    } record = {{PERF_RECORD_LOST, 0, sizeof record}, 1, count, PID, PID, 1, 1};
    put_record(ring, &record, sizeof record);
}

static void expect_hit(struct breakpoints *breakpoints, uint32_t tid, uint64_t time)
{
    struct breakpoint_hit hit;
    assert_true(breakpoints_next(breakpoints, &hit));
    assert_int_equal(hit.time, time);
    assert_int_equal(hit.pid, PID);
    assert_int_equal(hit.tid, tid);
    assert_int_equal(hit.ip, ADDRESS);
    assert_int_equal(hit.arguments[0], time + 1);
    assert_int_equal(hit.arguments[1], time + 2);
}

static void expect_no_hit(struct breakpoints *breakpoints)
{
    struct breakpoint_hit hit;
    assert_false(breakpoints_next(breakpoints, &hit));
}

/* ---- hits ---- */

static void hits_come_in_order_of_time_from_rings_that_wrap(void **state)
{
    (void)state;
    struct breakpoints *breakpoints = open_one();
    for (uint64_t time = 100; time < 100000; time += 100) {
        put_hit(1, 4001, time + 20, 5);
        put_hit(0, 4000, time + 10, 6);
        put_hit(0, 4001, time + 30, 5);
        expect_hit(breakpoints, 4000, time + 10);
        expect_hit(breakpoints, 4001, time + 20);
        expect_hit(breakpoints, 4001, time + 30);
        expect_no_hit(breakpoints);
    }
    assert_int_equal(breakpoints_lost(breakpoints), 0);
    breakpoints_close(breakpoints);
}

static void lost_records_are_counted(void **state)
{
    (void)state;
    struct breakpoints *breakpoints = open_one();
    put_lost(0, 7);
    put_lost(1, 5);
    put_hit(1, 4001, 10, 5);
    expect_hit(breakpoints, 4001, 10);
    expect_no_hit(breakpoints);
    assert_int_equal(breakpoints_lost(breakpoints), 12);
    breakpoints_close(breakpoints);
}

static void hits_elsewhere_or_of_others_do_not_count(void **state)
{
    (void)state;
    struct breakpoints *breakpoints = open_one();
    struct {
        struct perf_event_header header;
        uint64_t ip;
        uint32_t pid, tid;
        uint64_t time, id, kind;
    } record = {{PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER, sizeof record},
                ADDRESS + 1,
                PID,
                PID,
                10,
                5,
                PERF_SAMPLE_REGS_ABI_NONE};
    put_record(0, &record, sizeof record);
    record.ip = ADDRESS;
    record.pid = PID + 1;
    put_record(0, &record, sizeof record);
    expect_no_hit(breakpoints);
    record.pid = PID;
    put_record(0, &record, sizeof record);
    struct breakpoint_hit hit;
    assert_true(breakpoints_next(breakpoints, &hit));
    assert_int_equal(hit.arguments[0], 0); /* not known */
    breakpoints_close(breakpoints);
}

/* ---- new threads ---- */

/* Opened for the two threads that are there, on both processors. */
static void a_thread_whose_birth_was_half_seen_gets_what_it_lacks(void **state)
{
    (void)state;
    struct breakpoints *breakpoints = open_one();
    assert_int_equal(count_open(4000, 0) + count_open(4001, 0) + count_open(4000, 1), 3);
    /* It has inherited the first of the two events. */
    struct perf_event_attr inherited = {.type = PERF_TYPE_BREAKPOINT};
    int descriptor = open_event(&stand_in, &inherited, 4002, 0, -1, PERF_FLAG_FD_CLOEXEC);
    put_birth(0, 4002, 4001, 10);
    expect_no_hit(breakpoints);
    assert_int_equal(count_open(4002, 0), 1);
    assert_int_equal(count_open(4002, 1), 1);
    /* The second child inherits all events, without our help. */
    put_birth(0, 4003, 4001, 20);
    expect_no_hit(breakpoints);
    assert_int_equal(count_open(4003, 0), 0);
    breakpoints_close(breakpoints);
    close(descriptor);
}

/* A count of none may be wrong: then every hit comes twice. */
static void a_hit_that_comes_twice_counts_once_and_the_second_event_goes(void **state)
{
    (void)state;
    struct breakpoints *breakpoints = open_one();
    put_birth(0, 4002, 4001, 10);
    expect_no_hit(breakpoints);
    assert_int_equal(count_open(4002, 1), 1);
    uint64_t own = 0;
    for (size_t i = 0; i < machine.count; i++)
        if (machine.opened[i].tid == 4002 && machine.opened[i].cpu == 1 &&
            machine.opened[i].breakpoint && is_open(&machine.opened[i]))
            own = 1000 + (uint64_t)machine.opened[i].descriptor;
    put_hit(1, 4002, 20, 5);
    put_hit(1, 4002, 21, own);
    put_hit(1, 4002, 30, 5);
    put_hit(1, 4002, 31, own);
    put_hit(1, 4002, 40, 5);
    put_hit(1, 4002, 50, 5);
    expect_hit(breakpoints, 4002, 20);
    expect_hit(breakpoints, 4002, 30);
    expect_hit(breakpoints, 4002, 40);
    expect_hit(breakpoints, 4002, 50);
    expect_no_hit(breakpoints);
    assert_int_equal(count_open(4002, 1), 0);
    assert_int_equal(count_open(4002, 0), 1);
    breakpoints_close(breakpoints);
}

/* ---- refusals ---- */

/* Lets the event number `first`, then the next, ... fail until none is left to fail. */
static void expect_refusals(int first, enum breakpoint_scope scope, int problem, const char *part)
{
    size_t before = count_descriptors();
    for (int event = first;; event++) {
        struct error error;
        machine.fails_at = event;
        machine.problem = problem;
        struct breakpoints *breakpoints = open_places(3, scope, &error);
        assert_int_equal(machine.ring_count, breakpoints ? PROCESSORS : 0);
        if (!breakpoints && !strstr(error.text, part))
            fail_msg("`%s` is not in: %s", part, error.text);
        bool failed = machine.fails_at == 0;
        assert_true(failed || breakpoints);
        breakpoints_close(breakpoints);
        assert_int_equal(count_descriptors(), before);
        if (!failed)
            break;
        assert_null(breakpoints);
    }
    machine.fails_at = 0;
}

static void every_refusal_is_reported_and_leaves_nothing(void **state)
{
    (void)state;
    const int after_rings = PROCESSORS + 1;
    expect_refusals(1, BREAKPOINTS_ALL_THREADS, EMFILE, "ulimit -n");
    expect_refusals(after_rings, BREAKPOINTS_ALL_THREADS, EACCES, "thread 400");
    expect_refusals(after_rings, BREAKPOINTS_CHILDREN, ENOSPC, "left");
    struct error error;
    machine.fails_at = after_rings + PROCESSORS;
    machine.problem = ENOSPC;
    assert_null(open_places(1, BREAKPOINTS_ALL_THREADS, &error));
    assert_memory_equal(error.text, "cannot watch place (0x401234) in thread 400", 43);
    expect_refusals(1, BREAKPOINTS_ONE_THREAD, ENOMEM, "out of memory");
}

static void rings_that_cannot_be_mapped_are_reported(void **state)
{
    (void)state;
    size_t before = count_descriptors();
    struct error error;
    machine.map_fails = true;
    assert_null(open_places(1, BREAKPOINTS_ALL_THREADS, &error));
    assert_non_null(strstr(error.text, "perf_event_mlock_kb"));
    assert_int_equal(count_descriptors(), before);
}

static void threads_that_end_meanwhile_are_left_out(void **state)
{
    (void)state;
    for (int event = PROCESSORS + 1; event < 12; event++) {
        struct error error;
        machine.fails_at = event;
        machine.problem = ESRCH;
        struct breakpoints *breakpoints = open_places(1, BREAKPOINTS_ALL_THREADS, &error);
        assert_non_null(breakpoints);
        breakpoints_close(breakpoints);
    }
    machine.fails_at = 0;
    char *process = made_folder_path(&machine.folder, "4000");
    file_remove_tree(process, NULL);
    free(process);
    struct error error;
    assert_null(open_places(1, BREAKPOINTS_ALL_THREADS, &error));
    assert_string_equal(error.text, "cannot watch process 4000: it has ended.");
}

static void processors_that_are_switched_off_do_not_matter(void **state)
{
    (void)state;
    struct error error;
    machine.fails_at = PROCESSORS + 2;
    machine.problem = ENODEV;
    struct breakpoints *breakpoints = open_places(1, BREAKPOINTS_ALL_THREADS, &error);
    assert_non_null(breakpoints);
    breakpoints_close(breakpoints);
}

static void older_kernels_are_asked_for_less(void **state)
{
    (void)state;
    machine.old = true;
    struct breakpoints *breakpoints = open_one();
    assert_int_equal(count_open(4001, 1), 1);
    assert_int_equal(breakpoints_watched(breakpoints, PID), 1);
    breakpoints_close(breakpoints);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(hits_come_in_order_of_time_from_rings_that_wrap, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(lost_records_are_counted, set_up, tear_down),
        cmocka_unit_test_setup_teardown(hits_elsewhere_or_of_others_do_not_count, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_thread_whose_birth_was_half_seen_gets_what_it_lacks,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(
            a_hit_that_comes_twice_counts_once_and_the_second_event_goes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(every_refusal_is_reported_and_leaves_nothing, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(rings_that_cannot_be_mapped_are_reported, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(threads_that_end_meanwhile_are_left_out, set_up, tear_down),
        cmocka_unit_test_setup_teardown(processors_that_are_switched_off_do_not_matter, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(older_kernels_are_asked_for_less, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
