#include "engine/translator/unused_dumps.h"

#include "base/array.h"
#include "engine/packets/sideband_layout.h"

#include <stdlib.h>

/* What a page shows from a mapping record on. */
struct page_version {
    uint32_t table;
    uint32_t next_fragment; /* older fragments were not made of it */
    uint64_t page;
    uint32_t period; /* the same in all dumps between which nothing else was mapped */
    bool used;
    struct logged_mapping *record; /* in the arena */
};

/* ---- the dumps ---- */

static bool has_child(const struct translator_arena *arena, uint32_t serial)
{
    for (uint32_t i = 0; i < translator_arena_tables(arena); i++) {
        const struct tr_table *table = translator_arena_table(arena, i, NULL);
        if (table && table->parent == serial)
            return true;
    }
    return false;
}

/* Whether the page is one of a process that shares its fragments with no other. A child of vfork has its parent's
 * table. */
static bool is_own_page(const struct translator_arena *arena, const struct logged_mapping *mapping)
{
    const struct tr_table *table = translator_arena_table(arena, mapping->table, NULL);
    return mapping->jit && mapping->length == TR_PAGE && mapping->start % TR_PAGE == 0 && table &&
           table->parent == UINT32_MAX && atomic_load(&table->pid) == mapping->record.pid;
}

/* By table, page, and the order of the log. */
static int by_page(const void *left, const void *right)
{
    const struct page_version *a = left, *b = right;
    if (a->table != b->table)
        return a->table < b->table ? -1 : 1;
    if (a->page != b->page)
        return a->page < b->page ? -1 : 1;
    return a->record < b->record ? -1 : a->record > b->record;
}

static struct array find_versions(const struct translator_arena *arena)
{
    struct array versions = array_of(sizeof(struct page_version));
    struct log_reader reader = translator_arena_sideband(arena);
    uint32_t period = 0;
    for (const struct logged_record *record; (record = log_reader_next(&reader));) {
        struct logged_mapping *mapping = (struct logged_mapping *)record;
        if (record->kind != LOGGED_MAPPING)
            continue;
        if (!is_own_page(arena, mapping)) {
            period++;
            continue;
        }
        *(struct page_version *)array_add(&versions) = (struct page_version){
            .table = mapping->table,
            .next_fragment = mapping->next_fragment,
            .page = mapping->start,
            .period = period,
            .record = mapping,
        };
    }
    if (versions.count > 1)
        qsort(versions.elements, versions.count, sizeof(struct page_version), by_page);
    return versions;
}

/* ---- those that are used ---- */

/* Those of one table. */
struct search {
    struct page_version *versions;
    size_t count;
};

/* How many versions are of lower pages, or of this one and older than the fragment. */
static size_t count_up_to(const struct search *search, uint64_t page, uint32_t fragment)
{
    size_t low = 0, high = search->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct page_version *version = &search->versions[middle];
        if (version->page < page || (version->page == page && version->next_fragment <= fragment))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void use_page(struct search *search, uint64_t page, uint32_t fragment)
{
    size_t count = count_up_to(search, page, fragment);
    if (count > 0 && search->versions[count - 1].page == page)
        search->versions[count - 1].used = true;
}

static void use_fragment(void *context, const struct fragment *fragment)
{
    for (unsigned i = 0; i < fragment->block_count; i++) {
        const struct pt_code_block *code = fragment->blocks[i].code;
        for (uint64_t page = code->pc - code->pc % TR_PAGE; page < code->end; page += TR_PAGE)
            use_page(context, page, fragment->identifier);
    }
}

/* ---- those that are not ---- */

static bool lies_between(const struct page_version *before, const struct page_version *after)
{
    return before->page == after->page && before->period == after->period;
}

static void mark_unused(const struct search *search)
{
    for (size_t i = 1; i + 1 < search->count; i++) {
        const struct page_version *version = &search->versions[i];
        if (!version->used && lies_between(version - 1, version + 1))
            version->record->record.kind = LOGGED_UNUSED;
    }
}

void unused_dumps_find(const struct translator_arena *arena, const struct fragments *fragments)
{
    struct array versions = find_versions(arena);
    struct page_version *all = versions.elements;
    for (size_t first = 0, end; first < versions.count; first = end) {
        uint32_t table = all[first].table;
        for (end = first; end < versions.count && all[end].table == table;)
            end++;
        struct search search = {&all[first], end - first};
        if (!has_child(arena, table) && fragments_walk(fragments, table, use_fragment, &search))
            mark_unused(&search);
    }
    array_free(&versions);
}
