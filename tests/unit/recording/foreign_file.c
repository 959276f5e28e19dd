#include "foreign_file.h"

#include "recording/perf_data/perf_file_format.h"

#include <stdlib.h>
#include <string.h>
#ifdef HAVE_ZSTD
#include <zstd.h>
#endif

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

void foreign_file_add_bytes(struct foreign_file *file, const void *bytes, size_t size)
{
    array_add_all(&file->records, bytes, size);
}

static void add_with_header(struct array *bytes, uint32_t type, const void *body, size_t size)
{
    const struct perf_event_header header = {type, 0, (uint16_t)(sizeof header + size)};
    array_add_all(bytes, &header, sizeof header);
    array_add_all(bytes, body, size);
}

#ifdef HAVE_ZSTD
void foreign_file_compress(struct foreign_file *file, size_t from, size_t part)
{
    struct array plain = file->records;
    size_t bound = ZSTD_compressBound(plain.count - from);
    char *compressed = malloc(bound);
    size_t size =
        ZSTD_compress(compressed, bound, (char *)plain.elements + from, plain.count - from, 1);
    file->records = array_of(1);
    array_add_all(&file->records, plain.elements, from);
    for (size_t at = 0; at < size; at += part)
        add_with_header(&file->records, USER_RECORD_COMPRESSED, compressed + at,
                        size - at < part ? size - at : part);
    free(compressed);
    array_free(&plain);
}
#endif

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
    if (file->folder)
        header.features[0] |= 1 << FEATURE_DIRECTORY_FORMAT;
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
    if (file->folder)
        array_add_all(&bytes, &(struct file_section){0, 8}, sizeof(struct file_section));
    array_free(&file->records);
    return bytes;
}

/* A record HEADER_ATTR with the id, if there is one. */
static void add_attribute_record(struct array *bytes, const struct foreign_file *file, size_t index)
{
    struct perf_event_attr attribute = file->events[index];
    attribute.size = (uint32_t)file->attribute_size;
    struct array body = array_of(1);
    add_event(&body, &attribute, file->attribute_size);
    array_add_all(&body, &file->ids[index], file->ids[index] ? 8 : 0);
    add_with_header(bytes, USER_RECORD_HEADER_ATTRIBUTE, body.elements, body.count);
    array_free(&body);
}

struct array foreign_file_finish_pipe(struct foreign_file *file)
{
    struct array bytes = array_of(1);
    const struct pipe_header header = {PERF_FILE_MAGIC, sizeof header};
    array_add_all(&bytes, &header, sizeof header);
    for (size_t i = 0; i < file->event_count; i++)
        add_attribute_record(&bytes, file, i);
    if (file->cpuid) {
        struct array body = array_of(1);
        const uint64_t feature = FEATURE_CPUID;
        uint32_t length = (uint32_t)strlen(file->cpuid) + 1;
        array_add_all(&body, &feature, sizeof feature);
        array_add_all(&body, &length, sizeof length);
        array_add_all(&body, file->cpuid, length);
        add_with_header(&bytes, USER_RECORD_FEATURE, body.elements, body.count);
        array_free(&body);
    }
    array_add_all(&bytes, file->records.elements, file->records.count);
    array_free(&file->records);
    return bytes;
}
