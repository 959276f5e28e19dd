#include "runtime/translator/code/code_map.h"

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

struct tr_code_region *tr_code_map_find(struct tr_code_map *map, uint64_t address)
{
    uint32_t index = search(map, address);
    if (index == map->count || map->regions[index].start > address)
        return NULL;
    return &map->regions[index];
}

struct tr_code_region *tr_code_map_next(struct tr_code_map *map,
                                        const struct tr_code_region *region, uint64_t start,
                                        uint64_t end)
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
    struct tr_code_region *regions = tr_own_map(capacity * sizeof *regions);
    if (!regions)
        return false;
    memcpy(regions, map->regions, map->count * sizeof *regions);
    map->regions = regions;
    map->capacity = capacity;
    return true;
}

static void remove_regions(struct tr_code_map *map, uint32_t first, uint32_t last)
{
    memmove(&map->regions[first], &map->regions[last], (map->count - last) * sizeof *map->regions);
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
    struct tr_code_region *region = &map->regions[index];
    memmove(region + 1, region, (map->count - index) * sizeof *region);
    map->count++;
    region[0].end = address;
    region[1].start = address;
    return true;
}

/* --- Aliases --- */

/* The part of the region that shows what the alias does; empty: none. */
static struct tr_own_range aliased_part(const struct tr_code_region *region,
                                        const struct tr_alias *alias)
{
    struct tr_own_range none = {0, 0};
    if (!region->line.shared || (alias->inode != region->line.inode && alias->inode != UINT64_MAX))
        return none;
    if (alias->inode == UINT64_MAX)
        return (struct tr_own_range){region->start, region->end};
    /* Where the alias's beginning would be in the region's mapping. */
    uint64_t shift = region->line.start - region->line.offset;
    uint64_t start = alias->offset + shift, end = start + (alias->end - alias->start);
    start = start > region->start ? start : region->start;
    end = end < region->end ? end : region->end;
    return start < end ? (struct tr_own_range){start, end} : none;
}

static bool is_itself(const struct tr_code_region *region, const struct tr_alias *alias)
{
    return alias->start <= region->start && region->end <= alias->end;
}

bool tr_code_map_is_aliased(const struct tr_code_map *map, const struct tr_code_region *region,
                            uint64_t start, uint64_t end)
{
    for (uint32_t i = 0; i < map->alias_count; i++) {
        struct tr_own_range part = aliased_part(region, &map->aliases[i]);
        if (part.start < end && start < part.end && !is_itself(region, &map->aliases[i]))
            return true;
    }
    return false;
}

static void put_alias(struct tr_code_map *map, const struct tr_alias *alias)
{
    enum { LEAST = 32 };
    if (map->alias_count == map->alias_capacity) {
        uint32_t capacity = map->alias_capacity ? 2 * map->alias_capacity : LEAST;
        struct tr_alias *aliases = tr_own_map(capacity * sizeof *aliases);
        if (!aliases) { /* too many to distinguish */
            map->aliases[map->alias_count - 1].inode = UINT64_MAX;
            return;
        }
        memcpy(aliases, map->aliases, map->alias_count * sizeof *aliases);
        map->aliases = aliases;
        map->alias_capacity = capacity;
    }
    map->aliases[map->alias_count++] = *alias;
}

void tr_code_map_add_alias(struct tr_code_map *map, const struct tr_alias *alias,
                           tr_code_lost *lost, void *context)
{
    put_alias(map, alias);
    for (uint32_t i = 0; i < map->count; i++) {
        const struct tr_code_region *region = &map->regions[i];
        struct tr_own_range part = aliased_part(region, alias);
        if (region->used && part.start < part.end && !is_itself(region, alias))
            lost(context, part.start, part.end);
    }
}

/* One that lies in the range only in part stays: the cost is that code is compared although it no longer needs to be. */
static void remove_aliases(struct tr_code_map *map, uint64_t start, uint64_t end)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < map->alias_count; i++)
        if (map->aliases[i].start < start || map->aliases[i].end > end)
            map->aliases[kept++] = map->aliases[i];
    map->alias_count = kept;
}

/* --- Files --- */

static bool ends_with(const struct tr_map_line *line, const char *end, size_t size)
{
    return line->path_size >= size && memcmp(line->path + line->path_size - size, end, size) == 0;
}

static bool path_is(const struct tr_map_line *line, const char *path, size_t size)
{
    return line->path_size == size && memcmp(line->path, path, size) == 0;
}

/* A file that can be opened by its path has a name, an inode and is not deleted. What has no name in a
 * file system (memfd, System V shared memory, /dev/zero) is shown as deleted. */
static enum tr_code_source source_of(const struct tr_map_line *line)
{
    static const char deleted[] = " (deleted)", vdso[] = "[vdso]", vsyscall[] = "[vsyscall]";
    if (path_is(line, vdso, sizeof vdso - 1) || path_is(line, vsyscall, sizeof vsyscall - 1))
        return TR_CODE_FROM_VDSO;
    bool named = line->path_size > 0 && line->path[0] == '/' && line->inode != 0 &&
                 !ends_with(line, deleted, sizeof deleted - 1);
    return named ? TR_CODE_FROM_FILE : TR_CODE_FROM_ANONYMOUS;
}

