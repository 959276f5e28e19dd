#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "made_folder.h"

#include "base/memory.h"
#include "perf_event/permissions.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A /proc of our own, with a process 4242. */
struct fixture {
    struct made_folder folder;
    struct kernel kernel;
    struct error error;
};

static int set_up(void **state)
{
    struct fixture *fixture = memory_allocate_zeroed(sizeof *fixture);
    made_folder_begin(&fixture->folder);
    made_folder_make(&fixture->folder, "4242");
    fixture->kernel = kernel_real;
    fixture->kernel.proc = fixture->folder.path;
    made_folder_put(&fixture->folder, "sys/kernel/perf_event_paranoid", "2\n");
    made_folder_put(&fixture->folder, "sys/kernel/perf_event_mlock_kb", "516\n");
    made_folder_put(&fixture->folder, "self/status", "Name:\tx\nCapEff:\t0000000000000000\n");
    *state = fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;
    made_folder_end(&fixture->folder);
    free(fixture);
    return 0;
}

static const struct perf_event_attr user_breakpoint = {.type = PERF_TYPE_BREAKPOINT,
                                                       .exclude_kernel = 1};
static const struct perf_event_attr with_kernel = {.type = PERF_TYPE_SOFTWARE};

static void expect(struct fixture *fixture, const struct perf_event_attr *attributes, pid_t pid,
                   int problem, const char *const *parts)
{
    struct event_request request = {"watch main", attributes, pid, 0};
    fixture->error = (struct error){0};
    assert_false(event_refused(&fixture->error, &fixture->kernel, &request, problem));
    assert_memory_equal(fixture->error.text, "cannot watch main: ", 19);
    for (; *parts; parts++)
        if (!strstr(fixture->error.text, *parts))
            fail_msg("`%s` is not in: %s", *parts, fixture->error.text);
    assert_int_equal(fixture->error.text[strlen(fixture->error.text) - 1], '.');
}

#define PARTS(...) ((const char *const[]){__VA_ARGS__, NULL})

static void paranoia_is_named_with_the_value_that_would_do(void **state)
{
    struct fixture *fixture = *state;
    expect(fixture, &with_kernel, 4242, EACCES,
           PARTS("perf_event_paranoid is 2", "recording the kernel",
                 "sudo sysctl kernel.perf_event_paranoid=1", "cap_perfmon"));
    expect(fixture, &user_breakpoint, -1, EACCES,
           PARTS("perf_event_paranoid is 2", "whole processors",
                 "sudo sysctl kernel.perf_event_paranoid=0"));
    made_folder_put(&fixture->folder, "sys/kernel/perf_event_paranoid", "4\n");
    expect(fixture, &user_breakpoint, 4242, EACCES,
           PARTS("perf_event_paranoid is 4", "all recording",
                 "sudo sysctl kernel.perf_event_paranoid=2"));
    assert_int_equal(event_paranoia(&fixture->kernel), 4);
}

static void what_the_settings_allow_is_forbidden_by_something_else(void **state)
{
    struct fixture *fixture = *state;
    expect(fixture, &user_breakpoint, 4242, EPERM, PARTS("--cap-add PERFMON", "SELinux", "dmesg"));
    made_folder_put(&fixture->folder, "self/status", "Name:\tx\nCapEff:\t0000004000000000\n");
    assert_true(event_privileged(&fixture->kernel));
    expect(fixture, &with_kernel, -1, EACCES, PARTS("--cap-add PERFMON", "Permission denied"));
}

static void the_owner_of_a_process_is_named(void **state)
{
    struct fixture *fixture = *state;
    char *folder = made_folder_path(&fixture->folder, "4242");
    bool given_away = chown(folder, 65534, 65534) == 0;
    free(folder);
    if (!given_away) {
        print_message("not root: no process of another user can be made up\n");
        skip();
    }
    expect(fixture, &user_breakpoint, 4242, EACCES,
           PARTS("another user (65534; this is 0)", "cap_sys_ptrace"));
}

static void other_refusals_say_what_to_do(void **state)
{
    struct fixture *fixture = *state;
    expect(fixture, &user_breakpoint, 4242, ENOSPC, PARTS("no debug register", "debugger"));
    expect(fixture, &user_breakpoint, 4242, EMFILE, PARTS("open files", "ulimit -n"));
    expect(fixture, &user_breakpoint, 4242, ENFILE, PARTS("sysctl fs.file-max"));
    expect(fixture, &user_breakpoint, 4242, ESRCH, PARTS("no such thread"));
    assert_int_equal(fixture->error.code, ERROR_NOT_FOUND);
    expect(fixture, &user_breakpoint, 4242, EINVAL, PARTS("Linux 5.13"));
    expect(fixture, &with_kernel, 4242, EBUSY, PARTS("magic-trace in `ps -ef`"));
    expect(fixture, &with_kernel, 4242, ENOENT, PARTS("virtual machines", "doctor"));
    expect(fixture, &with_kernel, 4242, ENODEV, PARTS("offline"));
    expect(fixture, &with_kernel, 4242, ENOSYS, PARTS("CONFIG_PERF_EVENTS"));
}

static void a_kernel_without_events_is_seen(void **state)
{
    struct fixture *fixture = *state;
    char *path = made_folder_path(&fixture->folder, "sys/kernel/perf_event_paranoid");
    unlink(path);
    free(path);
    expect(fixture, &user_breakpoint, 4242, EPERM, PARTS("CONFIG_PERF_EVENTS"));
}

static void rings_name_the_limits(void **state)
{
    struct fixture *fixture = *state;
    struct error error = {0};
    assert_false(event_ring_refused(&error, &fixture->kernel, 1 << 20, EPERM));
    assert_non_null(strstr(error.text, "1048576 bytes"));
    assert_non_null(strstr(error.text, "516 KiB"));
    assert_non_null(strstr(error.text, "sysctl kernel.perf_event_mlock_kb=2564"));
    assert_false(event_ring_refused(&error, &fixture->kernel, 1 << 20, ENOMEM));
    assert_non_null(strstr(error.text, "smaller -snapshot-size"));
    assert_false(event_ring_refused(NULL, &fixture->kernel, 1 << 20, EPERM));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(paranoia_is_named_with_the_value_that_would_do, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(what_the_settings_allow_is_forbidden_by_something_else,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_owner_of_a_process_is_named, set_up, tear_down),
        cmocka_unit_test_setup_teardown(other_refusals_say_what_to_do, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_kernel_without_events_is_seen, set_up, tear_down),
        cmocka_unit_test_setup_teardown(rings_name_the_limits, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
