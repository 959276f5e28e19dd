#include "runtime/translator/code/hot_path.h"

#include "runtime/translator/code/fragment.h"
#include "runtime/translator/code/superblock.h"
#include "runtime/translator/code/translation.h"
#include "runtime/translator/log/clock.h"
#include "runtime/translator/system.h"

enum {
    ENTRIES = 384, /* fragments that are looked at, each time */
    PATHS = 6,     /* that are made at most, each time */
    SHARE = 20,    /* one part in so many of the time is used */
    NOT_KNOWN = -1,
};

/* A fragment that ran. */
struct entry {
    uint32_t identifier; /* 0: something else happened here */
    bool indirect;       /* an indirect branch led to it */
    int exit;            /* the block by whose branch it was left, or NOT_KNOWN */
};

struct recent {
    struct entry entries[ENTRIES];
    unsigned count;
};

/* ---- what ran ---- */

static void add_entry(struct recent *recent, uint32_t identifier, bool indirect)
{
    recent->entries[recent->count++] = (struct entry){identifier, indirect, NOT_KNOWN};
}

/* Time stamps and exits are part of the path; every other record ends it. */
static void read_log(struct recent *recent, const uint32_t *at, const uint32_t *end)
{
    recent->count = 0;
    while (at < end && recent->count < ENTRIES) {
        uint32_t word = *at++;
        if (word == 0)
            return;
        if (word < TR_EVENT) {
            add_entry(recent, word >> 1, word & TR_INDIRECT);
            continue;
        }
        if (TR_EVENT_KIND(word) >= TR_EVENT_KINDS)
            return;
        if (TR_EVENT_KIND(word) == TR_EXIT && recent->count > 0)
            recent->entries[recent->count - 1].exit = (int)TR_EVENT_PAYLOAD(word);
        else if (TR_EVENT_KIND(word) != TR_STAMP)
            add_entry(recent, 0, false);
        at += tr_payload_words(word);
    }
}

/* ---- routes ---- */

static uint64_t block_start(const struct tr_fragment *fragment, unsigned block)
{
    return fragment->pc + (uint64_t)(int64_t)fragment->blocks[block].start;
}

static bool leads_to(const struct tr_fragment *fragment, unsigned block, uint64_t pc)
{
    const struct tr_block *description = &fragment->blocks[block];
    uint64_t target = fragment->pc + (uint64_t)(int64_t)description->target;
    uint64_t end = block_start(fragment, block) + description->size;
    switch ((enum tr_block_end)(description->end & TR_BLOCK_END)) {
    case TR_END_FALL:
        return pc == end;
    case TR_END_CONDITIONAL:
        return pc == target || pc == end;
    case TR_END_JUMP:
    case TR_END_CALL:
        return pc == target;
    default:
        return false;
    }
}

/* The block by which `entry` was left for the next one, as layout.h says. */
static int exit_block(const struct entry *entry, const struct entry *next)
{
    const struct tr_fragment *fragment = tr_fragment_description(entry->identifier);
    int last = fragment->block_count - 1;
    uint64_t pc = tr_fragment_pc(next->identifier);
    if (entry->exit != NOT_KNOWN)
        return entry->exit <= last ? entry->exit : NOT_KNOWN;
    if (next->indirect || leads_to(fragment, (unsigned)last, pc))
        return last;
    for (int i = 0; i < last; i++)
        if (leads_to(fragment, (unsigned)i, pc) && block_start(fragment, (unsigned)i + 1) != pc)
            return i;
    return NOT_KNOWN;
}

static bool add_start(struct tr_route *route, uint64_t from, uint64_t start)
{
    int64_t distance = (int64_t)(start - from);
    if (route->count == HOT_PATH_BLOCKS || distance != (int32_t)distance)
        return false;
    route->starts[route->count++] = (int32_t)distance;
    return true;
}

/* A loop or an indirect branch led to it, or a hot path was left for it. */
static bool is_head(const struct recent *recent, unsigned i)
{
    const struct entry *entry = &recent->entries[i];
    if (!entry->identifier || i == 0 || !recent->entries[i - 1].identifier)
        return false;
    uint32_t before = recent->entries[i - 1].identifier;
    return entry->indirect || tr_fragment_pc(entry->identifier) <= tr_fragment_pc(before) ||
           tr_fragment_translation(before)->route;
}

