/* Periods in which threads did not run: from the kernel's records, and from what a killed magic-trace has left. */
#include "engine/translator/transcode/off_cpu.h"

#include "base/memory.h"
#include "base/tsc.h"
#include "engine/translator/transcode/off_cpu_file.h"
#include "made_arena.h"
#include "runtime/translator/log/clock_state.h"
#include "switch_stand_in.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { TID = 7, OTHER = 8, MS = 1000 * 1000 /* ns */ };

struct scene {
    struct made_arena arena;
    struct switch_stand_in kernel;
    struct off_cpu *off_cpu;
    struct tsc_anchor start;
    struct error error;
};

static void open_scene(struct scene *scene)
{
    *scene = (struct scene){.start = tsc_anchor_now()};
    /* All that the tests' records say lies a second ago. */
    uint64_t rate = tsc_measure_rate(&scene->start);
    scene->start.tsc -= rate;
    scene->start.monotonic_ns -= 1000 * (uint64_t)MS;
    const struct tr_options options = {
        .ring_size = MADE_RING,
        .tsc_hz = rate,
        .bus_ratio = 26,
        .start_tsc = scene->start.tsc,
        .start_monotonic_ns = scene->start.monotonic_ns,
    };
    made_arena_open(&scene->arena, &options);
    switch_stand_in_open(&scene->kernel);
    scene->off_cpu = off_cpu_open(&scene->arena.arena, scene->arena.directory,
                                  &scene->kernel.kernel, &scene->error);
    assert_non_null(scene->off_cpu);
    assert_true(off_cpu_watch(scene->off_cpu, (uint32_t)getpid(), &scene->error));
}

static void close_scene(struct scene *scene)
{
    off_cpu_close(scene->off_cpu);
    switch_stand_in_close(&scene->kernel);
    made_arena_close(&scene->arena);
}

/* A record of so many milliseconds after the start. */
static void add(struct scene *scene, unsigned processor, enum switch_kind kind, uint32_t tid,
                unsigned ms)
{
    switch_stand_in_record(&scene->kernel, processor, kind, tid,
                           scene->start.monotonic_ns + (uint64_t)ms * MS);
}

/* The recording's time so many milliseconds after the start. */
static uint64_t ticks(const struct scene *scene, unsigned ms)
{
    return scene->start.tsc + ms * (scene->arena.arena.options.tsc_hz / 1000);
}

/* Two clocks are read one after the other. */
static void assert_about(const struct scene *scene, uint64_t time, unsigned ms)
{
    assert_in_range(time + scene->arena.arena.options.tsc_hz / 2000, ticks(scene, ms),
                    ticks(scene, ms + 1));
}

static bool next(struct scene *scene, uint32_t tid, unsigned from, unsigned until,
                 struct off_cpu_period *period)
{
    return off_cpu_next(scene->off_cpu, tid, ticks(scene, from), ticks(scene, until), period);
}

static void records_become_periods(void **state)
{
    (void)state;
    struct scene scene;
    struct off_cpu_period period;
    open_scene(&scene);
    add(&scene, 0, SWITCH_PREEMPTED, TID, 10);
    add(&scene, 0, SWITCH_IN, OTHER, 10);
    add(&scene, 0, SWITCH_WAITS, OTHER, 60); /* its beginning is not known */
    add(&scene, 1, SWITCH_IN, TID, 30);      /* on another processor, whose ring is read later */
    add(&scene, 1, SWITCH_WAITS, TID, 40);
    add(&scene, 1, SWITCH_IN, TID, 50);
    assert_true(next(&scene, TID, 5, 100, &period));
    assert_about(&scene, period.out, 10);
    assert_about(&scene, period.in, 30);
    assert_int_equal(period.tid, TID);
    assert_int_equal(period.out_cpu, 0);
    assert_int_equal(period.in_cpu, 1);
    assert_true(period.preempted);
    assert_true(off_cpu_next(scene.off_cpu, TID, period.in, ticks(&scene, 100), &period));
    assert_about(&scene, period.out, 40);
    assert_about(&scene, period.in, 50);
    assert_false(period.preempted);
    assert_false(off_cpu_next(scene.off_cpu, TID, period.in, ticks(&scene, 100), &period));
    assert_false(next(&scene, OTHER, 5, 100, &period));
    assert_int_equal(off_cpu_lost(scene.off_cpu), 0);
    close_scene(&scene);
}

