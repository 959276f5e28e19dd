/* A perf-dlfilter that drops every event as early as perf allows (man 1 perf-dlfilter): what is
 * left is what perf needs to decode. Loaded by `perf script --dlfilter`, called for each event. */
int filter_event_early(void *data, const void *sample, void *context);

int filter_event_early(void *data, const void *sample, void *context)
{
    return 1;
}
