/* What is asked of kernels and processors that cannot do all of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "perf_event/event_rings.h"

#include <errno.h>
#include <sys/eventfd.h>
#include <sys/mman.h>

/* A kernel that takes precisions up to one, and may be older than Linux 5.13. */
struct machine {
    struct kernel kernel; /* first, to be found again */
    unsigned precision;
    bool old;
    size_t asked;
};

static int open_event(const struct kernel *kernel, const struct perf_event_attr *attributes,
                      pid_t pid, int cpu, int group, unsigned long flags)
{
    struct machine *machine = (struct machine *)(uintptr_t)kernel;
    machine->asked++;
    errno = attributes->precise_ip > machine->precision  ? EOPNOTSUPP
            : attributes->inherit_thread && machine->old ? EINVAL
                                                         : 0;
    return errno ? -1 : eventfd(0, EFD_CLOEXEC);
}

static int control(const struct kernel *kernel, int event, unsigned long request,
                   unsigned long argument)
{
    return 0;
}

static void *map(const struct kernel *kernel, size_t size, int protection, int event,
                 uint64_t offset)
{
    return mmap(NULL, size, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

static int unmap(const struct kernel *kernel, void *address, size_t size)
{
    return munmap(address, size);
}

static struct machine machine_of(unsigned precision, bool old)
{
    return (struct machine){
        .kernel = {.open_event = open_event, .control = control, .map = map, .unmap = unmap},
        .precision = precision,
        .old = old,
    };
}

/* Asks for one event; the attributes that it got. */
static struct perf_event_attr fit(struct machine *machine, struct perf_event_attr wanted,
                                  bool any_precision, int problem)
{
    struct event_rings rings;
    assert_true(event_rings_begin(&rings, &machine->kernel, &wanted, NULL, 4096, NULL));
    assert_int_equal(event_rings_add_fitting(&rings, 7, any_precision), problem);
    assert_int_equal(rings.rings.count, problem == 0);
    struct perf_event_attr got = rings.attributes;
    event_rings_close(&rings);
    return got;
}

static void the_highest_precision_that_there_is_is_taken(void **state)
{
    (void)state;
    for (unsigned precision = 0; precision < 4; precision++) {
        struct machine machine = machine_of(precision, false);
        struct perf_event_attr wanted = {.inherit_thread = 1};
        struct perf_event_attr got = fit(&machine, wanted, true, 0);
        assert_int_equal(got.precise_ip, precision);
        assert_true(got.inherit_thread);
    }
}

static void a_precision_that_was_asked_for_is_not_lowered(void **state)
{
    (void)state;
    struct machine machine = machine_of(1, false);
    struct perf_event_attr wanted = {.precise_ip = 2};
    assert_int_equal(fit(&machine, wanted, false, EOPNOTSUPP).precise_ip, 2);
    assert_int_equal(machine.asked, 1);
}

static void before_linux_5_13_children_inherit_too(void **state)
{
    (void)state;
    struct machine machine = machine_of(0, true);
    struct perf_event_attr wanted = {.inherit = 1, .inherit_thread = 1};
    struct perf_event_attr got = fit(&machine, wanted, true, 0);
    assert_true(got.inherit);
    assert_false(got.inherit_thread);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_highest_precision_that_there_is_is_taken),
        cmocka_unit_test(a_precision_that_was_asked_for_is_not_lowered),
        cmocka_unit_test(before_linux_5_13_children_inherit_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
