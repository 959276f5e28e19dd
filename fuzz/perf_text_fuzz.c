/* Whatever bytes a text has: decoding it ends, and its spans are well nested. */
#include "base/file.h"
#include "stack/timeline.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void check_spans(struct timeline *timeline)
{
    struct error error = {0};
    struct span_source *source = timeline_spans(timeline, &error);
    struct span_event event;
    int64_t open = 0;
    source->no_lines = true;
    while (source->next(source, &event, &error)) {
        open += event.kind == SPAN_ENTER;
        open -= event.kind == SPAN_LEAVE;
        if (open < 0)
            abort();
    }
    if (open != 0 || error.code != ERROR_NONE)
        abort();
    source->close(source);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    int descriptor = memfd_create("text", MFD_CLOEXEC);
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", descriptor);
    struct error error = {0};
    if (descriptor < 0 || !file_write_all(descriptor, bytes, size, path, &error))
        abort();
    if (flow_is_text(path)) {
        struct timeline *timeline = timeline_decode(path, &(struct flow_options){0}, &error);
        if (timeline) {
            check_spans(timeline);
            timeline_free(timeline);
        } else if (error.code == ERROR_NONE) {
            abort();
        }
    }
    close(descriptor);
    return 0;
}
