#include "engine/translator/transcode/code_changes.h"

#include "base/memory.h"
#include "engine/packets/code_image.h"
#include "engine/packets/log_reader.h"
#include "engine/translator/code_dumps.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <uthash.h>

struct timed_change {
    uint64_t time;
    struct code_change change;
};

/* A page and what it has shown. */
struct shown_page {
    uint64_t address;
    const uint8_t *code;  /* the newest dump; NULL: not known */
    struct array changes; /* of struct timed_change, by time */
    UT_hash_handle hh;
};

enum { PAGE_SETS = 4096 };

struct process_changes {
    uint32_t pid;
    /* The pages, by hash: most fragments are of pages that never change. */
    uint8_t has_page[PAGE_SETS / 8];
    uint64_t version;     /* changes whenever `moments` does */
    struct array moments; /* of struct code_moment, by time */
    struct shown_page *pages;
    struct array others; /* of struct timed_change, by time: of anything but a single page */
    UT_hash_handle hh;
};

struct code_changes {
    const struct translator_arena *arena;
    size_t offset; /* in the sideband log: all records before it are known */
    uint64_t tail; /* of the log, then */
    struct process_changes *processes;
    bool gave_up; /* the newest record that was waited for was not filled */
};

struct code_changes *code_changes_open(const struct translator_arena *arena)
{
    struct code_changes *changes = memory_allocate_zeroed(sizeof *changes);
    changes->arena = arena;
    return changes;
}

static void free_process(struct process_changes *process)
{
    struct shown_page *page, *next;
    HASH_ITER(hh, process->pages, page, next)
    {
        HASH_DEL(process->pages, page);
        array_free(&page->changes);
        free(page);
    }
    array_free(&process->others);
    for (size_t i = 0; i < process->moments.count; i++)
        array_free(&((struct code_moment *)array_at(&process->moments, i))->changes);
    array_free(&process->moments);
    free(process);
}

void code_changes_close(struct code_changes *changes)
{
    struct process_changes *process, *next;
    if (!changes)
        return;
    HASH_ITER(hh, changes->processes, process, next)
    {
        HASH_DEL(changes->processes, process);
        free_process(process);
    }
    free(changes);
}

/* ---- records ---- */

static struct process_changes *get_process(struct code_changes *changes, uint32_t pid)
{
    struct process_changes *process;
    HASH_FIND(hh, changes->processes, &pid, sizeof pid, process);
    if (process)
        return process;
    process = memory_allocate_zeroed(sizeof *process);
    process->pid = pid;
    process->moments = array_of(sizeof(struct code_moment));
    process->others = array_of(sizeof(struct timed_change));
    HASH_ADD(hh, changes->processes, pid, sizeof process->pid, process);
    return process;
}

/* Of elements that begin with a time, and are sorted by it: the index of the first one that is later than `time`. */
static size_t first_after(const struct array *sorted, uint64_t time)
{
    return time < UINT64_MAX ? array_find_key64(sorted, time + 1) : sorted->count;
}

static struct code_moment *get_moment(struct process_changes *process, uint64_t time)
{
    size_t place = first_after(&process->moments, time);
    struct code_moment *before = place > 0 ? array_at(&process->moments, place - 1) : NULL;
    if (before && before->time == time)
        return before;
    struct code_moment *moment = array_insert(&process->moments, place);
    *moment = (struct code_moment){.time = time, .changes = array_of(sizeof(struct code_change))};
    process->version++;
    return moment;
}

/* Neighbouring pages are of different sets. */
static unsigned page_set(uint64_t address)
{
    return (unsigned)(address / TR_PAGE) % PAGE_SETS;
}

static struct shown_page *get_page(struct process_changes *process, uint64_t address)
{
    struct shown_page *page;
    HASH_FIND(hh, process->pages, &address, sizeof address, page);
    if (page)
        return page;
    page = memory_allocate_zeroed(sizeof *page);
    page->address = address;
    page->changes = array_of(sizeof(struct timed_change));
    HASH_ADD(hh, process->pages, address, sizeof page->address, page);
    process->has_page[page_set(address) / 8] |= (uint8_t)(1u << page_set(address) % 8);
    return page;
}

static void take_mapping(struct code_changes *changes, const struct logged_mapping *mapping)
{
    struct process_changes *process = get_process(changes, mapping->record.pid);
    struct code_change change = {
        .start = mapping->start,
        .next_fragment = mapping->next_fragment,
    };
    if (__builtin_add_overflow(mapping->start, mapping->length, &change.end))
        return;
    struct array *changes_there = &process->others;
    if (mapping->length == TR_PAGE && mapping->start % TR_PAGE == 0) {
        struct shown_page *page = get_page(process, mapping->start);
        change.after = mapping->jit ? code_dumps_find(changes->arena, mapping) : NULL;
        change.before = page->code;
        page->code = change.after;
        changes_there = &page->changes;
    }
    uint64_t time = mapping->record.time;
    *(struct timed_change *)array_insert(changes_there, first_after(changes_there, time)) =
        (struct timed_change){time, change};
    array_add_all(&get_moment(process, time)->changes, &change, 1);
}

