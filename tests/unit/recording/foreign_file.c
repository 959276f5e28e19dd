#include "foreign_file.h"

#include "recording/perf_file_format.h"

#include <string.h>

struct foreign_file foreign_file_new(void)
{
    return (struct foreign_file){
        .event_count = 1,
        .attribute_size = sizeof(struct perf_event_attr),
        .records = array_of(1),
    };
}

void foreign_file_add(struct foreign_file *file, uint32_t type, uint16_t misc, const uint64_t *body,
                      size_t word_count)
{
    const struct perf_event_header header = {type, misc,
                                             (uint16_t)(sizeof header + word_count * 8)};
    array_add_all(&file->records, &header, sizeof header);
    array_add_all(&file->records, body, word_count * 8);
}

static void add_cpuid(struct array *bytes, const char *cpuid)
{
    uint32_t length = (uint32_t)strlen(cpuid) + 1;
    const struct file_section section = {bytes->count + sizeof section, sizeof length + length};
    array_add_all(bytes, &section, sizeof section);
    array_add_all(bytes, &length, sizeof length);
    array_add_all(bytes, cpuid, length);
}

/* What this version of the kernel's headers does not know is 0. */
static void add_event(struct array *bytes, const struct perf_event_attr *event, size_t size)
{
    size_t known = size < sizeof *event ? size : sizeof *event;
    array_add_all(bytes, event, known);
    for (; known < size; known++)
        array_add(bytes);
}

struct array foreign_file_finish(struct foreign_file *file)
{
    struct array bytes = array_of(1);
    uint64_t element_size = file->attribute_size + sizeof(struct file_section);
    struct file_header header = {
        .magic = PERF_FILE_MAGIC,
        .size = sizeof header,
        .attribute_size = element_size,
        .attributes = {sizeof header + sizeof file->ids, file->event_count * element_size},
    };
    header.data.offset = header.attributes.offset + header.attributes.size;
    header.data.size = file->records.count;
    if (file->cpuid)
        header.features[0] = 1 << FEATURE_CPUID;
    array_add_all(&bytes, &header, sizeof header);
    array_add_all(&bytes, file->ids, sizeof file->ids);
    for (size_t i = 0; i < file->event_count; i++) {
        const struct file_section ids = {sizeof header + i * 8, file->ids[i] ? 8 : 0};
        add_event(&bytes, &file->events[i], file->attribute_size);
        array_add_all(&bytes, &ids, sizeof ids);
    }
    array_add_all(&bytes, file->records.elements, file->records.count);
    if (file->cpuid)
        add_cpuid(&bytes, file->cpuid);
    array_free(&file->records);
    return bytes;
}
