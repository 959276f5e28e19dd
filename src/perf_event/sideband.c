#include "perf_event/sideband.h"

#include "perf_event/event_attributes.h"

static struct perf_event_attr dummy(unsigned ring_size)
{
    struct perf_event_attr attributes = dummy_attributes();
    attributes.sample_type = SIDEBAND_SAMPLE_TYPE;
    attributes.sample_id_all = 1;
    attributes.sample_period = 1;
    attributes.watermark = 1;
    attributes.wakeup_watermark = ring_size / 2;
    return attributes;
}

struct perf_event_attr sideband_attributes(bool switches, unsigned ring_size)
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

struct perf_event_attr sideband_of_kernel(unsigned ring_size)
{
    struct perf_event_attr attributes = dummy(ring_size);
    attributes.ksymbol = 1;
    attributes.text_poke = 1;
    return attributes;
}
