#include "runtime/qemu_plugin/code_map.h"

#include "engine/packets/code_image.h"
#include "engine/packets/file_version.h"
#include "engine/packets/kept_file.h"
#include "engine/packets/private_file.h"
#include "process/maps_line.h"

#define XXH_INLINE_ALL
/* Memory may run out in the traced program: then a page stays unknown, and the program does not
 * exit. */
#define HASH_NONFATAL_OOM 1
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>
#include <uthash.h>
#include <xxhash.h>

/* A line of /proc/self/maps, in guest addresses. */
struct code_region {
    uint64_t start, end, file_offset, inode;
    uint32_t device_major, device_minor;
    uint32_t protection;
    char *path; /* "" when it has none; owned */
};

/* A file mapping that was logged, by its start. */
struct code_file {
    uint64_t start; /* key */
    uint64_t end, file_offset, inode;
    uint64_t version; /* file_version.h */
    UT_hash_handle hh;
};

struct code_page {
    uint64_t address; /* key, of the guest */
    enum code_source source;
    uint32_t generation; /* CODE_FILE: when it was compared with its file */
    uint64_t hash;       /* CODE_DUMPED: of the page and its tail */
    UT_hash_handle hh;
};

enum { PAGE = 4096 };

/* --- /proc/self/maps --- */

static char *read_maps(size_t *size)
{
    int descriptor = private_file_open("/proc/self/maps", O_RDONLY);
    if (descriptor < 0)
        return NULL;
    size_t used = 0, capacity = 1 << 16;
    char *text = malloc(capacity);
    while (text) {
        ssize_t got = read(descriptor, text + used, capacity - used - 1);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            break;
        used += (size_t)got;
        if (capacity - used < 4096) {
            char *larger = realloc(text, capacity *= 2);
            if (!larger)
                free(text);
            text = larger;
        }
    }
    close(descriptor);
    if (text)
        text[used] = 0;
    *size = used;
    return text;
}

/* False: no memory. */
static bool set_region(struct code_region *region, const struct maps_line *line,
                       uint64_t guest_base)
{
    *region = (struct code_region){
        .start = line->start - guest_base,
        .end = line->end - guest_base,
        .file_offset = line->file_offset,
        .inode = line->inode,
        .device_major = line->device_major,
        .device_minor = line->device_minor,
        .protection = PROT_READ | PROT_EXEC | ((uint32_t)line->protection & PROT_WRITE),
        .path = strdup(line->path),
    };
    return region->path != NULL;
}

static void free_regions(struct code_map *map)
{
    for (size_t i = 0; i < map->region_count; i++)
        free(map->regions[i].path);
    free(map->regions);
    map->regions = NULL;
    map->region_count = 0;
}

static void read_regions(struct code_map *map)
{
    free_regions(map);
    map->regions_generation = atomic_load(&map->generation);
    size_t size, lines = 0;
    char *text = read_maps(&size);
    if (!text)
        return;
    for (char *at = text; (at = strchr(at, '\n')); at++)
        lines++;
    map->regions = calloc(lines, sizeof *map->regions);
    struct maps_line line;
    for (char *rest = text; map->regions && maps_line_next(&rest, &line);)
        if (map->region_count < lines &&
            set_region(&map->regions[map->region_count], &line, map->guest_base))
            map->region_count++;
    free(text);
}

static const struct code_region *search_region(const struct code_map *map, uint64_t address)
{
    size_t low = 0, high = map->region_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct code_region *region = &map->regions[middle];
        if (address < region->start)
            high = middle;
        else if (address >= region->end)
            low = middle + 1;
        else
            return region;
    }
    return NULL;
}

static const struct code_region *find_region(struct code_map *map, uint64_t address)
{
    const struct code_region *region = NULL;
    if (map->regions_generation == atomic_load(&map->generation))
        region = search_region(map, address);
    if (!region) {
        read_regions(map);
        region = search_region(map, address);
    }
    return region;
}

/* --- Pages of files --- */

static const uint8_t *guest_bytes(const struct code_map *map, uint64_t address)
{
    return (const uint8_t *)(uintptr_t)(address + map->guest_base);
}

/* Whether the page equals the file's content, and which version of the file that is. Bytes after
 * the file's end are no code. */
static bool page_equals_file(const struct code_map *map, const struct code_region *region,
                             uint64_t page, uint64_t *version)
{
    if (region->path[0] != '/')
        return false;
    int descriptor = private_file_open(region->path, O_RDONLY);
    if (descriptor < 0)
        return false;
    struct stat status;
    uint8_t bytes[PAGE];
    ssize_t got = -1;
    if (fstat(descriptor, &status) == 0 && status.st_ino == region->inode &&
        S_ISREG(status.st_mode))
        got = pread(descriptor, bytes, sizeof bytes,
                    (off_t)(region->file_offset + page - region->start));
    close(descriptor);
    *version = got > 0 ? file_version(&status) : 0;
    return got > 0 && memcmp(bytes, guest_bytes(map, page), (size_t)got) == 0;
}

static void log_file(struct code_map *map, const struct sideband_subject *subject,
                     const struct code_region *region, uint64_t start, uint64_t end)
{
    if (sideband_frozen(map->log))
        return;
    struct logged_mapping mapping = {
        .start = start,
        .length = end - start,
        .file_offset = region->file_offset + start - region->start,
        .inode = region->inode,
        .device_major = region->device_major,
        .device_minor = region->device_minor,
        .protection = region->protection,
        .version = kept_file_copy(map->directory, region->path, region->inode),
    };
    sideband_mapping(map->log, subject, &mapping, region->path);
}

