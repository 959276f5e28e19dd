/* Whatever bytes a trace has, plain or gzip: reading it ends, its spans nest, times never go back,
 * and one by one or in batches it is the same. */
#include "base/file.h"
#include "output/fxt/fxt_reader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void require(bool holds)
{
    if (!holds)
        abort();
}

/* What the events are, as a number, and that they are sound. */
struct check {
    const struct span_source *source;
    int64_t *depths; /* by track; owned */
    uint64_t last_time, hash;
};

static void mix(struct check *check, uint64_t value)
{
    check->hash = (check->hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
}

static void check_event(struct check *check, const struct span_event *event)
{
    require(event->time.value >= check->last_time);
    require(event->track < check->source->track_count);
    check->last_time = event->time.value;
    if (event->kind == SPAN_ENTER || event->kind == SPAN_LEAVE) {
        require(event->function->index < check->source->function_count);
        require(event->end <= SPAN_END_LAST && event->function->origin <= SPAN_INLINED);
        check->depths[event->track] += event->kind == SPAN_ENTER ? 1 : -1;
        require(check->depths[event->track] >= 0);
        mix(check, event->function->index);
    } else {
        mix(check, strlen(event->text));
    }
    mix(check, event->kind);
    mix(check, event->track);
    mix(check, event->time.value);
    mix(check, event->flags);
}

/* Gives the hash; 0 when it is no trace. */
static uint64_t read_all(const char *path, bool batches)
{
    struct error error = {0};
    struct span_source *source = fxt_read(path, &error);
    if (!source) {
        require(error.code != ERROR_NONE);
        return 0;
    }
    struct check check = {.source = source, .hash = 1};
    check.depths = calloc(source->track_count + 1, sizeof *check.depths);
    struct span_event event;
    const struct span_event *events;
    for (size_t i = 0; i < source->track_count; i++)
        require(source->tracks[i].process_name && source->tracks[i].thread_name);
    if (batches)
        for (size_t count; (count = source->take(source, &events, &error)) > 0;)
            for (size_t i = 0; i < count; i++)
                check_event(&check, &events[i]);
    else
        while (source->next(source, &event, &error))
            check_event(&check, &event);
    for (size_t i = 0; i < source->track_count; i++)
        require(check.depths[i] == 0);
    mix(&check, error.code);
    source->close(source);
    free(check.depths);
    return check.hash;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    int descriptor = memfd_create("trace", MFD_CLOEXEC);
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", descriptor);
    struct error error = {0};
    require(descriptor >= 0 && file_write_all(descriptor, bytes, size, path, &error));
    require(read_all(path, true) == read_all(path, false));
    close(descriptor);
    return 0;
}
