/* What is known of single pages of code: those that are dumped, and those that are or were write-protected.
 *
 * An array by address: pages are mostly added in the order of their addresses. Used by code_pages.c, under
 * process->lock.
 */
#ifndef MAGIC_TRACE_RUNTIME_TRANSLATOR_PAGE_TABLE_H
#define MAGIC_TRACE_RUNTIME_TRANSLATOR_PAGE_TABLE_H

#include <stdbool.h>
#include <stdint.h>

enum {
    TR_PAGE_NOTED = 1,     /* there are translations */
    TR_PAGE_PROTECTED = 2, /* the runtime write-protects it; the program made it writable */
    TR_PAGE_DUMPED = 4, /* the newest mapping record of the page names a dump; `hash` is of that */
    /* its content is what the newest mapping record says, and cannot change unnoticed */
    TR_PAGE_CLEAN = 8,
    TR_PAGE_SHOWN = 16,         /* there was a dump of it */
    TR_PAGE_WRITES_ITSELF = 32, /* code there has changed code that ran right after it */
};

struct tr_page {
    uint64_t address;
    uint64_t hash;
    const uint8_t *dump; /* with TR_PAGE_DUMPED: in the arena, the page and what came after it */
    uint32_t passes; /* checks of its fragments that were seen to pass, since the newest chance */
    uint16_t writes; /* times that it changed under its translations */
    uint8_t chances; /* times that it was to be protected again after that was given up */
    uint8_t protection; /* that the program gave it; 0: not known */
    uint8_t flags;
};

struct tr_page_table {
    struct tr_page *pages;
    uint32_t count, capacity;
};

/* NULL: not known. Pages are valid until one is added. */
struct tr_page *tr_page_find(const struct tr_page_table *table, uint64_t address);

/* The same, added when it is not there. NULL: no memory. */
struct tr_page *tr_page_get(struct tr_page_table *table, uint64_t address);

/* The next known page in [start, end) after `page`, the first one after NULL; NULL at the end. */
struct tr_page *tr_page_next(const struct tr_page_table *table, const struct tr_page *page,
                             uint64_t start, uint64_t end);

/* Forgets the pages in [start, end). */
void tr_page_forget(struct tr_page_table *table, uint64_t start, uint64_t end);

#endif