/* Logs the whole region once. */
static void learn_file(struct code_map *map, const struct sideband_subject *subject,
                       const struct code_region *region, uint64_t version)
{
    struct code_file *file;
    HASH_FIND(hh, map->files, &region->start, sizeof region->start, file);
    if (file && file->end == region->end && file->file_offset == region->file_offset &&
        file->inode == region->inode && file->version == version)
        return;
    log_file(map, subject, region, region->start, region->end);
    if (!file) {
        file = calloc(1, sizeof *file);
        if (!file)
            return;
        file->start = region->start;
        HASH_ADD(hh, map->files, start, sizeof file->start, file);
    }
    file->end = region->end;
    file->file_offset = region->file_offset;
    file->inode = region->inode;
    file->version = version;
}

/* --- Pages without a file --- */

struct page_image {
    struct code_image head;
    uint8_t code[PAGE + CODE_IMAGE_TAIL];
};

static bool write_image(const char *path, uint64_t page, const uint8_t *code)
{
    struct page_image image;
    code_image_begin(&image.head);
    code_image_add(&image.head, CODE_IMAGE_OFFSET, page, sizeof image.code);
    memcpy(image.code, code, sizeof image.code);
    return private_file_write(path, &image, sizeof image);
}

/* The page and what follows it in memory; zeros where nothing is mapped. */
static void copy_code(struct code_map *map, uint64_t page, uint8_t code[PAGE + CODE_IMAGE_TAIL])
{
    memcpy(code, guest_bytes(map, page), PAGE);
    const struct code_region *next = search_region(map, page + PAGE);
    if (next)
        memcpy(code + PAGE, guest_bytes(map, page + PAGE), CODE_IMAGE_TAIL);
    else
        memset(code + PAGE, 0, CODE_IMAGE_TAIL);
}

static bool dump(struct code_map *map, const struct sideband_subject *subject,
                 const struct code_region *region, uint64_t page, const uint8_t *code)
{
    if (sideband_frozen(map->log))
        return false;
    char name[64], path[PATH_MAX];
    snprintf(name, sizeof name, "images/code-%u-%u", map->serial, map->dumps++);
    int length = snprintf(path, sizeof path, "%s/%s", map->directory, name);
    if (length >= (int)sizeof path || !write_image(path, page, code)) {
        atomic_fetch_add(&map->log->control->lost_records, 1);
        return false;
    }
    struct logged_mapping mapping = {
        .start = page,
        .length = PAGE,
        .file_offset = CODE_IMAGE_OFFSET,
        .protection = region->protection,
        .jit = 1,
    };
    sideband_mapping(map->log, subject, &mapping, name);
    return true;
}

static void learn_memory(struct code_map *map, const struct sideband_subject *subject,
                         const struct code_region *region, struct code_page *page)
{
    uint8_t code[PAGE + CODE_IMAGE_TAIL];
    copy_code(map, page->address, code);
    uint64_t hash = XXH3_64bits(code, sizeof code);
    if (page->source == CODE_DUMPED && page->hash == hash)
        return;
    page->source = dump(map, subject, region, page->address, code) ? CODE_DUMPED : CODE_UNKNOWN;
    page->hash = hash;
}

/* --- */

static struct code_page *find_page(struct code_map *map, uint64_t address)
{
    struct code_page *page;
    HASH_FIND(hh, map->pages, &address, sizeof address, page);
    if (page)
        return page;
    page = calloc(1, sizeof *page);
    if (!page)
        return NULL;
    page->address = address;
    HASH_ADD(hh, map->pages, address, sizeof page->address, page);
    return page;
}

static enum code_source learn_page(struct code_map *map, const struct sideband_subject *subject,
                                   uint64_t address)
{
    struct code_page *page = find_page(map, address);
    if (!page)
        return CODE_UNKNOWN;
    uint32_t generation = atomic_load(&map->generation);
    if (page->source == CODE_FILE && page->generation == generation)
        return CODE_FILE;
    const struct code_region *region = find_region(map, address);
    uint64_t version;
    if (!region) {
        page->source = CODE_UNKNOWN;
    } else if (page_equals_file(map, region, address, &version)) {
        learn_file(map, subject, region, version);
        if (page->source == CODE_DUMPED) /* its dump must not go on to hide the file */
            log_file(map, subject, region, address, address + PAGE);
        page->source = CODE_FILE;
        page->generation = generation;
    } else {
        learn_memory(map, subject, region, page);
    }
    return page->source;
}

enum code_source code_map_learn(struct code_map *map, const struct sideband_subject *subject,
                                uint64_t start, uint64_t end)
{
    uint64_t first = start / PAGE * PAGE;
    enum code_source source = learn_page(map, subject, first);
    for (uint64_t page = first + PAGE; page < end; page += PAGE)
        learn_page(map, subject, page);
    return source;
}

bool code_map_may_replace(struct code_map *map, uint64_t start, uint64_t end)
{
    for (uint64_t address = start / PAGE * PAGE; address < end; address += PAGE) {
        struct code_page *page;
        HASH_FIND(hh, map->pages, &address, sizeof address, page);
        if (page && page->source == CODE_DUMPED)
            return true;
    }
    return false;
}

bool code_map_place(struct code_map *map, uint64_t address, struct code_place *place)
{
    const struct code_region *region = find_region(map, address);
    if (!region || region->path[0] != '/')
        return false;
    *place = (struct code_place){
        .path = region->path,
        .inode = region->inode,
        .file_offset = region->file_offset + (address - region->start),
    };
    return true;
}

void code_map_forget(struct code_map *map)
{
    atomic_fetch_add(&map->generation, 1);
}
