#include "engine/perf_event/side_band.h"

static struct perf_event_attr dummy(unsigned ring_size)
{
    return (struct perf_event_attr){
        .type = PERF_TYPE_SOFTWARE,
        .size = sizeof(struct perf_event_attr),
        .config = PERF_COUNT_SW_DUMMY,
        .sample_type = SIDE_BAND_SAMPLE_TYPE,
        .sample_id_all = 1,
        .sample_period = 1,
        .exclude_kernel = 1,
        .exclude_hv = 1,
        .watermark = 1,
        .wakeup_watermark = ring_size / 2,
    };
}

struct perf_event_attr side_band_attributes(bool switches, unsigned ring_size)
{
    struct perf_event_attr attributes = dummy(ring_size);
    attributes.inherit = 1;
    attributes.mmap = 1;
    attributes.mmap2 = 1;
    attributes.comm = 1;
    attributes.comm_exec = 1;
    attributes.task = 1;
    attributes.context_switch = switches;
    return attributes;
}

struct perf_event_attr side_band_of_kernel(unsigned ring_size)
{
    struct perf_event_attr attributes = dummy(ring_size);
    attributes.ksymbol = 1;
    attributes.text_poke = 1;
    return attributes;
}