/* Adds the blocks that `entry` ran, the first one's start apart. False: no room. */
static bool add_entry_blocks(struct tr_route *route, uint64_t from, const struct entry *entry,
                             int exit, unsigned *instructions)
{
    const struct tr_fragment *fragment = tr_fragment_description(entry->identifier);
    for (int block = 0; block <= exit; block++) {
        *instructions += fragment->blocks[block].instructions;
        if (block > 0 && !add_start(route, from, block_start(fragment, (unsigned)block)))
            return false;
    }
    return *instructions <= HOT_PATH_INSTRUCTIONS;
}

/* The path from entry `first` on, as far as it has room: a loop is part of it as many times as it ran. It ends where
 * an entry does; where it has come back to its beginning, there. Returns the entry after the last one on it. */
static unsigned find_route(const struct recent *recent, unsigned first, struct tr_route *route)
{
    uint64_t from = tr_fragment_pc(recent->entries[first].identifier);
    unsigned i = first, instructions = 0, back = 0;
    uint32_t count = 0,
             count_back = 0; /* of the route up to entry i, and up to where it was back */
    route->count = 0;
    for (; i + 1 < recent->count && recent->entries[i + 1].identifier; i++) {
        const struct entry *entry = &recent->entries[i];
        int exit = exit_block(entry, entry + 1);
        uint64_t next = tr_fragment_pc(entry[1].identifier);
        if (exit == NOT_KNOWN || !add_entry_blocks(route, from, entry, exit, &instructions))
            break;
        count = route->count;
        if (next == from) {
            back = i + 1;
            count_back = count;
        }
        if (!add_start(route, from, next))
            break;
    }
    route->count = back ? count_back : count;
    return back ? back : i;
}

/* ---- making them ---- */

static bool make_path(struct tr_thread *thread, struct tr_translation *older,
                      const struct tr_route *route)
{
    bool nothing;
    older->considered = 1;
    struct tr_translation *newer =
        tr_translate(thread, older->pc, route, older->indirect != 0, &nothing);
    if (!newer)
        return false;
    newer->considered = 1;
    tr_fragment_replace(older, newer);
    return true;
}

static void look(struct tr_thread *thread, const struct recent *recent)
{
    struct tr_route route;
    unsigned made = 0;
    for (unsigned i = 1; i < recent->count && made < PATHS; i++) {
        if (!is_head(recent, i))
            continue;
        struct tr_translation *translation = tr_fragment_translation(recent->entries[i].identifier);
        if (!translation->valid || translation->considered)
            continue;
        unsigned end = find_route(recent, i, &route);
        if (end <= i + 1)
            continue;
        made += make_path(thread, translation, &route);
        i = end - 1;
    }
}

/* Of fragments that compare their own bytes. */
static void report_passed(struct tr_thread *thread, const struct recent *recent)
{
    for (unsigned i = 0; i < recent->count; i++) {
        if (!recent->entries[i].identifier)
            continue;
        const struct tr_translation *translation =
            tr_fragment_translation(recent->entries[i].identifier);
        if (translation->valid && translation->compares)
            tr_code_passed(thread, translation->pc - translation->low,
                           translation->pc + translation->high);
    }
}

void tr_hot_path_look(struct tr_thread *thread)
{
    uint64_t begin = tr_rdtsc();
    if (begin < thread->look_at || thread->hot.log <= thread->boundary)
        return;
    struct recent recent;
    tr_clock_begin_locked_work(thread);
    tr_clock_begin_translation(thread);
    read_log(&recent, (const uint32_t *)thread->boundary, (const uint32_t *)thread->hot.log);
    report_passed(thread, &recent);
    look(thread, &recent);
    tr_clock_end_translation(thread);
    tr_clock_end_locked_work(thread);
    uint64_t end = tr_rdtsc();
    thread->look_at = end + (end - begin) * SHARE;
}
