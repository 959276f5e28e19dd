#include "runtime/translator/log/stack_switches.h"

#include "runtime/translator/system.h"

enum {
    SHARE = 8,            /* of what is logged, that copies may take */
    LEAST_COPY = 1 << 10, /* bytes */
    LARGEST_COPY = 16 << 10,
    MOST_SCANNED = 1 << 10, /* bytes of log in which a switch is over */
};

static uint64_t most_credit(const struct tr_thread *thread)
{
    return thread->slot->size / 16;
}

static void set_reports(struct tr_thread *thread)
{
    thread->hot.reports_switches = thread->switch_credit >= LEAST_COPY;
}

void tr_switches_begin(struct tr_thread *thread, bool reported)
{
    thread->hot.switched_at = 0;
    thread->known_chunks = 0;
    thread->reports_switches = reported && thread->slot;
    thread->switch_credit = thread->reports_switches ? most_credit(thread) : 0;
    memset(thread->hot.seen_pages, 0, sizeof thread->hot.seen_pages);
    set_reports(thread);
}

void tr_switches_earn(struct tr_thread *thread, uint64_t bytes)
{
    if (!thread->reports_switches)
        return;
    uint64_t credit = thread->switch_credit + bytes / SHARE, most = most_credit(thread);
    thread->switch_credit = credit < most ? credit : most;
}

/* Readers begin with the oldest chunk. Where the ring is larger than what a snapshot needs, a stack need not be known to
 * those who begin in between: it is enough that one who began earlier, before what the snapshot shows, has seen it. */
static uint64_t chunks_without_report(const struct tr_thread *thread)
{
    uint64_t chunk = thread->slot->size / TR_CHUNKS;
    uint64_t shown = thread->process->control->options.snapshot_size * TR_LOG_PER_PACKETS;
    return shown < thread->slot->size ? (thread->slot->size - shown) / chunk / 2 : 0;
}

bool tr_switches_begin_chunk(struct tr_thread *thread)
{
    if (!thread->reports_switches)
        return false;
    bool again = thread->known_chunks == 0;
    thread->known_chunks = again ? chunks_without_report(thread) : thread->known_chunks - 1;
    if (again && thread->hot.reports_switches)
        memset(thread->hot.seen_pages, 0, sizeof thread->hot.seen_pages);
    set_reports(thread);
    return again;
}

/* An indirect branch ends a switch, and leads to another fragment. */
bool tr_switch_is_over(const struct tr_thread *thread)
{
    const uint32_t *word = (const uint32_t *)thread->hot.switched_at,
                   *end = (const uint32_t *)thread->hot.log;
    if (word > end || thread->hot.log - thread->hot.switched_at > MOST_SCANNED)
        return true;
    for (; word < end && *word != 0; word++) {
        if (*word >= TR_EVENT && TR_EVENT_KIND(*word) < TR_EVENT_KINDS)
            word += tr_payload_words(*word);
        else if (*word & TR_INDIRECT)
            return true;
    }
    return false;
}

/* Where there are many stacks, less of each. */
uint64_t tr_switch_copy_size(const struct tr_thread *thread)
{
    uint64_t size = thread->switch_credit / SHARE;
    if (size < LEAST_COPY)
        return LEAST_COPY;
    return size < LARGEST_COPY ? size / 8 * 8 : LARGEST_COPY;
}

void tr_switch_reported(struct tr_thread *thread, uint64_t bytes)
{
    thread->hot.switched_at = 0;
    thread->switch_credit -= bytes < thread->switch_credit ? bytes : thread->switch_credit;
    set_reports(thread);
}
