#include "runtime/translator/code_map.h"

#include "runtime/translator/own_memory.h"
#include "runtime/translator/system.h"

#include <linux/mman.h>

/* --- The array --- */

/* The first region that ends above `address`. */
static uint32_t search(const struct tr_code_map *map, uint64_t address)
{
    uint32_t low = 0, high = map->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (map->regions[middle].end <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

struct tr_region *tr_code_map_find(struct tr_code_map *map, uint64_t address)
{
    uint32_t index = search(map, address);
    if (index == map->count || map->regions[index].start > address)
        return NULL;
    return &map->regions[index];
}

struct tr_region *tr_code_map_next(struct tr_code_map *map, const struct tr_region *region,
                                   uint64_t start, uint64_t end)
{
    uint32_t index = region ? (uint32_t)(region - map->regions) + 1 : search(map, start);
    if (index >= map->count || map->regions[index].start >= end)
        return NULL;
    return &map->regions[index];
}

static bool has_space(struct tr_code_map *map, uint32_t more)
{
    enum { LEAST = 64 };
    if (map->count + more <= map->capacity)
        return true;
    uint32_t capacity = map->capacity ? map->capacity : LEAST;
    while (capacity < map->count + more)
        capacity *= 2;
    struct tr_region *regions = tr_memory_map(capacity * sizeof *regions);
    if (!regions)
        return false;
    memcpy(regions, map->regions, map->count * sizeof *regions);
    map->regions = regions;
    map->capacity = capacity;
    return true;
}

static void remove_regions(struct tr_code_map *map, uint32_t first, uint32_t last)
{
    memmove(&map->regions[first], &map->regions[last],
            (map->count - last) * sizeof *map->regions);
    map->count -= last - first;
}

/* Makes a region begin at `address` if one lies across it. False: no memory. */
static bool split(struct tr_code_map *map, uint64_t address)
{
    uint32_t index = search(map, address);
    if (index == map->count || map->regions[index].start >= address)
        return true;
    if (!has_space(map, 1))
        return false;
    struct tr_region *region = &map->regions[index];
    memmove(region + 1, region, (map->count - index) * sizeof *region);
    map->count++;
    region[0].end = address;
    region[1].start = address;
    return true;
}

bool tr_code_map_forget(struct tr_code_map *map, uint64_t start, uint64_t end)
{
    uint32_t first = search(map, start), last = first;
    bool used = false;
    for (; last < map->count && map->regions[last].start < end; last++)
        used |= map->regions[last].used;
    if (first == last)
        return false;
    /* Without memory for the rest of a split region all of it is forgotten. */
    if (split(map, start) && split(map, end)) {
        first = search(map, start);
        last = search(map, end);
    }
    remove_regions(map, first, last);
    return used;
}

void tr_code_map_protect(struct tr_code_map *map, uint64_t start, uint64_t end, uint8_t protection)
{
    uint32_t index = search(map, start);
    if (index == map->count || map->regions[index].start >= end)
        return;
    if (!split(map, start) || !split(map, end)) {
        tr_code_map_forget(map, start, end);
        return;
    }
    for (index = search(map, start); index < map->count && map->regions[index].start < end;
         index++) {
        struct tr_region *region = &map->regions[index];
        region->protection = protection;
        if (protection & PROT_WRITE)
            region->checked = false;
    }
}

/* --- Reading --- */

static bool ends_with(const struct tr_map_line *line, const char *end, size_t size)
{
    return line->path_size >= size &&
           memcmp(line->path + line->path_size - size, end, size) == 0;
}

static bool path_is(const struct tr_map_line *line, const char *path, size_t size)
{
    return line->path_size == size && memcmp(line->path, path, size) == 0;
}

/* A file that can be opened by its path has a name, an inode and is not deleted. What has no name in a
 * file system (memfd, System V shared memory, /dev/zero) is shown as deleted. */
static enum tr_region_source source_of(const struct tr_map_line *line)
{
    static const char deleted[] = " (deleted)", vdso[] = "[vdso]", vsyscall[] = "[vsyscall]";
    if (path_is(line, vdso, sizeof vdso - 1) || path_is(line, vsyscall, sizeof vsyscall - 1))
        return TR_REGION_VDSO;
    bool named = line->path_size > 0 && line->path[0] == '/' && line->inode != 0 &&
                 !ends_with(line, deleted, sizeof deleted - 1);
    return named ? TR_REGION_FILE : TR_REGION_ANONYMOUS;
}

static void add_region(struct tr_code_map *map, const struct tr_map_line *line, uint64_t start,
                       uint64_t end)
{
    if (start >= end)
        return;
    if (!has_space(map, 1)) {
        map->stale = true;
        return;
    }
    enum tr_region_source source = source_of(line);
    map->regions[map->count++] = (struct tr_region){
        .start = start,
        .end = end,
        .line = *line,
        .protection = line->protection,
        .source = (uint8_t)source,
    };
    map->shared_code |= line->shared;
}

/* Adjacent anonymous mappings are one line to the kernel: the runtime's part is left out. */
static void add_line(struct tr_code_map *map, const struct tr_map_line *line)
{
    struct tr_own_range own;
    uint64_t start = line->start;
    while (start < line->end && tr_own_next(start, &own) && own.start < line->end) {
        add_region(map, line, start, own.start);
        start = own.end;
    }
    add_region(map, line, start, line->end);
}

static bool overlaps_in_file(const struct tr_region *region, const struct tr_map_line *line)
{
    const struct tr_map_line *own = &region->line;
    uint64_t offset = own->offset + region->start - own->start;
    return own->inode == line->inode && own->major == line->major && own->minor == line->minor &&
           line->offset < offset + (region->end - region->start) &&
           offset < line->offset + (line->end - line->start);
}

static void find_aliases(struct tr_code_map *map)
{
    const char *end = map->text.text + map->text.size;
    struct tr_map_line line;
    if (!map->shared_code)
        return;
    for (const char *at = map->text.text; (at = tr_maps_line(at, end, &line));) {
        if (!line.shared || !(line.protection & PROT_WRITE))
            continue;
        for (uint32_t i = 0; i < map->count; i++) {
            struct tr_region *region = &map->regions[i];
            bool itself = line.start <= region->start && region->end <= line.end;
            region->aliased |= region->line.shared && !itself && overlaps_in_file(region, &line);
        }
    }
}

/* Whether both show the same bytes at the same addresses. */
static bool shows_same(const struct tr_region *a, const struct tr_region *b)
{
    return a->line.inode == b->line.inode && a->line.major == b->line.major &&
           a->line.minor == b->line.minor && a->line.shared == b->line.shared &&
           a->source == b->source &&
           (a->line.inode == 0 ||
            a->line.offset - a->line.start == b->line.offset - b->line.start);
}

/* What was known of the old region goes to those that are in its place. False when it is not there any
 * more, or only in part, or can be written to now by way of another mapping. */
static bool hand_over(const struct tr_region *old, struct tr_code_map *map)
{
    uint64_t covered = old->start;
    bool written_elsewhere = false;
    for (uint32_t i = search(map, old->start); i < map->count && map->regions[i].start < old->end;
         i++) {
        struct tr_region *region = &map->regions[i];
        if (region->start > covered || !shows_same(old, region))
            return false;
        covered = region->end;
        written_elsewhere |= region->aliased && !old->aliased;
        region->used |= old->used;
        if (region->start < old->start || region->end > old->end)
            continue;
        region->reported = old->reported;
        region->device = old->device;
        region->inode = old->inode;
        region->modified = old->modified;
        region->checked = old->checked;
    }
    return covered >= old->end && !written_elsewhere;
}

/* Code that may not be executed for now: a just-in-time compiler writes it. */
static void add_inactive_code(struct tr_code_map *map, const struct tr_code_map *old,
                              const struct tr_map_line *line)
{
    for (uint32_t i = search(old, line->start);
         i < old->count && old->regions[i].start < line->end; i++) {
        const struct tr_region *region = &old->regions[i];
        if (region->used)
            add_region(map, line, region->start > line->start ? region->start : line->start,
                       region->end < line->end ? region->end : line->end);
    }
}

bool tr_code_map_read(struct tr_code_map *map,
                      void (*lost)(void *context, uint64_t start, uint64_t end), void *context)
{
    if (map->sealed || !tr_maps_read(&map->text))
        return false;
    struct tr_code_map old = *map;
    map->regions = old.spare;
    map->capacity = old.spare_capacity;
    map->spare = old.regions;
    map->spare_capacity = old.capacity;
    map->count = 0;
    map->stale = map->shared_code = false;
    const char *end = map->text.text + map->text.size;
    struct tr_map_line line;
    for (const char *at = map->text.text; (at = tr_maps_line(at, end, &line));)
        if (line.protection & PROT_EXEC)
            add_line(map, &line);
        else
            add_inactive_code(map, &old, &line);
    find_aliases(map);
    for (uint32_t i = 0; i < old.count; i++)
        if (!hand_over(&old.regions[i], map) && old.regions[i].used)
            lost(context, old.regions[i].start, old.regions[i].end);
    return !map->stale;
}
