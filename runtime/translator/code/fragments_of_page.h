/* Which fragments were made from code in which page, so that taking back those of one page costs no look at all others.
 *
 * A hash table of pages, each with a list. Used by fragment.c, under process->lock; fork copies it.
 */
#ifndef MAGIC_TRACE_RUNTIME_TRANSLATOR_FRAGMENTS_OF_PAGE_H
#define MAGIC_TRACE_RUNTIME_TRANSLATOR_FRAGMENTS_OF_PAGE_H

#include <stdbool.h>
#include <stdint.h>

struct tr_page_slot {
    uint64_t page;  /* number of the page, + 1; 0: free */
    uint32_t first; /* of its list: index of a link, + 1; 0: the list is empty */
};

struct tr_page_link {
    uint32_t fragment;
    uint32_t next; /* index, + 1; 0: the last one */
};

/* All zeros: empty. */
struct tr_fragments_of_page {
    struct tr_page_slot *slots;
    uint32_t slot_count, slots_used;
    struct tr_page_link *links;
    uint32_t link_count, link_capacity;
    uint32_t unused; /* list of links to be used again */
};

/* `fragment` has code from [start, end). False: no memory. */
bool tr_fragments_of_page_add(struct tr_fragments_of_page *index, uint64_t start, uint64_t end,
                              uint32_t fragment);

/* Calls `stays` for the fragments of all pages that [start, end) touches, some more than once; those for which it returns
 * false are forgotten in these pages. */
void tr_fragments_of_page_visit(struct tr_fragments_of_page *index, uint64_t start, uint64_t end,
                                bool (*stays)(void *context, uint32_t fragment), void *context);

#endif
