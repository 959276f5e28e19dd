#include "runtime/translator/code/page_table.h"

#include "runtime/translator/own_memory.h"
#include "runtime/translator/system.h"

/* Index of the first page at or above the address. */
static uint32_t search(const struct tr_page_table *table, uint64_t address)
{
    uint32_t low = 0, high = table->count;
    if (high > 0 && table->pages[high - 1].address < address)
        return high;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (table->pages[middle].address < address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

struct tr_page *tr_page_find(const struct tr_page_table *table, uint64_t address)
{
    uint32_t index = search(table, address);
    if (index == table->count || table->pages[index].address != address)
        return NULL;
    return &table->pages[index];
}

static bool has_space(struct tr_page_table *table)
{
    enum { LEAST = 128 };
    if (table->count < table->capacity)
        return true;
    uint32_t capacity = table->capacity ? 2 * table->capacity : LEAST;
    struct tr_page *pages = tr_own_map(capacity * sizeof *pages);
    if (!pages)
        return false;
    memcpy(pages, table->pages, table->count * sizeof *pages);
    table->pages = pages;
    table->capacity = capacity;
    return true;
}

struct tr_page *tr_page_get(struct tr_page_table *table, uint64_t address)
{
    uint32_t index = search(table, address);
    if (index < table->count && table->pages[index].address == address)
        return &table->pages[index];
    if (!has_space(table))
        return NULL;
    struct tr_page *page = &table->pages[index];
    memmove(page + 1, page, (table->count - index) * sizeof *page);
    table->count++;
    *page = (struct tr_page){.address = address};
    return page;
}

struct tr_page *tr_page_next(const struct tr_page_table *table, const struct tr_page *page,
                             uint64_t start, uint64_t end)
{
    uint32_t index = page ? (uint32_t)(page - table->pages) + 1 : search(table, start);
    if (index >= table->count || table->pages[index].address >= end)
        return NULL;
    return &table->pages[index];
}

void tr_page_forget(struct tr_page_table *table, uint64_t start, uint64_t end)
{
    uint32_t first = search(table, start), last = search(table, end);
    memmove(&table->pages[first], &table->pages[last],
            (table->count - last) * sizeof *table->pages);
    table->count -= last - first;
}
