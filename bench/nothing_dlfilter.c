/* A filter for perf script that drops every sample and does nothing else: what remains is what perf
 * needs to decode (perf script --dlfilter). For bench/decode. */
__attribute__((visibility("default"))) int filter_event_early(void *data, const void *sample,
                                                              void *context);

int filter_event_early(void *data, const void *sample, void *context)
{
    return 1;
}
