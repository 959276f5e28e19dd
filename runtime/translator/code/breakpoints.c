#include "runtime/translator/code/breakpoints.h"

#include "runtime/translator/own_memory.h"
#include "runtime/translator/system.h"
#include "runtime/translator/thread.h"

#include <asm/unistd.h>
#include <linux/mman.h>

struct breakpoint {
    uint64_t address;
    uint8_t byte;       /* that it stands for */
    uint8_t protection; /* of its page */
    bool added;         /* for a while: it is at no selected function */
};

/* By address. */
static struct {
    struct breakpoint *list;
    uint32_t count, capacity;
    uint32_t changes;
    uint32_t added; /* so many of these, or fewer */
} all;

/* The first one at or above `address`. */
static uint32_t search(uint64_t address)
{
    uint32_t low = 0, high = all.count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (all.list[middle].address < address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

bool tr_breakpoint_at(uint64_t address)
{
    uint32_t at = search(address);
    return at < all.count && all.list[at].address == address;
}

bool tr_breakpoint_is_selected(uint64_t address)
{
    uint32_t at = search(address);
    return at < all.count && all.list[at].address == address && !all.list[at].added;
}

uint64_t tr_breakpoint_from(uint64_t address)
{
    uint32_t at = search(address);
    while (at < all.count && all.list[at].added)
        at++;
    return at < all.count ? all.list[at].address : 0;
}

uint32_t tr_breakpoint_changes(void)
{
    return __atomic_load_n(&all.changes, __ATOMIC_ACQUIRE);
}

void tr_breakpoints_hide(uint8_t *bytes, uint64_t address, size_t size)
{
    if (all.count == 0)
        return;
    for (uint32_t at = search(address); at < all.count && all.list[at].address < address + size;
         at++)
        bytes[all.list[at].address - address] = all.list[at].byte;
}

/* ---- writing ---- */

static uint64_t page_of(uint64_t address)
{
    return address & ~(uint64_t)(TR_PAGE - 1);
}

/* It is executable all the while: other threads may run there. */
static bool protect_page(uint64_t page, uint8_t protection)
{
    return tr_syscall(__NR_mprotect, page, TR_PAGE, protection) == 0;
}

/* The end of the run of breakpoints, at most `last`, that lie in the page of the one at `first`. */
static uint32_t end_of_page(uint32_t first, uint32_t last)
{
    uint32_t at = first + 1;
    while (at < last && page_of(all.list[at].address) == page_of(all.list[first].address))
        at++;
    return at;
}

/* Makes [first, last) breakpoints, or what they stand for. Pages that have gone or cannot be made writable stay as they are. */
static void write(uint32_t first, uint32_t last, bool in_place)
{
    for (uint32_t at = first, end; at < last; at = end) {
        uint64_t page = page_of(all.list[at].address);
        uint8_t protection = all.list[at].protection;
        end = end_of_page(at, last);
        if (!protect_page(page, protection | PROT_READ | PROT_WRITE))
            continue;
        for (uint32_t i = at; i < end; i++)
            __atomic_store_n((uint8_t *)all.list[i].address,
                             in_place ? TR_BREAKPOINT : all.list[i].byte, __ATOMIC_RELEASE);
        protect_page(page, protection);
    }
}

/* ---- inserting ---- */

static bool has_space(uint32_t more)
{
    enum { LEAST = 256 };
    if (all.count + more <= all.capacity)
        return true;
    uint32_t capacity = all.capacity ? all.capacity : LEAST;
    while (capacity < all.count + more)
        capacity *= 2;
    struct breakpoint *list = tr_own_map((uint64_t)capacity * sizeof *list);
    if (!list)
        return false;
    memcpy(list, all.list, all.count * sizeof *list);
    all.list = list;
    all.capacity = capacity;
    return true;
}

/* For `more` of them before the one at `at`. */
static bool make_gap(uint32_t at, uint32_t more)
{
    if (!has_space(more))
        return false;
    memmove(&all.list[at + more], &all.list[at], (all.count - at) * sizeof *all.list);
    all.count += more;
    return true;
}

/* The first selected place, which are ordered by file and offset, that is not before these. */
static uint32_t find_place(const struct tr_trigger_place *places, uint32_t count, uint64_t inode,
                           uint64_t file_offset)
{
    uint32_t low = 0, high = count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        const struct tr_trigger_place *place = &places[middle];
        bool before =
            place->inode != inode ? place->inode < inode : place->file_offset < file_offset;
        if (before)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

void tr_breakpoints_insert(const struct tr_breakable *code)
{
    const struct tr_control *control = tr_process.control;
    const struct tr_trigger_place *places =
        (const void *)(tr_process.arena + control->selected_offset);
    uint32_t count = control->options.selected_count;
    uint32_t first = find_place(places, count, code->inode, code->file_offset);
    uint32_t last =
        find_place(places, count, code->inode, code->file_offset + (code->end - code->start));
    uint32_t at = search(code->start), known = search(code->end) - at;
    if (first == last || known || !make_gap(at, last - first))
        return;
    for (uint32_t i = first; i < last; i++) {
        uint64_t address = code->start + (places[i].file_offset - code->file_offset);
        all.list[at + (i - first)] = (struct breakpoint){
            .address = address, .byte = *(const uint8_t *)address, .protection = code->protection};
    }
    write(at, at + (last - first), true);
    __atomic_store_n(&all.changes, all.changes + 1, __ATOMIC_RELEASE);
}

void tr_breakpoints_remove(uint64_t start, uint64_t end)
{
    uint32_t first = search(start), last = search(end);
    write(first, last, false);
    memmove(&all.list[first], &all.list[last], (all.count - last) * sizeof *all.list);
    all.count -= last - first;
}

void tr_breakpoint_add(uint64_t address, uint8_t protection)
{
    uint32_t at = search(address);
    if (tr_breakpoint_at(address) || !make_gap(at, 1))
        return;
    all.list[at] = (struct breakpoint){.address = address,
                                       .byte = *(const uint8_t *)address,
                                       .protection = protection,
                                       .added = true};
    all.added++;
    write(at, at + 1, true);
}

void tr_breakpoints_remove_added(void)
{
    uint32_t kept = 0;
    if (all.added == 0)
        return;
    for (uint32_t at = 0; at < all.count; at++) {
        if (all.list[at].added)
            write(at, at + 1, false);
        else
            all.list[kept++] = all.list[at];
    }
    all.count = kept;
    all.added = 0;
}
