#include "recording/perf_data/perf_data_events.h"

#include "recording/perf_data/byte_cursor.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct event_id {
    uint64_t id;
    size_t event;
};

/* The fields of a sample id, in their order in the record; each takes 8 bytes. */
static const uint64_t trailer_fields[] = {
    PERF_SAMPLE_TID,       PERF_SAMPLE_TIME, PERF_SAMPLE_ID,
    PERF_SAMPLE_STREAM_ID, PERF_SAMPLE_CPU,  PERF_SAMPLE_IDENTIFIER,
};
enum { TRAILER_FIELD_COUNT = sizeof trailer_fields / sizeof *trailer_fields };

static bool inside(const struct file_view *view, const struct file_section *section)
{
    return section->offset <= view->size && section->size <= view->size - section->offset;
}

/* What stands before the id in a sample (perf_output_sample in kernel/events/core.c). */
static void find_sample_id(struct perf_data_event *event)
{
    static const uint64_t before[] = {PERF_SAMPLE_IP, PERF_SAMPLE_TID, PERF_SAMPLE_TIME,
                                      PERF_SAMPLE_ADDR};
    uint64_t fields = event->attribute.sample_type;
    event->id_from_start = fields & PERF_SAMPLE_IDENTIFIER ? 0 : SIZE_MAX;
    if (!(fields & PERF_SAMPLE_ID) || event->id_from_start == 0)
        return;
    event->id_from_start = 0;
    for (size_t i = 0; i < sizeof before / sizeof *before; i++)
        event->id_from_start += (fields & before[i]) != 0;
}

static void find_trailer(struct perf_data_event *event)
{
    if (!event->attribute.sample_id_all)
        return;
    for (size_t i = TRAILER_FIELD_COUNT; i-- > 0;) {
        if (!(event->attribute.sample_type & trailer_fields[i]))
            continue;
        event->trailer_size += 8;
        bool is_id =
            trailer_fields[i] == PERF_SAMPLE_IDENTIFIER || trailer_fields[i] == PERF_SAMPLE_ID;
        if (is_id && event->id_from_end == 0)
            event->id_from_end = event->trailer_size / 8;
    }
}

static void add_ids(struct perf_data_events *events, size_t event, struct byte_cursor *cursor)
{
    while (cursor_left(cursor) >= sizeof(uint64_t)) {
        struct event_id *id = array_add(&events->ids);
        id->id = cursor_take_u64(cursor);
        id->event = event;
    }
}

static bool read_ids(struct perf_data_events *events, size_t event, const struct file_view *view,
                     const struct file_section *section)
{
    /* Damaged events may all claim the same bytes: together they have no more ids than fit into the
     * file. */
    if (!inside(view, section) ||
        section->size / sizeof(uint64_t) > view->size / sizeof(uint64_t) - events->ids.count)
        return false;
    struct byte_cursor cursor = {view->bytes + section->offset,
                                 view->bytes + section->offset + section->size, false};
    add_ids(events, event, &cursor);
    return true;
}

/* The attribute at `cursor`, of which `size` bytes are there. */
static void take_attribute(struct perf_data_events *events, struct byte_cursor *cursor, size_t size)
{
    struct perf_data_event *event = array_add(&events->events);
    size_t known = size < sizeof event->attribute ? size : sizeof event->attribute;
    cursor_take(cursor, &event->attribute, known);
    cursor->next += size - known;
    find_trailer(event);
    find_sample_id(event);
    events->prepared = false;
}

static bool read_event(struct perf_data_events *events, struct byte_cursor *cursor,
                       size_t attribute_size, const struct file_view *view)
{
    size_t index = events->events.count;
    take_attribute(events, cursor, attribute_size);
    struct file_section ids;
    cursor_take(cursor, &ids, sizeof ids);
    return read_ids(events, index, view, &ids);
}

bool perf_data_events_add(struct perf_data_events *events, const uint8_t *body, size_t size)
{
    uint32_t attribute_size;
    struct byte_cursor cursor = {body, body + size, false};
    if (size < ATTRIBUTE_SIZE_MINIMUM)
        return false;
    memcpy(&attribute_size, body + offsetof(struct perf_event_attr, size), sizeof attribute_size);
    if (attribute_size < ATTRIBUTE_SIZE_MINIMUM || attribute_size > size)
        return false;
    take_attribute(events, &cursor, attribute_size);
    add_ids(events, events->events.count - 1, &cursor);
    return true;
}

static int compare_ids(const void *left, const void *right)
{
    const struct event_id *a = left, *b = right;
    return (a->id > b->id) - (a->id < b->id);
}

/* False when there is no event. */
static bool prepare(struct perf_data_events *events)
{
    if (events->prepared || events->events.count == 0)
        return events->prepared;
    events->prepared = true;
    if (events->ids.count > 0)
        qsort(events->ids.elements, events->ids.count, sizeof(struct event_id), compare_ids);
    uint64_t every_field = 0;
    for (size_t i = 0; i < TRAILER_FIELD_COUNT; i++)
        every_field |= trailer_fields[i];
    const struct perf_data_event *first = array_at(&events->events, 0);
    events->same_trailer = true;
    for (size_t i = 0; i < events->events.count; i++) {
        const struct perf_data_event *event = array_at(&events->events, i);
        if (event->attribute.sample_id_all != first->attribute.sample_id_all ||
            (event->attribute.sample_type & every_field) !=
                (first->attribute.sample_type & every_field))
            events->same_trailer = false;
        /* The record of an event without a trailer is recognised by its lack of an id. */
        if (event->id_from_end == 0)
            events->without_id = i;
    }
    return true;
}

