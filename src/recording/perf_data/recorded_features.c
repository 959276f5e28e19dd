#include "recording/perf_data/recorded_features.h"

#include "base/memory.h"
#include "recording/perf_data/perf_data_setup.h"
#include "recording/perf_data/perf_file_format.h"

#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

/* A perf_header_string: its length, then as many bytes, in which a NUL ends the text. "" when it is
 * damaged. */
static const char *take_string(struct byte_cursor *contents)
{
    size_t size = cursor_take_u32(contents);
    if (size > cursor_left(contents)) {
        contents->overrun = true;
        return "";
    }
    struct byte_cursor text = {contents->next, contents->next + size, false};
    contents->next += size;
    return cursor_take_string(&text);
}

static void take_cpu_identity(struct perf_data_input *input, struct byte_cursor *contents)
{
    size_t size = cursor_take_u32(contents);
    size = size < cursor_left(contents) ? size : cursor_left(contents);
    input->data->cpu = cpu_identity_parse((const char *)contents->next, size);
}

/* ---- names of events ---- */

static void name_event(struct perf_data_input *input, uint64_t id, const char *name)
{
    struct perf_data_event *event = perf_data_events_find(&input->events, id);
    if (event && *name)
        event->name = name;
}

static void take_event_descriptions(struct perf_data_input *input, struct byte_cursor *contents)
{
    uint32_t count = cursor_take_u32(contents), attribute_size = cursor_take_u32(contents);
    for (uint32_t i = 0; i < count && !contents->overrun; i++) {
        if (attribute_size > cursor_left(contents))
            return;
        contents->next += attribute_size;
        uint32_t id_count = cursor_take_u32(contents);
        const char *name = take_string(contents);
        if (id_count == 0 && i < input->events.events.count && *name)
            ((struct perf_data_event *)array_at(&input->events.events, i))->name = name;
        for (uint32_t j = 0; j < id_count && !contents->overrun; j++)
            name_event(input, cursor_take_u64(contents), name);
    }
}

void recorded_event_name_take(struct perf_data_input *input, struct byte_cursor contents)
{
    uint64_t type = cursor_take_u64(&contents), id = cursor_take_u64(&contents);
    if (type == EVENT_UPDATE_NAME)
        name_event(input, id, cursor_take_string(&contents));
}

/* What perf calls an event that its file does not name; NULL for others. */
static const char *well_known_name(const struct perf_event_attr *attribute)
{
    static const char *const hardware[] = {
        "cycles",
        "instructions",
        "cache-references",
        "cache-misses",
        "branches",
        "branch-misses",
        "bus-cycles",
        "stalled-cycles-frontend",
        "stalled-cycles-backend",
        "ref-cycles",
    };
    static const char *const software[] = {
        "cpu-clock",        "task-clock",   "page-faults",  "context-switches",
        "cpu-migrations",   "minor-faults", "major-faults", "alignment-faults",
        "emulation-faults", "dummy",        "bpf-output",   "cgroup-switches",
    };
    if (attribute->type == PERF_TYPE_HARDWARE &&
        attribute->config < sizeof hardware / sizeof *hardware)
        return hardware[attribute->config];
    if (attribute->type == PERF_TYPE_SOFTWARE &&
        attribute->config < sizeof software / sizeof *software)
        return software[attribute->config];
    return NULL;
}

static const char *name_of(struct perf_data_input *input, const struct perf_data_event *event)
{
    if (event->name)
        return event->name;
    const char *known = well_known_name(&event->attribute);
    if (known)
        return known;
    char *name = memory_format("event %" PRIu32 ":%#" PRIx64, event->attribute.type,
                               (uint64_t)event->attribute.config);
    perf_data_keep(input->data, name);
    return name;
}

/* ---- build ids ---- */

void recorded_build_id_take(struct perf_data_input *input, uint16_t misc,
                            struct byte_cursor contents)
{
    enum { SIZE_IS_REPORTED = 1 << 15 }; /* PERF_RECORD_MISC_BUILD_ID_SIZE */
    uint8_t id[24];
    cursor_take_u32(&contents); /* pid: -1 for the host's own files */
    cursor_take(&contents, id, sizeof id);
    const char *path = cursor_take_string(&contents);
    uint16_t mode = misc & PERF_RECORD_MISC_CPUMODE_MASK;
    if (contents.overrun || (mode != PERF_RECORD_MISC_KERNEL && mode != PERF_RECORD_MISC_USER))
        return;
    struct recorded_build_id *build_id = array_add(&input->build_ids);
    build_id->path = path;
    build_id->kernel = mode == PERF_RECORD_MISC_KERNEL;
    build_id->size = sizeof build_id->id;
    if (misc & SIZE_IS_REPORTED && id[20] <= sizeof build_id->id)
        build_id->size = id[20];
    memcpy(build_id->id, id, build_id->size);
}

static void take_build_ids(struct perf_data_input *input, struct byte_cursor *contents)
{
    struct perf_event_header header;
    while (cursor_left(contents) >= sizeof header) {
        const uint8_t *begin = contents->next;
        cursor_take(contents, &header, sizeof header);
        if (header.size < sizeof header || header.size - sizeof header > cursor_left(contents))
            return;
        recorded_build_id_take(input, header.misc,
                               (struct byte_cursor){contents->next, begin + header.size, false});
        contents->next = begin + header.size;
    }
}

/* ---- all ---- */

void recorded_feature_take(struct perf_data_input *input, uint64_t feature,
                           struct byte_cursor contents)
{
    switch (feature) {
    case FEATURE_TRACING_DATA:
        switch_format_find(&input->switch_format, contents.next, cursor_left(&contents));
        break;
    case FEATURE_BUILD_ID:
        take_build_ids(input, &contents);
        break;
    case FEATURE_OS_RELEASE:
        input->data->kernel_release = take_string(&contents);
        break;
    case FEATURE_CPUID:
        take_cpu_identity(input, &contents);
        break;
    case FEATURE_EVENT_DESCRIPTION:
        take_event_descriptions(input, &contents);
        break;
    case FEATURE_DIRECTORY_FORMAT:
        input->in_folder = true;
        break;
    default:
        break;
    }
}

void recorded_features_hand_over(struct perf_data_input *input)
{
    struct perf_data *data = input->data;
    size_t count = input->events.events.count;
    data->events = memory_allocate_zeroed((count + 1) * sizeof *data->events);
    data->event_count = count;
    for (size_t i = 0; i < count; i++) {
        const struct perf_data_event *event = array_at(&input->events.events, i);
        data->events[i] = (struct recorded_event){name_of(input, event), event->attribute};
    }
    data->build_ids = input->build_ids.elements;
    data->build_id_count = input->build_ids.count;
    input->build_ids = array_of(sizeof(struct recorded_build_id));
}