/* Programs and libraries lie in files with a name, mapped privately: nobody writes to these while they run. */
static bool is_of_open_file(const struct tr_map_line *line)
{
    return line->inode != 0 && (line->shared || source_of(line) == TR_CODE_FROM_ANONYMOUS);
}

void tr_code_map_file_written(struct tr_code_map *map, uint64_t inode, bool named,
                              tr_code_lost *lost, void *context)
{
    for (uint32_t i = 0; i < map->count; i++) {
        const struct tr_code_region *region = &map->regions[i];
        bool is_open = is_of_open_file(&region->line);
        bool is_this = inode == region->line.inode && (named || is_open);
        if (region->used && (is_this || (is_open && inode == UINT64_MAX)))
            lost(context, region->start, region->end);
    }
}

/* --- Changes --- */

bool tr_code_map_forget(struct tr_code_map *map, uint64_t start, uint64_t end)
{
    uint32_t first = search(map, start), last = first;
    bool used = false;
    remove_aliases(map, start, end);
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
        struct tr_code_region *region = &map->regions[index];
        region->protection = protection;
        if (protection & PROT_WRITE)
            region->checked = false;
    }
}

/* --- Reading --- */

static void add_region(struct tr_code_map *map, const struct tr_map_line *line, uint64_t start,
                       uint64_t end)
{
    if (start >= end)
        return;
    if (!has_space(map, 1)) {
        map->stale = true;
        return;
    }
    enum tr_code_source source = source_of(line);
    map->regions[map->count++] = (struct tr_code_region){
        .start = start,
        .end = end,
        .line = *line,
        .protection = line->protection,
        .source = (uint8_t)source,
    };
    map->shared_code |= line->shared;
    if (is_of_open_file(line))
        __atomic_store_n(&map->open_files, true, __ATOMIC_RELEASE);
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

/* Whether both show the same bytes at the same addresses. */
static bool shows_same(const struct tr_code_region *a, const struct tr_code_region *b)
{
    return a->line.inode == b->line.inode && a->line.major == b->line.major &&
           a->line.minor == b->line.minor && a->line.shared == b->line.shared &&
           a->source == b->source &&
           (a->line.inode == 0 || a->line.offset - a->line.start == b->line.offset - b->line.start);
}

static uint64_t maximum(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static uint64_t minimum(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static void copy_knowledge(struct tr_code_region *to, const struct tr_code_region *from)
{
    to->used |= from->used;
    if (to->start < from->start || to->end > from->end)
        return;
    to->reported = from->reported;
    to->device = from->device;
    to->inode = from->inode;
    to->modified = from->modified;
    to->checked = from->checked;
}

/* What was known of the old region goes to those that show the same bytes in its place; code anywhere else is lost. */
static void hand_over(const struct tr_code_region *old, struct tr_code_map *map, tr_code_lost *lost,
                      void *context)
{
    uint64_t at = old->start;
    for (uint32_t i = search(map, at); i < map->count && map->regions[i].start < old->end; i++) {
        struct tr_code_region *region = &map->regions[i];
        if (!shows_same(old, region))
            continue;
        copy_knowledge(region, old);
        if (old->used && region->start > at)
            lost(context, at, region->start);
        at = maximum(at, minimum(region->end, old->end));
    }
    if (old->used && at < old->end)
        lost(context, at, old->end);
}

/* Code that may not be executed for now: a just-in-time compiler writes it. */
static void add_inactive_code(struct tr_code_map *map, const struct tr_code_map *old,
                              const struct tr_map_line *line)
{
    for (uint32_t i = search(old, line->start); i < old->count && old->regions[i].start < line->end;
         i++) {
        const struct tr_code_region *region = &old->regions[i];
        if (region->used)
            add_region(map, line, maximum(region->start, line->start),
                       minimum(region->end, line->end));
    }
}

static bool is_known(const struct tr_alias *aliases, uint32_t count, const struct tr_alias *alias)
{
    for (uint32_t i = 0; i < count; i++)
        if (memcmp(&aliases[i], alias, sizeof *alias) == 0)
            return true;
    return false;
}

/* New ones are appended to the `known` first ones, which are then removed. */
static void find_aliases(struct tr_code_map *map, tr_code_lost *lost, void *context)
{
    uint32_t known = map->alias_count;
    const char *end = map->text.text + map->text.size;
    struct tr_map_line line;
    for (const char *at = map->text.text;
         map->shared_code && (at = tr_maps_line(at, end, &line));) {
        struct tr_alias alias = {line.start, line.end, line.offset, line.inode};
        if (!line.shared || !(line.protection & PROT_WRITE))
            continue;
        if (is_known(map->aliases, known, &alias))
            put_alias(map, &alias);
        else
            tr_code_map_add_alias(map, &alias, lost, context);
    }
    memmove(map->aliases, map->aliases + known, (map->alias_count - known) * sizeof *map->aliases);
    map->alias_count -= known;
}

bool tr_code_map_read(struct tr_code_map *map, tr_code_lost *lost, void *context)
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
    for (uint32_t i = 0; i < old.count; i++)
        hand_over(&old.regions[i], map, lost, context);
    find_aliases(map, lost, context);
    return !map->stale;
}
