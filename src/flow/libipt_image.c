#include "flow/libipt_image.h"

#include "base/memory.h"

#include <pthread.h>
#include <stdlib.h>
#include <uthash.h>

/* Sections stay mapped, and their analysed blocks remembered, until together they exceed this many
 * bytes; libipt then drops the least recently used. */
enum { SECTION_CACHE_BYTES = 1 << 30 };

struct section_key {
    uint64_t file; /* id of the image file */
    uint64_t start;
    uint64_t file_offset;
    uint64_t size;
};

struct section {
    struct section_key key;
    int isid; /* libipt's section number, or its negative error code */
    UT_hash_handle hh;
};

struct libipt_sections {
    struct pt_image_section_cache *cache;
    pthread_mutex_t lock;   /* of `by_key` */
    struct section *by_key; /* libipt's own search is linear: too slow for thousands of JIT pages */
};

struct libipt_sections *libipt_sections_open(void)
{
    struct libipt_sections *sections = memory_allocate_zeroed(sizeof(*sections));
    sections->cache = pt_iscache_alloc(NULL);
    if (!sections->cache) {
        free(sections);
        return NULL;
    }
    pt_iscache_set_limit(sections->cache, SECTION_CACHE_BYTES);
    pthread_mutex_init(&sections->lock, NULL);
    return sections;
}

void libipt_sections_close(struct libipt_sections *sections)
{
    struct section *section, *next;
    HASH_ITER(hh, sections->by_key, section, next)
    {
        HASH_DEL(sections->by_key, section);
        free(section);
    }
    pthread_mutex_destroy(&sections->lock);
    pt_iscache_free(sections->cache);
    free(sections);
}

static int find_section(struct libipt_sections *sections, const struct mapping *mapping)
{
    struct section_key key = {mapping->file->id, mapping->start, mapping->file_offset,
                              mapping->end - mapping->start};
    struct section *section;
    pthread_mutex_lock(&sections->lock);
    HASH_FIND(hh, sections->by_key, &key, sizeof(key), section);
    if (!section) {
        section = memory_allocate_zeroed(sizeof(*section));
        section->key = key;
        section->isid = pt_iscache_add_file(sections->cache, mapping->file->local_path,
                                            key.file_offset, key.size, key.start);
        HASH_ADD(hh, sections->by_key, key, sizeof(key), section);
    }
    int isid = section->isid;
    pthread_mutex_unlock(&sections->lock);
    return isid;
}

struct libipt_image *libipt_image_new(const struct process *process, struct symbols *symbols,
                                      struct libipt_sections *sections)
{
    struct libipt_image *image = memory_allocate_zeroed(sizeof(*image));
    image->image = pt_image_alloc(NULL);
    if (!image->image) {
        free(image);
        return NULL;
    }
    image->sections = sections;
    code_space_init(&image->space, process, symbols);
    return image;
}

void libipt_image_free(struct libipt_image *image)
{
    code_space_free(&image->space);
    pt_image_free(image->image);
    free(image);
}

static bool is_readable(const struct mapping *mapping)
{
    return mapping->file && mapping->file->local_path &&
           mapping->file_offset < mapping->file->view.size;
}

/* A section that cannot be added leaves a hole: the decoder will report that code as missing. */
static void add_mapping(struct libipt_image *image, const struct mapping *mapping)
{
    int isid = find_section(image->sections, mapping);
    if (isid > 0)
        pt_image_add_cached(image->image, image->sections->cache, isid, NULL);
}

static void rebuild(struct libipt_image *image)
{
    pt_image_remove_by_asid(image->image, NULL);
    const struct address_space_cursor *cursor = &image->space.cursor;
    for (size_t i = 0; i < cursor->mapping_count; i++) {
        if (is_readable(&cursor->mappings[i]))
            add_mapping(image, &cursor->mappings[i]);
    }
}

/* Does anything that can be read lie in the range now? The cursor's mappings are sorted and do not
 * overlap. */
static bool covers_code(const struct address_space_cursor *cursor, const struct mapping *range)
{
    size_t low = 0, high = cursor->mapping_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (cursor->mappings[middle].end <= range->start)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < cursor->mapping_count && cursor->mappings[low].start < range->end; low++) {
        if (is_readable(&cursor->mappings[low]))
            return true;
    }
    return false;
}

/* libipt can put a section over others, but not cut a hole: a mapping without bytes that hides
 * code, and an exec, make it start over. Asked before the cursor has moved to `end`. */
static bool needs_rebuild(const struct libipt_image *image, size_t end)
{
    const struct address_space_cursor *cursor = &image->space.cursor;
    size_t first = image->applied;
    for (size_t i = first; i < end; i++) {
        const struct address_space_change *change = &image->space.process->changes[i];
        if (change->kind == ADDRESS_SPACE_CLEAR)
            return true;
        if (is_readable(&change->mapping))
            continue;
        /* What came earlier in this same step is not in the cursor yet. */
        if (i > first || covers_code(cursor, &change->mapping))
            return true;
    }
    return false;
}

void libipt_image_advance(struct libipt_image *image, struct ticks time, bool before_exec)
{
    const struct process *process = image->space.process;
    size_t end = code_space_changes(&image->space, time, before_exec);
    if (end == image->applied)
        return;
    bool start_over = needs_rebuild(image, end);
    code_space_advance(&image->space, end);
    for (size_t i = image->applied; i < end && !start_over; i++)
        add_mapping(image, &process->changes[i].mapping);
    image->applied = end;
    if (start_over)
        rebuild(image);
}