static void what_is_not_certain_is_left_out(void **state)
{
    (void)state;
    struct scene scene;
    struct off_cpu_period period;
    open_scene(&scene);
    add(&scene, 0, SWITCH_IN, TID, 5); /* nothing is known of the period before */
    add(&scene, 0, SWITCH_WAITS, TID, 10);
    add(&scene, 0, SWITCH_WAITS, TID, 20); /* its return was lost */
    add(&scene, 0, SWITCH_IN, TID, 30);
    add(&scene, 0, SWITCH_WAITS, TID, 40);
    add(&scene, 0, SWITCH_IN, TID, 60);
    assert_true(next(&scene, TID, 1, 35, &period));
    assert_about(&scene, period.out, 20);
    assert_false(next(&scene, TID, 31, 50, &period)); /* it has logged meanwhile */
    close_scene(&scene);
}

/* A thread goes on while another one translates. The recorder has read the records at that time of the clock already. */
static void a_period_ends_while_the_clock_stands_still(void **state)
{
    (void)state;
    struct scene scene;
    struct off_cpu_period period;
    open_scene(&scene);
    atomic_store(&scene.arena.arena.control->clock,
                 tr_clock_stand_at(ticks(&scene, 50), scene.start.tsc));
    add(&scene, 0, SWITCH_WAITS, TID, 20);
    off_cpu_read(scene.off_cpu);
    add(&scene, 0, SWITCH_IN, TID, 60);
    assert_true(next(&scene, TID, 10, 50, &period));
    assert_about(&scene, period.out, 20);
    assert_true(period.in == ticks(&scene, 50));
    add(&scene, 0, SWITCH_IN, OTHER, 5);
    add(&scene, 0, SWITCH_WAITS, OTHER, 30);
    add(&scene, 0, SWITCH_IN, OTHER, 70);
    assert_true(next(&scene, OTHER, 10, 50, &period));
    close_scene(&scene);
}

static void the_rest_of_a_thread_that_waits_is_kept(void **state)
{
    (void)state;
    struct scene scene;
    open_scene(&scene);
    add(&scene, 0, SWITCH_WAITS, TID, 10);
    add(&scene, 0, SWITCH_IN, TID, 20);
    add(&scene, 0, SWITCH_WAITS, TID, 30);
    off_cpu_keep_rest(scene.off_cpu, 3, TID, ticks(&scene, 5), ticks(&scene, 100));
    const struct off_cpu_log *kept = off_cpu_kept(scene.off_cpu);
    assert_int_equal(kept->newer.count, 2);
    const struct off_cpu_period *last = array_at(&kept->newer, 1);
    assert_int_equal(last->pid, 3);
    assert_about(&scene, last->out, 30);
    assert_int_equal(last->in, ticks(&scene, 100));
    close_scene(&scene);
}

/* Nobody asks for the time between the logs of two programs. */
static void a_thread_that_executes_is_stopped(void **state)
{
    (void)state;
    struct scene scene;
    struct off_cpu_period period;
    open_scene(&scene);
    add(&scene, 0, SWITCH_WAITS, TID, 10);
    add(&scene, 0, SWITCH_IN, TID, 20);
    add(&scene, 0, SWITCH_WAITS, TID, 30);
    add(&scene, 0, SWITCH_IN, TID, 40);
    off_cpu_keep_exec(scene.off_cpu, 3, TID, ticks(&scene, 50)); /* it has run nothing before */
    assert_int_equal(off_cpu_kept(scene.off_cpu)->newer.count, 0);
    assert_true(next(&scene, TID, 5, 25, &period));
    assert_false(next(&scene, TID, 20, 25, &period));
    off_cpu_keep_exec(scene.off_cpu, 3, TID, ticks(&scene, 50));
    const struct off_cpu_log *kept = off_cpu_kept(scene.off_cpu);
    assert_int_equal(kept->newer.count, 1);
    const struct off_cpu_period *stop = array_at(&kept->newer, 0);
    assert_int_equal(stop->pid, 3);
    assert_about(&scene, stop->out, 30);
    assert_about(&scene, stop->in, 40);
    close_scene(&scene);
}

