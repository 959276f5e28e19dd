/* A filter for perf script that drops every sample and does nothing else: what remains is what perf
 * needs to decode (perf script --dlfilter). For bench/decode and bench/run. */
#include "../dlfilter/perf_api.h"

int filter_event_early(void *data, const struct perf_api_sample *sample, void *context)
{
    return 1;
}
