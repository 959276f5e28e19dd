/* The stream of branches that our filter writes inside perf: every record, what perf prints between
 * them, and damage of every sort. */
#include "recording/perf_script/branch_stream_reader.h"

#include "made_stream.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

/* ---- a stream ---- */

static const char error_line[] =
    " instruction trace error type 1 time 1.000000009 cpu 3 pid 7 tid 8 ip 0x4010 code 6: Trace "
    "doesn't match instruction\n";

/* One of each: 7 records before the end, and 4 events. */
static struct array sample_stream(void)
{
    struct array stream = array_of(1);
    made_stream_begin(&stream, BRANCH_STREAM_VERSION);
    made_stream_thread(&stream, 7, 8, UINT32_MAX);
    made_stream_time(&stream, 1000000000);
    made_stream_branch(&stream, BRANCH_IS_BRANCH | BRANCH_IS_CALL, 0x4010, 0x5000);
    made_stream_line(&stream, "this is not for us\n");
    made_stream_line(&stream, error_line);
    made_stream_stack(&stream, 0x5004, 0x7fff0000);
    made_stream_thread(&stream, 7, 9, 2);
    made_stream_branch(&stream, BRANCH_IS_BRANCH | BRANCH_IS_RETURN, 0x5008, 0x4015);
    made_stream_end(&stream, 7);
    return stream;
}

/* ---- reading ---- */

struct reading {
    struct branch_event events[16];
    char message[64]; /* of the newest decode error */
    size_t count;
    struct error damage;
};

static void read_stream(const struct array *stream, size_t size, struct reading *reading)
{
    int descriptor = memfd_create("stream", MFD_CLOEXEC);
    assert_true(descriptor >= 0);
    assert_int_equal(write(descriptor, stream->elements, size), size);
    assert_int_equal(lseek(descriptor, 0, SEEK_SET), 0);
    struct branch_stream_reader reader;
    struct branch_event event;
    *reading = (struct reading){.count = 0};
    branch_stream_open(&reader, descriptor);
    while (branch_stream_next(&reader, &event)) {
        if (reading->count < sizeof reading->events / sizeof *reading->events)
            reading->events[reading->count] = event;
        reading->count++;
        if (event.kind == BRANCH_EVENT_DECODE_ERROR)
            snprintf(reading->message, sizeof reading->message, "%.*s", (int)event.message.size,
                     event.message.at);
    }
    assert_false(branch_stream_next(&reader, &event));
    reading->damage = reader.damage;
    branch_stream_close(&reader);
    close(descriptor);
}

static void read_whole(struct array *stream, struct reading *reading)
{
    read_stream(stream, stream->count, reading);
    array_free(stream);
}

static void assert_damage(const struct reading *reading, const char *why)
{
    assert_int_equal(reading->damage.code, ERROR_FORMAT);
    if (!strstr(reading->damage.text, why))
        fail_msg("\"%s\" does not say \"%s\"", reading->damage.text, why);
}

/* ---- tests ---- */

static void records_become_events(void **state)
{
    struct array stream = sample_stream();
    struct reading reading;
    read_whole(&stream, &reading);
    assert_int_equal(reading.damage.code, ERROR_NONE);
    assert_int_equal(reading.count, 4);
    const struct branch_event *event = reading.events;
    assert_int_equal(event[0].kind, BRANCH_EVENT_BRANCH);
    assert_int_equal(event[0].pid, 7);
    assert_int_equal(event[0].tid, 8);
    assert_int_equal(event[0].processor, UINT32_MAX);
    assert_int_equal(event[0].time.value, 1000000000);
    assert_int_equal(event[0].flags, BRANCH_IS_BRANCH | BRANCH_IS_CALL);
    assert_int_equal(event[0].from, 0x4010);
    assert_int_equal(event[0].to, 0x5000);
    assert_int_equal(event[2].kind, BRANCH_EVENT_STACK_POINTER);
    assert_int_equal(event[2].from, 0x5004);
    assert_int_equal(event[2].to, 0x7fff0000);
    assert_int_equal(event[3].tid, 9);
    assert_int_equal(event[3].processor, 2);
    assert_int_equal(event[3].time.value, 1000000000);
    assert_int_equal(event[3].to, 0x4015);
}

