#include "perf_event/pmu.h"

#include "base/file.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The text of a file below the unit's folder, without the end of its line; the caller frees. NULL
 * when there is no such file. */
static char *read_line(const struct pmu *pmu, const char *group, const char *name)
{
    char path[1024];
    if ((size_t)snprintf(path, sizeof path, "%s/%s%s", pmu->folder, group, name) >= sizeof path)
        return NULL;
    char *text = file_read(path, NULL, NULL);
    if (text)
        text[strcspn(text, "\n")] = 0;
    return text;
}

static uint64_t read_number(const struct pmu *pmu, const char *group, const char *name, int base)
{
    char *text = read_line(pmu, group, name);
    uint64_t number = text ? strtoull(text, NULL, base) : 0;
    free(text);
    return number;
}

bool pmu_open(struct pmu *pmu, const struct kernel *kernel, const char *name, struct error *error)
{
    *pmu = (struct pmu){.name = name};
    snprintf(pmu->folder, sizeof pmu->folder, "%s/bus/event_source/devices/%s", kernel->sysfs,
             name);
    char *type = read_line(pmu, "", "type");
    if (!type)
        return error_set(error, ERROR_NOT_FOUND, "this kernel has no %s unit (there is no %s/type)",
                         name, pmu->folder);
    char *end;
    errno = 0;
    unsigned long number = strtoul(type, &end, 10);
    bool ok = end != type && !*end && !errno && number <= UINT32_MAX;
    if (ok)
        pmu->type = (uint32_t)number;
    else
        error_set(error, ERROR_FORMAT, "%s/type says `%s`, which is no number of a unit",
                  pmu->folder, type);
    free(type);
    return ok;
}

/* A field: "config1:0-7,32-35". The value's lowest bits go to the first range. */
struct field {
    unsigned word; /* 0: config */
    uint64_t bits;
};

static bool parse_range(const char **text, uint64_t *bits)
{
    char *end;
    unsigned long first = strtoul(*text, &end, 10);
    if (end == *text)
        return false;
    unsigned long last = first;
    if (*end == '-') {
        const char *after = end + 1;
        last = strtoul(after, &end, 10);
        if (end == after)
            return false;
    }
    if (last > 63 || first > last)
        return false;
    uint64_t width = last - first + 1;
    *bits |= (width < 64 ? (UINT64_C(1) << width) - 1 : UINT64_MAX) << first;
    *text = end;
    return true;
}

static bool parse_field(const char *text, struct field *field)
{
    static const char prefix[] = "config";
    *field = (struct field){0};
    if (strncmp(text, prefix, sizeof prefix - 1) != 0)
        return false;
    text += sizeof prefix - 1;
    if (*text >= '0' && *text <= '9')
        field->word = (unsigned)(*text++ - '0');
    do {
        text++; /* the colon, or a comma */
        if (!parse_range(&text, &field->bits))
            return false;
    } while (*text == ',');
    return *text == 0;
}

static bool find_field(const struct pmu *pmu, const char *name, struct field *field)
{
    char *text = read_line(pmu, "format/", name);
    bool found = text && parse_field(text, field);
    free(text);
    return found;
}

uint64_t pmu_config_bits(const struct pmu *pmu, const char *field)
{
    struct field found;
    return find_field(pmu, field, &found) && found.word == 0 ? found.bits : 0;
}

/* Puts the lowest bits of `value` into the positions that are set in `bits`. */
static uint64_t spread(uint64_t value, uint64_t bits)
{
    uint64_t result = 0;
    for (; bits; bits &= bits - 1, value >>= 1)
        if (value & 1)
            result |= bits & -bits;
    return result;
}

static uint64_t *word_of(struct perf_event_attr *attributes, unsigned word)
{
    __u64 *words[] = {&attributes->config, &attributes->config1, &attributes->config2};
    return word < sizeof words / sizeof *words ? (uint64_t *)words[word] : NULL;
}

bool pmu_set(const struct pmu *pmu, struct perf_event_attr *attributes, const char *field,
             uint64_t value, struct error *error)
{
    struct field found;
    uint64_t *word;
    if (!find_field(pmu, field, &found) || !(word = word_of(attributes, found.word)))
        return error_set(error, ERROR_UNSUPPORTED, "%s of this machine has no setting `%s`",
                         pmu->name, field);
    unsigned width = (unsigned)__builtin_popcountll(found.bits);
    if (width < 64 && value >> width)
        return error_set(error, ERROR_USAGE,
                         "%s=%" PRIu64 " is too much: %s of this machine takes 0 to %" PRIu64 ".",
                         field, value, pmu->name, (UINT64_C(1) << width) - 1);
    *word = (*word & ~found.bits) | spread(value, found.bits);
    return true;
}

uint64_t pmu_capability(const struct pmu *pmu, const char *name)
{
    return read_number(pmu, "caps/", name, 16);
}

uint64_t pmu_number(const struct pmu *pmu, const char *name)
{
    return read_number(pmu, "", name, 10);
}