/* Its writer has reserved a place, which is filled at once, or when a processor is free for it again: some ten milliseconds on busy
 * machines. Of one that was killed it never is, and the next one is not waited for as long. */
static void await_record(struct code_changes *changes, const struct logged_record *record)
{
    enum { MOST_PAUSES = 1000, FEWEST_PAUSES = 20 };
    const struct timespec pause = {.tv_nsec = 100 * 1000};
    unsigned most = changes->gave_up ? FEWEST_PAUSES : MOST_PAUSES;
    changes->gave_up = false;
    for (unsigned i = 0; atomic_load_explicit(&record->ready, memory_order_acquire) != 1; i++) {
        if (i == most) {
            changes->gave_up = true;
            return;
        }
        nanosleep(&pause, NULL);
    }
}

static void read_records(struct code_changes *changes)
{
    changes->tail = atomic_load(&changes->arena->control->log_tail);
    struct log_reader reader = translator_arena_sideband(changes->arena);
    reader.offset = changes->offset;
    while (reader.offset + sizeof(struct logged_record) <= reader.size) {
        await_record(changes, (const struct logged_record *)(reader.log + reader.offset));
        const struct logged_record *record = log_reader_next(&reader);
        if (!record)
            break;
        if (record->kind == LOGGED_MAPPING)
            take_mapping(changes, (const struct logged_mapping *)record);
    }
    changes->offset = reader.size;
}

/* ---- questions ---- */

const struct code_moment *code_changes_after(struct code_changes *changes,
                                             struct code_changes_cursor *cursor, uint32_t pid,
                                             uint64_t time)
{
    if (atomic_load(&changes->arena->control->log_tail) != changes->tail)
        read_records(changes);
    if (!cursor->process)
        HASH_FIND(hh, changes->processes, &pid, sizeof pid, cursor->process);
    const struct process_changes *process = cursor->process;
    if (!process)
        return NULL;
    if (cursor->version != process->version) {
        cursor->version = process->version;
        cursor->next = first_after(&process->moments, time);
    }
    const struct array *moments = &process->moments;
    while (cursor->next < moments->count &&
           ((const struct code_moment *)array_at(moments, cursor->next))->time <= time)
        cursor->next++;
    return cursor->next < moments->count ? array_at(moments, cursor->next) : NULL;
}

/* Whether the bytes of [start, end), which the change overlaps, differ before and after it, or those that follow its own. */
static bool differs(const struct code_change *change, uint64_t start, uint64_t end)
{
    if (!change->before || !change->after)
        return true;
    uint64_t size = change->end - change->start + CODE_IMAGE_TAIL;
    uint64_t first = start > change->start ? start - change->start : 0;
    uint64_t last = end - change->start < size ? end - change->start : size;
    return memcmp(change->before + first, change->after + first, last - first) != 0;
}

static bool has_changed_block(const struct code_change *change, const struct pt_code_block *code)
{
    return code->pc < change->end && code->end > change->start &&
           differs(change, code->pc, code->end);
}

static bool has_changed(const struct code_change *change, const struct fragment *fragment)
{
    for (unsigned i = 0; i < fragment->block_count; i++)
        if (has_changed_block(change, fragment->blocks[i].code))
            return true;
    return false;
}

static bool any_has_changed(const struct array *changes, const struct pt_code_block *code,
                            uint64_t after, uint64_t until)
{
    for (size_t i = first_after(changes, after); i < changes->count; i++) {
        const struct timed_change *timed = array_at(changes, i);
        if (timed->time > until)
            return false;
        if (has_changed_block(&timed->change, code))
            return true;
    }
    return false;
}

static bool page_changes(const struct process_changes *process, uint64_t address,
                         const struct pt_code_block *code, uint64_t after, uint64_t until)
{
    struct shown_page *page;
    if (!(process->has_page[page_set(address) / 8] >> page_set(address) % 8 & 1))
        return false;
    HASH_FIND(hh, process->pages, &address, sizeof address, page);
    return page && any_has_changed(&page->changes, code, after, until);
}

static bool block_changes(const struct process_changes *process, const struct pt_code_block *code,
                          uint64_t after, uint64_t until)
{
    for (uint64_t address = code->pc / TR_PAGE * TR_PAGE; address < code->end; address += TR_PAGE)
        if (page_changes(process, address, code, after, until))
            return true;
    return any_has_changed(&process->others, code, after, until);
}

bool code_changes_concern(const struct process_changes *process, const struct fragment *fragment,
                          uint64_t after, uint64_t until)
{
    for (unsigned i = 0; i < fragment->block_count; i++)
        if (block_changes(process, fragment->blocks[i].code, after, until))
            return true;
    return false;
}

enum code_age code_moment_age(const struct code_moment *moment, const struct fragment *fragment)
{
    enum code_age age = CODE_UNCHANGED;
    for (size_t i = 0; i < moment->changes.count && age != CODE_OLDER; i++) {
        const struct code_change *change = array_at(&moment->changes, i);
        if (has_changed(change, fragment))
            age = fragment->identifier < change->next_fragment ? CODE_OLDER : CODE_NEWER;
    }
    return age;
}
