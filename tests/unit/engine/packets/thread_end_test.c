/* The ends of threads that could not record them themselves. */
#include "engine/packets/thread_end.h"

#include "engine/engine.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <unistd.h>

#include <cmocka.h>

enum { PID = 1 << 23, TID = PID + 1, LAST_PACKET = 100, FROZEN_AT = 900 }; /* beyond pid_max */

struct scene {
    struct sideband_log log;
    struct recorded recorded;
    struct packet_ring header;
    struct ring ring;
};

static void begin(struct scene *scene)
{
    static const struct clock_conversion nanoseconds = {.mult = 1};
    *scene = (struct scene){.header = {.pid = PID, .tid = TID}};
    scene->recorded.frozen_at = FROZEN_AT;
    scene->ring.header = &scene->header;
    scene->ring.encoder.last_time = LAST_PACKET;
    sideband_log_begin(&scene->log, "/dir", &nanoseconds, false);
}

static void reaped(struct scene *scene, uint32_t pid, uint64_t time)
{
    struct logged_fork record = {
        .record = {.kind = LOGGED_REAPED, .pid = pid, .tid = pid, .time = time}};
    sideband_log_add(&scene->log, &record.record);
}

static void executed(struct scene *scene, uint64_t time)
{
    *(struct sideband_record *)array_add(&scene->log.records) = (struct sideband_record){
        .kind = SIDEBAND_NAME, .pid = PID, .tid = PID, .time = {time}, .name.exec = true};
}

/* Adds the end and frees the scene; 0 when there is none. */
static uint64_t end_of(struct scene *scene, bool watched)
{
    size_t before = scene->log.records.count;
    scene->recorded.watched = watched;
    thread_end_add(&scene->log, &scene->ring, &scene->recorded);
    uint64_t time = 0;
    if (scene->log.records.count > before) {
        const struct sideband_record *record = array_at(&scene->log.records, before);
        assert_int_equal(record->kind, SIDEBAND_EXIT);
        assert_int_equal(record->pid, scene->header.pid);
        assert_int_equal(record->tid, scene->header.tid);
        time = record->time.value;
    }
    sideband_log_free(&scene->log);
    return time;
}

static void it_is_when_the_recording_ended(void **state)
{
    struct scene scene;
    begin(&scene);
    assert_int_equal(end_of(&scene, true), FROZEN_AT);
    begin(&scene);
    scene.recorded.clock = RECORD_CLOCK_INSTRUCTIONS;
    reaped(&scene, PID, 400);
    assert_int_equal(end_of(&scene, true), LAST_PACKET);
}

static void it_is_when_the_parent_was_reported(void **state)
{
    struct scene scene;
    begin(&scene);
    reaped(&scene, PID, LAST_PACKET - 1); /* an earlier process of this number */
    reaped(&scene, PID + 7, 300);
    reaped(&scene, PID, 400);
    reaped(&scene, PID, 500);
    assert_int_equal(end_of(&scene, true), 400);
}

static void another_thread_executed_another_program(void **state)
{
    struct scene scene;
    begin(&scene);
    executed(&scene, LAST_PACKET - 1); /* the one that this thread runs */
    executed(&scene, 350);
    executed(&scene, 450);
    assert_int_equal(end_of(&scene, true), 350);
    begin(&scene);
    scene.header.tid = PID; /* the new program runs under this number */
    executed(&scene, 350);
    assert_int_equal(end_of(&scene, true), 0);
}

static void who_ended_in_order_has_reported(void **state)
{
    struct scene scene;
    begin(&scene);
    atomic_store(&scene.header.ended, 1);
    assert_int_equal(end_of(&scene, true), 0);
    begin(&scene);
    atomic_store(&scene.header.out_of_space, 1);
    assert_int_equal(end_of(&scene, true), 0);
}

static void nobody_watched(void **state)
{
    struct scene scene;
    begin(&scene);
    assert_int_equal(end_of(&scene, false), 0);
    begin(&scene);
    scene.header.pid = scene.header.tid = (uint32_t)getpid(); /* still alive */
    assert_int_equal(end_of(&scene, false), FROZEN_AT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_when_the_recording_ended),
        cmocka_unit_test(it_is_when_the_parent_was_reported),
        cmocka_unit_test(another_thread_executed_another_program),
        cmocka_unit_test(who_ended_in_order_has_reported),
        cmocka_unit_test(nobody_watched),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