struct perf_data_events perf_data_events_new(void)
{
    return (struct perf_data_events){
        .events = array_of(sizeof(struct perf_data_event)),
        .ids = array_of(sizeof(struct event_id)),
    };
}

bool perf_data_events_read(struct perf_data_events *events, const struct file_view *view,
                           const struct file_header *header, const char *path, struct error *error)
{
    const struct file_section *section = &header->attributes;
    size_t element_size = header->attribute_size;
    if (!inside(view, section) ||
        element_size < ATTRIBUTE_SIZE_MINIMUM + sizeof(struct file_section) ||
        section->size < element_size)
        return error_set(error, ERROR_FORMAT,
                         "%s is damaged: its header says that the list of events has %" PRIu64
                         " bytes at offset %" PRIu64 ", %" PRIu64
                         " bytes each, which cannot be. Record again.",
                         path, section->size, section->offset, element_size);
    struct byte_cursor cursor = {view->bytes + section->offset,
                                 view->bytes + section->offset + section->size, false};
    while (cursor_left(&cursor) >= element_size) {
        uint64_t offset = (uint64_t)(cursor.next - view->bytes);
        if (!read_event(events, &cursor, element_size - sizeof(struct file_section), view))
            return error_set(error, ERROR_FORMAT,
                             "%s is damaged: the event described at offset %" PRIu64
                             " has its ids outside of the file. Record again.",
                             path, offset);
    }
    return true;
}

void perf_data_events_free(struct perf_data_events *events)
{
    array_free(&events->events);
    array_free(&events->ids);
}

static const struct event_id *find_id(const struct perf_data_events *events, uint64_t id)
{
    const struct event_id wanted = {.id = id};
    if (events->ids.count == 0)
        return NULL;
    return bsearch(&wanted, events->ids.elements, events->ids.count, sizeof wanted, compare_ids);
}

/* Tries each place where one of the events would have put its id. */
static const struct perf_data_event *event_of_record(const struct perf_data_events *events,
                                                     const uint8_t *body, size_t size)
{
    if (events->same_trailer)
        return array_at(&events->events, 0);
    for (size_t words = 1; words <= TRAILER_FIELD_COUNT && words * 8 <= size; words++) {
        uint64_t id;
        memcpy(&id, body + size - words * 8, sizeof id);
        const struct event_id *found = find_id(events, id);
        const struct perf_data_event *event =
            found ? array_at(&events->events, found->event) : NULL;
        if (event && event->id_from_end == words)
            return event;
    }
    return array_at(&events->events, events->without_id);
}

struct perf_data_event *perf_data_events_find(struct perf_data_events *events, uint64_t id)
{
    const struct event_id *found = prepare(events) ? find_id(events, id) : NULL;
    return found ? array_at(&events->events, found->event) : NULL;
}

const struct perf_data_event *perf_data_events_of_sample(struct perf_data_events *events,
                                                         const uint8_t *body, size_t size)
{
    if (!prepare(events))
        return NULL;
    if (events->events.count == 1)
        return array_at(&events->events, 0);
    for (size_t words = 0; words <= 4 && (words + 1) * 8 <= size; words++) {
        uint64_t id;
        memcpy(&id, body + words * 8, sizeof id);
        const struct perf_data_event *event = perf_data_events_find(events, id);
        if (event && event->id_from_start == words)
            return event;
    }
    return NULL;
}

bool perf_data_events_sample_id(struct perf_data_events *events, const uint8_t *body, size_t size,
                                struct sample_id *id)
{
    *id = (struct sample_id){.cpu = UINT32_MAX};
    if (!prepare(events))
        return false;
    const struct perf_data_event *event = event_of_record(events, body, size);
    if (event->trailer_size > size)
        return false;
    id->size = event->trailer_size;
    if (id->size == 0)
        return true;
    uint64_t fields = event->attribute.sample_type;
    struct byte_cursor cursor = {body + size - id->size, body + size, false};
    if (fields & PERF_SAMPLE_TID) {
        id->pid = cursor_take_u32(&cursor);
        id->tid = cursor_take_u32(&cursor);
    }
    if (fields & PERF_SAMPLE_TIME)
        id->time = cursor_take_u64(&cursor);
    if (fields & PERF_SAMPLE_ID)
        cursor_take_u64(&cursor);
    if (fields & PERF_SAMPLE_STREAM_ID)
        cursor_take_u64(&cursor);
    if (fields & PERF_SAMPLE_CPU)
        id->cpu = cursor_take_u32(&cursor);
    return true;
}

const struct perf_data_event *perf_data_events_of_type(const struct perf_data_events *events,
                                                       uint64_t type)
{
    for (size_t i = 0; i < events->events.count; i++) {
        const struct perf_data_event *event = array_at(&events->events, i);
        if (event->attribute.type == type)
            return event;
    }
    return NULL;
}
