#include "decode/pt/blocks/traced_code.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

struct range {
    bool traced;          /* false: tracing stops in it */
    uint64_t start, size; /* offsets in the file; without one, addresses in the kernel */
    char *path;           /* owned; NULL: the kernel's */
};

void traced_code_free(struct traced_code *code)
{
    for (size_t i = 0; i < code->ranges.count; i++)
        free(((struct range *)array_at(&code->ranges, i))->path);
    array_free(&code->ranges);
}

/* If *text begins with `words`, moves it after them. */
static bool skip(const char **text, const char *words)
{
    size_t length = strlen(words);
    if (strncmp(*text, words, length) != 0)
        return false;
    *text += length;
    return true;
}

static bool read_number(const char **text, uint64_t *number)
{
    char *end;
    if (strncmp(*text, "0x", 2) != 0)
        return false;
    *number = strtoull(*text, &end, 16);
    *text = end;
    return true;
}

/* Up to the comma before the next filter; names of files contain commas, too. */
static size_t path_length(const char *path)
{
    for (const char *comma = strchr(path, ','); comma; comma = strchr(comma + 1, ',')) {
        const char *next = comma + 1;
        if (skip(&next, "filter 0x") || skip(&next, "stop 0x") || skip(&next, "start 0x"))
            return (size_t)(comma - path);
    }
    return strlen(path);
}

/* Reads "filter 0xSTART/0xSIZE@PATH" or "stop ...", of the kernel without "@PATH". */
static bool read_range(const char **text, struct range *range)
{
    range->traced = skip(text, "filter ");
    if (!range->traced && !skip(text, "stop "))
        return false;
    if (!read_number(text, &range->start) || !skip(text, "/") || !read_number(text, &range->size))
        return false;
    if (!skip(text, "@"))
        return true;
    size_t length = path_length(*text);
    range->path = memory_format("%.*s", (int)length, *text);
    *text += length;
    return true;
}

struct traced_code traced_code_read(const char *filters)
{
    struct traced_code code = {.ranges = array_of(sizeof(struct range))};
    bool more = filters && *filters;
    while (more) {
        if (!read_range(&filters, array_add(&code.ranges)) || (*filters && *filters != ',')) {
            traced_code_free(&code);
            break;
        }
        more = skip(&filters, ",");
    }
    return code;
}

/* An address in the terms of filters. */
struct place {
    const char *path; /* NULL: the kernel */
    uint64_t offset;
};

static struct place place_of(struct code_space *space, uint64_t address)
{
    if (address >> 63)
        return (struct place){NULL, address};
    const struct mapping *mapping = code_space_mapping(space, address);
    if (!mapping || !mapping->file)
        return (struct place){"", address};
    uint64_t distance = address - mapping->start;
    if (mapping->patched)
        return (struct place){mapping->patched->path, mapping->patched_offset + distance};
    return (struct place){mapping->file->path, mapping->file_offset + distance};
}

static bool holds(const struct range *range, const struct place *place)
{
    bool same = range->path && place->path ? strcmp(range->path, place->path) == 0
                                           : !range->path && !place->path;
    return same && place->offset - range->start < range->size;
}

bool traced_code_holds(const struct traced_code *code, struct code_space *space, uint64_t address)
{
    if (!code->ranges.count)
        return true;
    struct place place = place_of(space, address);
    bool selected = false, selective = false;
    for (size_t i = 0; i < code->ranges.count; i++) {
        const struct range *range = array_at(&code->ranges, i);
        bool hit = holds(range, &place);
        if (hit && !range->traced)
            return false;
        selective |= range->traced;
        selected |= hit;
    }
    return selected || !selective;
}
