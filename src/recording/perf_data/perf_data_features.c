#include "recording/perf_data/perf_data_features.h"

#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

/* Section contents under construction: `bytes` grows, section i is bytes[begin[i]..begin[i+1]). */
struct sections {
    struct array bytes;
    struct array begins; /* size_t, one per section */
    uint64_t *feature_bits;
};

static void begin_section(struct sections *sections, enum feature feature)
{
    array_add_all(&sections->begins, &sections->bytes.count, 1);
    sections->feature_bits[feature / 64] |= (uint64_t)1 << (feature % 64);
}

static void add_u32(struct sections *sections, uint32_t value)
{
    array_add_all(&sections->bytes, &value, sizeof value);
}

static void add_u64(struct sections *sections, uint64_t value)
{
    array_add_all(&sections->bytes, &value, sizeof value);
}

/* Length, then the string, both counting at least one NUL and padding to 64 bytes (perf's
 * NAME_ALIGN). */
static void add_string(struct sections *sections, const char *string)
{
    static const char zeros[64];
    size_t length = strlen(string);
    size_t padding = 64 - length % 64;
    add_u32(sections, (uint32_t)(length + padding));
    array_add_all(&sections->bytes, string, length);
    array_add_all(&sections->bytes, zeros, padding);
}

static void add_string_section(struct sections *sections, enum feature feature, const char *string)
{
    begin_section(sections, feature);
    add_string(sections, string);
}

static void add_machine(struct sections *sections)
{
    struct utsname names;
    if (uname(&names) != 0)
        memset(&names, 0, sizeof names);
    add_string_section(sections, FEATURE_HOSTNAME, names.nodename);
    add_string_section(sections, FEATURE_OS_RELEASE, names.release);
    add_string_section(sections, FEATURE_VERSION, "magic-trace " MAGIC_TRACE_VERSION);
    add_string_section(sections, FEATURE_ARCHITECTURE, names.machine);
    begin_section(sections, FEATURE_CPU_COUNT);
    add_u32(sections, (uint32_t)sysconf(_SC_NPROCESSORS_CONF));
    add_u32(sections, (uint32_t)sysconf(_SC_NPROCESSORS_ONLN));
}

static void add_command_line(struct sections *sections, char *const *command_line)
{
    uint32_t count = 0;
    while (command_line[count])
        count++;
    begin_section(sections, FEATURE_COMMAND_LINE);
    add_u32(sections, count);
    for (uint32_t i = 0; i < count; i++)
        add_string(sections, command_line[i]);
}

static void add_event_description(struct sections *sections,
                                  const struct perf_data_features *features)
{
    begin_section(sections, FEATURE_EVENT_DESCRIPTION);
    add_u32(sections, (uint32_t)features->event_count);
    add_u32(sections, ATTRIBUTE_SIZE_WRITTEN);
    for (size_t i = 0; i < features->event_count; i++) {
        const struct written_event *event = &features->events[i];
        array_add_all(&sections->bytes, &event->attribute, ATTRIBUTE_SIZE_WRITTEN);
        add_u32(sections, (uint32_t)event->ids.count);
        add_string(sections, event->name);
        array_add_all(&sections->bytes, event->ids.elements, event->ids.count * sizeof(uint64_t));
    }
}

static void add_auxtrace_index(struct sections *sections, const struct perf_data_features *features)
{
    begin_section(sections, FEATURE_AUXTRACE);
    add_u64(sections, features->auxtrace_count);
    array_add_all(&sections->bytes, features->auxtrace_index,
                  features->auxtrace_count * sizeof *features->auxtrace_index);
}

static void add_sample_time(struct sections *sections, const struct perf_data_features *features)
{
    begin_section(sections, FEATURE_SAMPLE_TIME);
    add_u64(sections, features->first_time.value);
    add_u64(sections, features->last_time.value);
}

/* The table that says where each section lies, then the sections. */
static struct array join(const struct sections *sections, uint64_t offset)
{
    size_t count = sections->begins.count;
    uint64_t contents_offset = offset + count * sizeof(struct file_section);
    struct array file_bytes = array_of(1);
    for (size_t i = 0; i < count; i++) {
        size_t begin = *(size_t *)array_at(&sections->begins, i);
        size_t end =
            i + 1 < count ? *(size_t *)array_at(&sections->begins, i + 1) : sections->bytes.count;
        const struct file_section section = {contents_offset + begin, end - begin};
        array_add_all(&file_bytes, &section, sizeof section);
    }
    array_add_all(&file_bytes, sections->bytes.elements, sections->bytes.count);
    return file_bytes;
}

struct array perf_data_features_encode(const struct perf_data_features *features, uint64_t offset,
                                       uint64_t *feature_bits)
{
    struct sections sections = {array_of(1), array_of(sizeof(size_t)), feature_bits};
    /* In the order of the feature bits, as the table demands. */
    add_machine(&sections);
    if (features->command_line)
        add_command_line(&sections, features->command_line);
    add_event_description(&sections, features);
    if (features->has_packets)
        add_auxtrace_index(&sections, features);
    if (features->last_time.value != 0)
        add_sample_time(&sections, features);
    struct array file_bytes = join(&sections, offset);
    array_free(&sections.bytes);
    array_free(&sections.begins);
    return file_bytes;
}
