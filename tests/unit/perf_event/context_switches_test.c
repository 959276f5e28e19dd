/* What the kernel's records of context switches say, and what is said of a kernel that refuses them. */
#include "perf_event/context_switches.h"

#include "switch_stand_in.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

enum { TID = 7, OTHER = 8 };

struct scene {
    struct switch_stand_in kernel;
    struct context_switches switches;
    struct array taken; /* of struct context_switch */
    struct error error;
};

static void open_scene(struct scene *scene)
{
    *scene = (struct scene){.taken = array_of(sizeof(struct context_switch))};
    switch_stand_in_open(&scene->kernel);
    assert_true(context_switches_begin(&scene->switches, &scene->kernel.kernel, &scene->error));
}

static void close_scene(struct scene *scene)
{
    context_switches_close(&scene->switches);
    switch_stand_in_close(&scene->kernel);
    array_free(&scene->taken);
}

static void take(void *context, const struct context_switch *record)
{
    array_add_all(context, record, 1);
}

static void check(const struct scene *scene, size_t number, struct context_switch expected)
{
    const struct context_switch *taken = array_at(&scene->taken, number);
    assert_int_equal(taken->time, expected.time);
    assert_int_equal(taken->tid, expected.tid);
    assert_int_equal(taken->cpu, expected.cpu);
    assert_int_equal(taken->out, expected.out);
    assert_int_equal(taken->preempted, expected.preempted);
}

static void records_are_read_once(void **state)
{
    (void)state;
    struct scene scene;
    open_scene(&scene);
    assert_true(context_switches_watch_thread(&scene.switches, TID, &scene.error));
    assert_int_equal(scene.kernel.events, STAND_IN_PROCESSORS);
    assert_true(scene.kernel.attributes.context_switch);
    assert_true(scene.kernel.attributes.inherit);
    assert_int_equal(scene.kernel.attributes.clockid, CLOCK_MONOTONIC);
    switch_stand_in_record(&scene.kernel, 0, SWITCH_WAITS, TID, 100);
    switch_stand_in_record(&scene.kernel, 0, SWITCH_PREEMPTED, OTHER, 150);
    switch_stand_in_record(&scene.kernel, 1, SWITCH_IN, TID, 200);
    context_switches_read(&scene.switches, take, &scene.taken);
    context_switches_read(&scene.switches, take, &scene.taken);
    assert_int_equal(scene.taken.count, 3);
    check(&scene, 0, (struct context_switch){.time = 100, .tid = TID, .out = true});
    check(&scene, 1,
          (struct context_switch){.time = 150, .tid = OTHER, .out = true, .preempted = true});
    check(&scene, 2, (struct context_switch){.time = 200, .tid = TID, .cpu = 1});
    close_scene(&scene);
}

static void what_is_lost_is_counted(void **state)
{
    (void)state;
    struct scene scene;
    open_scene(&scene);
    assert_true(context_switches_watch_thread(&scene.switches, TID, &scene.error));
    switch_stand_in_lose(&scene.kernel, 0, 5);
    switch_stand_in_cut(&scene.kernel, 1);
    switch_stand_in_lose(&scene.kernel, 1, 2);
    context_switches_read(&scene.switches, take, &scene.taken);
    assert_int_equal(scene.taken.count, 0);
    assert_int_equal(scene.switches.lost, 7);
    close_scene(&scene);
}

/* A ring of 128 KiB is full within 30 ms of a storm, in which a user without privileges may get no processor. */
static void rings_are_as_large_as_the_user_may_lock(void **state)
{
    (void)state;
    enum { PAGE = 4096, FEW = 300 << 10, MANY = 8 << 20 };
    static const struct {
        rlim_t limit;
        size_t ring;
    } cases[] = {{0, 128 << 10}, {FEW, 128 << 10}, {MANY / 8, 256 << 10}, {MANY, 1 << 20}};
    struct rlimit before;
    assert_int_equal(getrlimit(RLIMIT_MEMLOCK, &before), 0);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct rlimit limit = {.rlim_cur = cases[i].limit, .rlim_max = before.rlim_max};
        struct scene scene;
        if (limit.rlim_cur > before.rlim_max || setrlimit(RLIMIT_MEMLOCK, &limit) != 0)
            continue;
        open_scene(&scene);
        assert_true(context_switches_watch_thread(&scene.switches, TID, &scene.error));
        assert_int_equal(scene.kernel.ring_bytes, cases[i].ring + PAGE);
        close_scene(&scene);
    }
    setrlimit(RLIMIT_MEMLOCK, &before);
}

static void threads_of_a_process_share_its_rings(void **state)
{
    (void)state;
    struct scene scene;
    open_scene(&scene);
    assert_true(context_switches_watch_process(&scene.switches, (uint32_t)getpid(), &scene.error));
    assert_int_equal(scene.kernel.ring_count, STAND_IN_PROCESSORS);
    assert_true(context_switches_watch_thread(&scene.switches, TID, &scene.error));
    assert_int_equal(scene.kernel.ring_count, STAND_IN_PROCESSORS);
    close_scene(&scene);
}

static void a_thread_that_has_ended_is_no_error(void **state)
{
    (void)state;
    struct scene scene;
    open_scene(&scene);
    scene.kernel.refuses = ESRCH;
    assert_true(context_switches_watch_thread(&scene.switches, TID, &scene.error));
    close_scene(&scene);
}

static void refusals_say_what_was_refused(void **state)
{
    (void)state;
    struct scene scene;
    open_scene(&scene);
    scene.kernel.refuses = EACCES;
    assert_false(context_switches_watch_thread(&scene.switches, TID, &scene.error));
    assert_non_null(strstr(scene.error.text, "record context switches"));
    scene.kernel.refuses = 0;
    scene.kernel.refuses_rings = EPERM;
    assert_false(context_switches_watch_thread(&scene.switches, TID, &scene.error));
    assert_true(*scene.error.text);
    close_scene(&scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(records_are_read_once),
        cmocka_unit_test(what_is_lost_is_counted),
        cmocka_unit_test(rings_are_as_large_as_the_user_may_lock),
        cmocka_unit_test(threads_of_a_process_share_its_rings),
        cmocka_unit_test(a_thread_that_has_ended_is_no_error),
        cmocka_unit_test(refusals_say_what_was_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
