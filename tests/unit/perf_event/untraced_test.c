#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "perf_event/untraced.h"

#include <string.h>

/* Processes that nobody has: /proc knows nothing of them. */
enum { PARENT = 0x7ffffff0, CHILD, OTHER };

static void handle_creation(struct untraced *untraced, uint32_t pid, uint32_t tid, uint32_t parent)
{
    struct {
        struct perf_event_header header;
        uint32_t pid, parent_pid, tid, parent_tid;
        uint64_t time;
    } record = {{PERF_RECORD_FORK, 0, sizeof record}, pid, parent, tid, parent, 0};
    untraced_handle(untraced, &record.header);
}

static void handle_name(struct untraced *untraced, uint32_t pid, uint32_t tid, const char *name)
{
    struct {
        struct perf_event_header header;
        uint32_t pid, tid;
        char name[16];
    } record = {{PERF_RECORD_COMM, 0, sizeof record}, pid, tid, ""};
    strncpy(record.name, name, sizeof record.name - 1);
    untraced_handle(untraced, &record.header);
}

static const struct session_untraced *only(const struct untraced *untraced)
{
    assert_int_equal(untraced->found.count, 1);
    return array_at(&untraced->found, 0);
}

static void a_child_is_called_what_its_program_is(void **state)
{
    struct untraced untraced;
    untraced_begin(&untraced, false, false);
    handle_creation(&untraced, CHILD, CHILD, PARENT);
    assert_null(only(&untraced)->name);
    handle_name(&untraced, CHILD, CHILD, "sh");
    handle_name(&untraced, CHILD, CHILD, "true");
    assert_string_equal(only(&untraced)->name, "true");
    assert_string_equal(only(&untraced)->flag, "-follow");
    assert_int_equal(only(&untraced)->threads, 1);
    untraced_free(&untraced);
}

static void names_may_come_before_births(void **state)
{
    struct untraced untraced;
    untraced_begin(&untraced, false, false);
    handle_name(&untraced, OTHER, OTHER, "other");
    handle_name(&untraced, CHILD, CHILD, "sh");
    handle_name(&untraced, CHILD, CHILD, "true");
    handle_creation(&untraced, CHILD, CHILD, PARENT);
    assert_string_equal(only(&untraced)->name, "true");
    untraced_free(&untraced);
}

static void threads_do_not_name_their_process(void **state)
{
    struct untraced untraced;
    untraced_begin(&untraced, false, false);
    handle_name(&untraced, CHILD, OTHER, "worker");
    handle_creation(&untraced, CHILD, CHILD, PARENT);
    assert_null(only(&untraced)->name);
    handle_creation(&untraced, CHILD, OTHER, CHILD);
    assert_int_equal(only(&untraced)->threads, 2);
    untraced_free(&untraced);
}

static void what_is_traced_is_not_untraced(void **state)
{
    struct untraced untraced;
    untraced_begin(&untraced, true, true);
    handle_creation(&untraced, CHILD, CHILD, PARENT);
    handle_creation(&untraced, PARENT, OTHER, PARENT);
    assert_int_equal(untraced.found.count, 0);
    untraced_free(&untraced);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_child_is_called_what_its_program_is),
        cmocka_unit_test(names_may_come_before_births),
        cmocka_unit_test(threads_do_not_name_their_process),
        cmocka_unit_test(what_is_traced_is_not_untraced),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