static void nothing_is_known_after_a_refusal(void **state)
{
    (void)state;
    struct scene scene;
    struct off_cpu_period period;
    open_scene(&scene);
    add(&scene, 0, SWITCH_WAITS, TID, 10);
    add(&scene, 0, SWITCH_IN, TID, 20);
    assert_true(off_cpu_is_known(scene.off_cpu));
    scene.kernel.refuses = EACCES;
    assert_false(off_cpu_watch(scene.off_cpu, (uint32_t)getpid(), &scene.error));
    assert_false(off_cpu_is_known(scene.off_cpu));
    assert_false(next(&scene, TID, 5, 100, &period));
    close_scene(&scene);
}

/* ---- after a death ---- */

static void what_was_read_is_salvaged(void **state)
{
    (void)state;
    struct scene scene;
    struct off_cpu_period period;
    open_scene(&scene);
    add(&scene, 0, SWITCH_PREEMPTED, TID, 10);
    add(&scene, 0, SWITCH_IN, TID, 30);
    add(&scene, 0, SWITCH_WAITS, TID, 50); /* is not over */
    off_cpu_read(scene.off_cpu);
    /* As if magic-trace had been killed now. */
    struct off_cpu *dead = scene.off_cpu;
    scene.off_cpu = off_cpu_salvage(&scene.arena.arena, scene.arena.directory);
    off_cpu_close(dead);
    assert_non_null(scene.off_cpu);
    assert_true(off_cpu_is_known(scene.off_cpu));
    assert_true(next(&scene, TID, 5, 100, &period));
    assert_about(&scene, period.out, 10);
    assert_about(&scene, period.in, 30);
    assert_true(period.preempted);
    assert_false(off_cpu_next(scene.off_cpu, TID, period.in, ticks(&scene, 100), &period));
    close_scene(&scene);
}

static void the_newest_periods_are_in_the_file(void **state)
{
    (void)state;
    enum { OLDER = 10 };
    struct made_folder folder;
    made_folder_begin(&folder);
    struct off_cpu_file file = off_cpu_file_create(folder.path);
    for (uint64_t i = 0; i < OFF_CPU_FILE_MOST + OLDER; i++)
        off_cpu_file_add(&file, &(struct off_cpu_period){.out = 2 * i, .in = 2 * i + 1});
    off_cpu_file_publish(&file);
    off_cpu_file_close(&file);
    struct array periods = array_of(sizeof(struct off_cpu_period));
    uint64_t lost;
    assert_true(off_cpu_file_read(folder.path, &periods, &lost));
    assert_int_equal(lost, OLDER);
    assert_int_equal(periods.count, OFF_CPU_FILE_MOST);
    for (uint64_t i = 0; i < periods.count; i++)
        assert_int_equal(((const struct off_cpu_period *)array_at(&periods, i))->out,
                         2 * (i + OLDER));
    array_free(&periods);
    made_folder_end(&folder);
}

static void damaged_files_say_nothing(void **state)
{
    (void)state;
    struct made_folder folder;
    struct array periods = array_of(sizeof(struct off_cpu_period));
    uint64_t lost;
    made_folder_begin(&folder);
    assert_false(off_cpu_file_read(folder.path, &periods, &lost));
    made_folder_put(&folder, "switches", "");
    assert_false(off_cpu_file_read(folder.path, &periods, &lost));
    made_folder_put(&folder, "switches", "not what is expected at all, but long enough for a head");
    assert_false(off_cpu_file_read(folder.path, &periods, &lost));
    struct off_cpu_file file = off_cpu_file_create(folder.path);
    for (uint64_t i = 0; i < 10; i++)
        off_cpu_file_add(&file, &(struct off_cpu_period){.in = 1});
    off_cpu_file_publish(&file);
    assert_int_equal(ftruncate(file.descriptor, 100), 0);
    off_cpu_file_close(&file);
    assert_false(off_cpu_file_read(folder.path, &periods, &lost));
    assert_int_equal(periods.count, 0);
    array_free(&periods);
    made_folder_end(&folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(records_become_periods),
        cmocka_unit_test(what_is_not_certain_is_left_out),
        cmocka_unit_test(a_period_ends_while_the_clock_stands_still),
        cmocka_unit_test(the_rest_of_a_thread_that_waits_is_kept),
        cmocka_unit_test(a_thread_that_executes_is_stopped),
        cmocka_unit_test(nothing_is_known_after_a_refusal),
        cmocka_unit_test(what_was_read_is_salvaged),
        cmocka_unit_test(the_newest_periods_are_in_the_file),
        cmocka_unit_test(damaged_files_say_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
