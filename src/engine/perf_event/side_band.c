#include "engine/perf_event/side_band.h"

struct perf_event_attr side_band_attributes(bool switches, unsigned ring_size)
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
        .inherit = 1,
        .mmap = 1,
        .mmap2 = 1,
        .comm = 1,
        .comm_exec = 1,
        .task = 1,
        .context_switch = switches,
        .watermark = 1,
        .wakeup_watermark = ring_size / 2,
    };
}
