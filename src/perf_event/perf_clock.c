#include "perf_event/perf_clock.h"

#include "base/tsc.h"
#include "perf_event/event_attributes.h"
#include "perf_event/permissions.h"
#include "perf_event/record_layouts.h"
#include "perf_event/ring.h"

#include <errno.h>
#include <sys/prctl.h>
#include <unistd.h>

enum { PAGE = 4096 };
enum { NAME_SIZE = 16 }; /* of a thread, with its NUL: prctl(2) */

/* Counts nothing; records our change of name. */
static struct perf_event_attr renaming(void)
{
    struct perf_event_attr attributes = dummy_attributes();
    attributes.sample_type = PERF_SAMPLE_TIME;
    attributes.sample_id_all = 1;
    attributes.comm = 1;
    return attributes;
}

/* Sets our name to what it is; returns the moment in all clocks but perf's. */
static struct tsc_anchor cause_record(void)
{
    char name[NAME_SIZE] = "";
    prctl(PR_GET_NAME, name);
    struct tsc_anchor before = tsc_anchor_now();
    prctl(PR_SET_NAME, name);
    struct tsc_anchor after = tsc_anchor_now();
    return (struct tsc_anchor){
        .tsc = before.tsc + (after.tsc - before.tsc) / 2,
        .monotonic_ns = before.monotonic_ns + (after.monotonic_ns - before.monotonic_ns) / 2,
        .realtime_ns = before.realtime_ns + (after.realtime_ns - before.realtime_ns) / 2,
    };
}

/* The time is the last field of the record (sample_id). False when there is no record. */
static bool read_time(struct perf_ring *ring, uint64_t *time)
{
    perf_ring_begin(ring);
    const struct perf_event_header *record = perf_ring_next(ring);
    if (!record || record->type != PERF_RECORD_COMM || record_words(record) == 0)
        return false;
    *time = record_word(record, record_words(record) - 1);
    return true;
}

static void read_clock(struct perf_clock *clock, const struct perf_event_mmap_page *page,
                       const struct tsc_anchor *anchor, uint64_t time)
{
    clock->wall_clock_ns = anchor->realtime_ns;
    clock->wall_clock_at = time;
    if (page->cap_user_time_zero && page->time_mult) {
        clock->conversion = (struct clock_conversion){
            .zero = page->time_zero, .mult = page->time_mult, .shift = page->time_shift};
        return;
    }
    struct tsc_anchor there = *anchor;
    uint64_t rate = tsc_measure_rate(anchor);
    there.monotonic_ns = time;
    if (rate)
        clock->conversion = tsc_conversion(&there, rate);
}

bool perf_clock_read(struct perf_clock *clock, const struct kernel *kernel, struct error *error)
{
    const struct perf_event_attr attributes = renaming();
    const struct event_request request = {
        .what = "read perf's clock", .attributes = &attributes, .pid = 0, .cpu = -1};
    struct perf_ring ring;
    *clock = (struct perf_clock){0};
    int event = kernel->open_event(kernel, &attributes, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
    if (event < 0)
        return event_refused(error, kernel, &request, errno);
    bool ok = perf_ring_open(&ring, kernel, event, PAGE, false, error);
    if (ok) {
        struct tsc_anchor anchor = cause_record();
        uint64_t time = 0;
        ok = read_time(&ring, &time) ||
             error_set(error, ERROR_UNSUPPORTED, "the kernel does not report perf's clock");
        if (ok)
            read_clock(clock, ring.page, &anchor, time);
        perf_ring_close(&ring);
    }
    close(event);
    return ok;
}