static void what_perf_prints_is_an_error_in_its_place(void **state)
{
    struct array stream = sample_stream();
    struct reading reading;
    read_whole(&stream, &reading);
    const struct branch_event *event = &reading.events[1];
    assert_int_equal(event->kind, BRANCH_EVENT_DECODE_ERROR);
    assert_int_equal(event->pid, 7);
    assert_int_equal(event->tid, 8);
    assert_int_equal(event->processor, 3);
    assert_int_equal(event->time.value, 1000000009);
    assert_int_equal(event->from, 0x4010);
    assert_string_equal(reading.message, "Trace doesn't match instruction");
}

static void more_than_the_buffer_holds(void **state)
{
    enum { BRANCHES = 100000 };
    struct array stream = array_of(1);
    struct reading reading;
    made_stream_begin(&stream, BRANCH_STREAM_VERSION);
    for (unsigned i = 0; i < BRANCHES; i++)
        made_stream_branch(&stream, 0, i, i);
    made_stream_end(&stream, BRANCHES + 1);
    read_whole(&stream, &reading);
    assert_int_equal(reading.count, BRANCHES);
    assert_int_equal(reading.damage.code, ERROR_NONE);
}

static void a_stream_that_is_cut_is_good_up_to_there(void **state)
{
    struct array stream = sample_stream();
    size_t before = 0;
    for (size_t size = 0; size < stream.count; size++) {
        struct reading reading;
        read_stream(&stream, size, &reading);
        assert_int_equal(reading.damage.code, ERROR_FORMAT);
        assert_in_range(reading.count, before, before + 1);
        before = reading.count;
    }
    assert_int_equal(before, 4);
    array_free(&stream);
}

static void perf_that_ends_early_is_reported(void **state)
{
    struct array stream = array_of(1);
    struct reading reading;
    made_stream_begin(&stream, BRANCH_STREAM_VERSION);
    made_stream_branch(&stream, 0, 1, 2);
    read_whole(&stream, &reading);
    assert_int_equal(reading.count, 1);
    assert_damage(&reading, "perf script ended before");
}

static void another_version_is_refused(void **state)
{
    struct array stream = array_of(1);
    struct reading reading;
    made_stream_begin(&stream, BRANCH_STREAM_VERSION + 1);
    made_stream_branch(&stream, 0, 1, 2);
    read_whole(&stream, &reading);
    assert_int_equal(reading.count, 0);
    assert_damage(&reading, "another version");
}

static void nonsense_ends_the_stream(void **state)
{
    static const struct {
        const char *bytes;
        const char *why;
    } cases[] = {
        {"\xff\xff\xff", "no record of this kind"},
        {"\xe3", "the beginning is missing"},
        {"\xe0 is no magic at all ", "no stream of branches begins"},
        {"a line without an end", "neither a record nor a line"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct array stream = array_of(1);
        struct reading reading;
        made_stream_line(&stream, cases[i].bytes);
        read_whole(&stream, &reading);
        assert_int_equal(reading.count, 0);
        assert_damage(&reading, cases[i].why);
    }
}

static void missing_and_late_records_are_reported(void **state)
{
    struct array stream = array_of(1);
    struct reading reading;
    made_stream_begin(&stream, BRANCH_STREAM_VERSION);
    made_stream_end(&stream, 2);
    read_whole(&stream, &reading);
    assert_damage(&reading, "records are missing");

    stream = sample_stream();
    made_stream_branch(&stream, 0, 1, 2);
    read_whole(&stream, &reading);
    assert_int_equal(reading.count, 4);
    assert_damage(&reading, "follow the end");
}

/* The sanitizer build finds what reads beyond the bytes. */
static void ten_thousand_damaged_streams(void **state)
{
    struct array stream = sample_stream();
    uint8_t *bytes = stream.elements;
    uint64_t seed = 1;
    for (int i = 0; i < 10000; i++) {
        seed = seed * 6364136223846793005 + 1442695040888963407;
        size_t at = (seed >> 40) % stream.count;
        uint8_t before = bytes[at];
        struct reading reading;
        bytes[at] = (uint8_t)(seed >> 32);
        read_stream(&stream, stream.count, &reading);
        assert_true(reading.count <= 5);
        bytes[at] = before;
    }
    array_free(&stream);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(records_become_events),
        cmocka_unit_test(what_perf_prints_is_an_error_in_its_place),
        cmocka_unit_test(more_than_the_buffer_holds),
        cmocka_unit_test(a_stream_that_is_cut_is_good_up_to_there),
        cmocka_unit_test(perf_that_ends_early_is_reported),
        cmocka_unit_test(another_version_is_refused),
        cmocka_unit_test(nonsense_ends_the_stream),
        cmocka_unit_test(missing_and_late_records_are_reported),
        cmocka_unit_test(ten_thousand_damaged_streams),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
