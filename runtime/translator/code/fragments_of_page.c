#include "runtime/translator/code/fragments_of_page.h"

#include "runtime/translator/layout.h"
#include "runtime/translator/own_memory.h"
#include "runtime/translator/system.h"

static uint32_t slot_of(const struct tr_fragments_of_page *index, uint64_t page)
{
    uint32_t mask = index->slot_count - 1;
    uint32_t i = (uint32_t)((page * UINT64_C(0x9e3779b97f4a7c15)) >> 32) & mask;
    while (index->slots[i].page && index->slots[i].page != page + 1)
        i = (i + 1) & mask;
    return i;
}

static bool has_free_slot(struct tr_fragments_of_page *index)
{
    enum { LEAST = 256 };
    if (index->slots_used * 2 < index->slot_count)
        return true;
    struct tr_fragments_of_page larger = *index;
    larger.slot_count = index->slot_count ? 2 * index->slot_count : LEAST;
    larger.slots = tr_own_map(larger.slot_count * sizeof *larger.slots);
    if (!larger.slots)
        return false;
    for (uint32_t i = 0; i < index->slot_count; i++)
        if (index->slots[i].page)
            larger.slots[slot_of(&larger, index->slots[i].page - 1)] = index->slots[i];
    *index = larger;
    return true;
}

/* Index of a free link. UINT32_MAX: no memory. */
static uint32_t take_link(struct tr_fragments_of_page *index)
{
    enum { LEAST = 1024 };
    if (index->unused) {
        uint32_t taken = index->unused - 1;
        index->unused = index->links[taken].next;
        return taken;
    }
    if (index->link_count == index->link_capacity) {
        uint32_t capacity = index->link_capacity ? 2 * index->link_capacity : LEAST;
        struct tr_page_link *links = tr_own_map(capacity * sizeof *links);
        if (!links)
            return UINT32_MAX;
        memcpy(links, index->links, index->link_count * sizeof *links);
        index->links = links;
        index->link_capacity = capacity;
    }
    return index->link_count++;
}

static bool add_to_page(struct tr_fragments_of_page *index, uint64_t page, uint32_t fragment)
{
    if (!has_free_slot(index))
        return false;
    struct tr_page_slot *slot = &index->slots[slot_of(index, page)];
    uint32_t first = slot->page ? slot->first : 0;
    if (first && index->links[first - 1].fragment == fragment)
        return true;
    uint32_t link = take_link(index);
    if (link == UINT32_MAX)
        return false;
    index->links[link] = (struct tr_page_link){fragment, first};
    index->slots_used += slot->page == 0;
    *slot = (struct tr_page_slot){page + 1, link + 1};
    return true;
}

bool tr_fragments_of_page_add(struct tr_fragments_of_page *index, uint64_t start, uint64_t end,
                              uint32_t fragment)
{
    bool added = true;
    for (uint64_t page = start / TR_PAGE; added && page <= (end - 1) / TR_PAGE; page++)
        added = add_to_page(index, page, fragment);
    return added;
}

static void visit_list(struct tr_fragments_of_page *index, uint32_t *first,
                       bool (*stays)(void *context, uint32_t fragment), void *context)
{
    for (uint32_t *link = first; *link;) {
        struct tr_page_link *at = &index->links[*link - 1];
        if (stays(context, at->fragment)) {
            link = &at->next;
            continue;
        }
        uint32_t unused = *link;
        *link = at->next;
        at->next = index->unused;
        index->unused = unused;
    }
}

void tr_fragments_of_page_visit(struct tr_fragments_of_page *index, uint64_t start, uint64_t end,
                                bool (*stays)(void *context, uint32_t fragment), void *context)
{
    if (start >= end || index->slot_count == 0)
        return;
    uint64_t page = start / TR_PAGE, last = (end - 1) / TR_PAGE;
    if (last - page >= index->slot_count) { /* fewer pages are known than asked for */
        for (uint32_t i = 0; i < index->slot_count; i++) {
            struct tr_page_slot *slot = &index->slots[i];
            if (slot->page > page && slot->page - 1 <= last)
                visit_list(index, &slot->first, stays, context);
        }
        return;
    }
    for (; page <= last; page++) {
        struct tr_page_slot *slot = &index->slots[slot_of(index, page)];
        if (slot->page)
            visit_list(index, &slot->first, stays, context);
    }
}
