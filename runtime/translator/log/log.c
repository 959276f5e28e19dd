#include "runtime/translator/log/log.h"

#include "runtime/translator/code/supplied_pages.h"
#include "runtime/translator/fault_safe.h"
#include "runtime/translator/log/clock.h"
#include "runtime/translator/log/copied_stacks.h"
#include "runtime/translator/log/disk_space.h"
#include "runtime/translator/log/recorder.h"
#include "runtime/translator/log/shared_stacks.h"
#include "runtime/translator/log/stack_switches.h"
#include "runtime/translator/log/stamp_interval.h"
#include "runtime/translator/own_memory.h"
#include "runtime/translator/system.h"

#include <asm/unistd.h>
#include <linux/futex.h>
#include <linux/mman.h>

enum {
    PRIVATE_RING = 64 << 10, /* bytes, of a thread that is not recorded */
    LARGEST_STACK_COPY = 16 << 10,
    LARGEST_FIRST_COPY = 48 << 10, /* where a log begins in the middle of a program */
    /* The most that is written between two comparisons of the log pointer with the limit; more than that hits the
     * guard page. */
    SLACK = 4 << 10,
    CHECK_STEP = 32 << 10,   /* bytes of log between calls of tr_log_check, at most */
    LEAST_ROOM = 64 << 10,   /* of a ring that is used: what has to be written at once fits */
    LEAST_CLEARED = 1 << 10, /* bytes of log ahead */
    LINE = 64,
    OUTER_WORDS = 10, /* its place in a record with a copy of the stack */
};

_Static_assert(CHECK_STEP + TR_CLEARED + LINE < PRIVATE_RING - SLACK, "enter.S stays in the ring");
_Static_assert(TR_CLEARED_AHEAD == TR_CLEARED, "enter.S clears as much");
_Static_assert(LEAST_ROOM >= LARGEST_STACK_COPY + CHECK_STEP + SLACK,
               "all that is written at once fits into the smallest ring");

_Static_assert(LEAST_ROOM - SLACK - LINE * 4 >= LARGEST_FIRST_COPY,
               "the first copy of a stack fits into the smallest ring");

static uint64_t position(const struct tr_thread *thread)
{
    return thread->wraps + (thread->hot.log - (uint64_t)thread->ring);
}

static uint64_t ring_size(const struct tr_thread *thread)
{
    return (uint64_t)(thread->ring_end - thread->ring);
}

static void put(struct tr_thread *thread, const void *bytes, size_t size)
{
    memcpy((void *)thread->hot.log, bytes, size);
    thread->hot.log += size;
}

/* The disk is full: what lies from there on is not used. */
static void shrink(struct tr_thread *thread, uint64_t room_end)
{
    thread->room_end = room_end;
    if (thread->slot)
        atomic_store(&thread->slot->room, room_end - (uint64_t)thread->ring);
}

/* Whether another thread of the process may be running its program's code. Of many threads it is not looked for. */
static bool others_run(const struct tr_thread *thread)
{
    enum { LOOKED_AT = 64 };
    unsigned looked_at = 0;
    const struct tr_thread *other = thread->process->threads;
    for (; other && looked_at < LOOKED_AT; other = other->next, looked_at++)
        if (other != thread && __atomic_load_n(&other->state, __ATOMIC_RELAXED) == TR_THREAD_USED &&
            !__atomic_load_n(&other->in_syscall, __ATOMIC_RELAXED))
            return true;
    return other != NULL;
}

/* The first use of a page of the ring costs a page fault, as much as what the page holds took natively in some programs. The
 * clock stands still for it, unless others would run in no time meanwhile. */
static bool begin_backing(struct tr_thread *thread)
{
    if (thread->works || others_run(thread))
        return false;
    tr_clock_begin_work(thread);
    return true;
}

/* Ensures that what lies before `up_to` can be written. */
static void back(struct tr_thread *thread, uint64_t up_to)
{
    if (up_to > thread->room_end)
        up_to = thread->room_end;
    if (thread->backed >= up_to)
        return;
    bool clock_stands = begin_backing(thread);
    thread->backed = tr_backed_until(thread->backed, up_to);
    if (thread->backed < up_to)
        shrink(thread, thread->backed);
    if (clock_stands)
        tr_clock_end_work(thread);
}

/* Whole cache lines: enter.S goes on in such steps. */
static void clear(struct tr_thread *thread, uint64_t up_to)
{
    up_to = (up_to + LINE - 1) & ~(uint64_t)(LINE - 1);
    back(thread, up_to);
    if (up_to > thread->room_end)
        up_to = thread->room_end;
    /* A loop that logs without looking at the limit may have written further than was cleared. */
    if (thread->hot.cleared < thread->hot.log)
        thread->hot.cleared = thread->hot.log;
    if (thread->hot.cleared >= up_to)
        return;
    memset((void *)thread->hot.cleared, 0, up_to - thread->hot.cleared);
    thread->hot.cleared = up_to;
}

void tr_log_publish(struct tr_thread *thread)
{
    if (thread->slot)
        atomic_store_explicit(&thread->slot->head, position(thread), memory_order_release);
}

/* The stream's position at a chunk's beginning is known before anything is written there. */
static void begin_chunk(struct tr_thread *thread, uint64_t at)
{
    struct tr_slot *slot = thread->slot;
    if (!slot)
        return;
    uint64_t chunk = at % slot->size / (slot->size / TR_CHUNKS);
    atomic_store_explicit(&slot->chunks[chunk].position, at, memory_order_release);
}

/* The old round's chunks from number `first` on that may be overwritten before tr_log_check begins another: readers
 * are not to begin there. */
static void give_up_chunks(struct tr_thread *thread, uint64_t first)
{
    struct tr_slot *slot = thread->slot;
    if (!slot)
        return;
    uint64_t end = position(thread) + CHECK_STEP + LARGEST_STACK_COPY + TR_CLEARED + SLACK;
    uint64_t last = end / (slot->size / TR_CHUNKS);
    for (uint64_t chunk = first; chunk <= last && chunk < first + TR_CHUNKS - 1; chunk++)
        atomic_store_explicit(&slot->chunks[chunk % TR_CHUNKS].position, UINT64_MAX,
                              memory_order_release);
}

/* A signal that came since the limit was looked at has set it to 0; so does a switch that is not over. */
static void keep_asked(struct tr_thread *thread)
{
    if (thread->hot.switched_at || tr_copied_stack_is_asked(thread))
        thread->hot.limit = 0;
    atomic_signal_fence(memory_order_seq_cst);
    if (thread->signals.pending || thread->let_go)
        thread->hot.limit = thread->hot.run = 0;
}

/* The next comparison with the limit begins a chunk there: the old limit is far from here, and readers begin at chunks. */
static void begin_round(struct tr_thread *thread)
{
    thread->hot.log = (uint64_t)thread->ring;
    thread->hot.cleared = (uint64_t)thread->ring;
    thread->boundary = thread->hot.log;
    thread->hot.limit = thread->hot.check_at = thread->hot.log;
    thread->hot.run = 0;
    thread->hot.switched_at = 0;
    tr_copied_stack_lose_numbers(thread);
    keep_asked(thread);
}

/* The log goes on at the beginning of the ring. */
static void wrap(struct tr_thread *thread)
{
    uint32_t pad = TR_EVENT_WORD(TR_PAD, 0);
    if (thread->hot.log < thread->room_end)
        memcpy((void *)thread->hot.log, &pad, sizeof pad);
    thread->wraps += ring_size(thread);
    begin_round(thread);
}

/* Followed by a page that cannot be touched. */
static uint8_t *map_guarded(uint64_t size)
{
    uint8_t *memory = tr_own_map(size + TR_PAGE);
    if (memory)
        tr_syscall(__NR_mprotect, (uint64_t)memory + size, TR_PAGE, PROT_NONE);
    return memory;
}

static bool use_private_ring(struct tr_thread *thread)
{
    if (!thread->private_ring)
        thread->private_ring = map_guarded(PRIVATE_RING);
    if (!thread->private_ring)
        return false;
    thread->slot = NULL;
    thread->serial = UINT32_MAX;
    thread->ring = thread->private_ring;
    thread->ring_end = thread->ring + PRIVATE_RING;
    thread->room_end = thread->backed = (uint64_t)thread->ring_end;
    return true;
}

/* The log ends here; what the thread logs until it leaves the cache is not kept. */
static void lose_ring(struct tr_thread *thread)
{
    tr_log_publish(thread);
    if (thread->slot)
        atomic_store(&thread->slot->ended, TR_SLOT_NO_SPACE);
    thread->stops = thread->let_go = true;
    thread->hot.limit = thread->hot.run = 0;
    use_private_ring(thread);
    begin_round(thread);
}

/* To the ring's beginning; when the disk is full, and there is too little of the ring, it is given up. */
static void leave_end(struct tr_thread *thread)
{
    if (thread->room_end - (uint64_t)thread->ring < LEAST_ROOM)
        lose_ring(thread);
    else
        wrap(thread);
}

/* `size` bytes, at most LEAST_ROOM - SLACK, can be written. */
static void reserve(struct tr_thread *thread, uint64_t size)
{
    if (thread->hot.log + size + SLACK > thread->room_end)
        wrap(thread);
    back(thread, thread->hot.log + size + SLACK);
    if (thread->hot.log + size + SLACK > thread->room_end)
        leave_end(thread);
}

static void make_room(struct tr_thread *thread, uint64_t size)
{
    reserve(thread, size);
    clear(thread, thread->hot.log + size + TR_CLEARED);
}

/* Outside of selected calls a log can only end. */
static bool is_open(const struct tr_thread *thread, enum tr_event kind)
{
    return !thread->stops && (kind == TR_STOP || !tr_is_outside(thread));
}

void tr_log_event(struct tr_thread *thread, enum tr_event kind, uint32_t payload,
                  const uint64_t *values, unsigned count)
{
    uint32_t word = TR_EVENT_WORD(kind, payload);
    if (!is_open(thread, kind))
        return;
    if (kind != TR_PARTIAL) /* the others have a time, or one follows */
        tr_copied_stack_lose_numbers(thread);
    make_room(thread, 4 + 8 * (uint64_t)count);
    if (count)
        memcpy((void *)(thread->hot.log + 4), values, 8 * (size_t)count);
    /* A reader of a killed thread's log finds either all of the record or none of it. */
    atomic_signal_fence(memory_order_release);
    put(thread, &word, sizeof word);
    thread->hot.log += 8 * (uint64_t)count;
}

uint64_t *tr_log_open_event(struct tr_thread *thread, unsigned most)
{
    if (thread->stops || tr_is_outside(thread))
        return NULL;
    make_room(thread, 4 + 8 * (uint64_t)most);
    return (uint64_t *)(thread->hot.log + 4);
}

void tr_log_end_event(struct tr_thread *thread, enum tr_event kind, uint32_t payload,
                      unsigned count)
{
    atomic_signal_fence(memory_order_release);
    *(uint32_t *)thread->hot.log = TR_EVENT_WORD(kind, payload);
    thread->hot.log += 4 + 8 * (uint64_t)count;
}

uint32_t tr_log_last(const struct tr_thread *thread)
{
    return *(const uint32_t *)(thread->hot.log - 4);
}

/* ---- beginning ---- */

static bool has_least_room(struct tr_thread *thread, uint64_t slot)
{
    bool clock_stands = begin_backing(thread);
    bool has = tr_is_backed(slot, TR_SLOT_RING + LEAST_ROOM);
    if (clock_stands)
        tr_clock_end_work(thread);
    return has;
}

static bool use_slot(struct tr_thread *thread, uint32_t index)
{
    struct tr_control *control = thread->process->control;
    if (index >= control->slot_count)
        return false;
    uint8_t *at =
        thread->process->arena + control->slot_offset + (uint64_t)index * control->slot_size;
    uint64_t size = control->options.ring_size;
    if (tr_syscall(__NR_mprotect, (uint64_t)at, TR_SLOT_RING + size, PROT_READ | PROT_WRITE) != 0 ||
        !has_least_room(thread, (uint64_t)at)) {
        atomic_fetch_add(&control->lost_threads, 1);
        return false;
    }
    struct tr_slot *slot = (void *)at;
    thread->slot = slot;
    thread->serial = atomic_load(&slot->generation) * control->slot_count + index;
    thread->ring = at + TR_SLOT_RING;
    thread->ring_end = thread->ring + size;
    thread->room_end = (uint64_t)thread->ring_end;
    thread->backed = (uint64_t)thread->ring + LEAST_ROOM;
    slot->room = size;
    slot->serial = thread->serial;
    slot->pid = (uint32_t)thread->pid;
    slot->tid = (uint32_t)thread->tid;
    slot->table = thread->process->table ? thread->process->table->serial : UINT32_MAX;
    slot->size = size;
    slot->first_time = tr_time(thread);
    atomic_store(&slot->head, 0);
    atomic_store(&slot->read_to, 0);
    atomic_store(&slot->lost, 0);
    atomic_store(&slot->ended, TR_SLOT_RUNS);
    for (unsigned i = 0; i < TR_CHUNKS; i++)
        atomic_store(&slot->chunks[i].position, UINT64_MAX);
    atomic_signal_fence(memory_order_release);
    slot->magic = TR_SLOT_MAGIC;
    return true;
}

/* enter.S stamps the time and clears ahead by itself up to here: it must not come to the ring's end, which may be nearer
 * than CHECK_STEP after a copy of the stack. */
static uint64_t next_check(struct tr_thread *thread)
{
    uint64_t ahead = TR_CLEARED + 2 * LINE, step = thread->hot.log + CHECK_STEP;
    back(thread, step);
    return (step < thread->room_end ? step : thread->room_end) - ahead;
}

/* As enter.S does. */
static void adapt_interval(struct tr_thread *thread)
{
    uint64_t interval = thread->hot.stamp_interval;
    uint64_t elapsed = tr_rdtsc() - thread->hot.stamped, ticks = thread->hot.stamp_ticks;
    if (elapsed < ticks)
        interval += TR_INTERVAL_STEP;
    else
        interval = elapsed / 4 < ticks ? interval - interval / 4 : interval / 4;
    thread->hot.stamp_interval = interval < TR_LARGEST_INTERVAL ? interval : TR_LARGEST_INTERVAL;
}

/* A fragment that compares before it runs logs its entry first, and begins again after the check: that entry must be below the
 * limit, however long checks take, or it would never run. */
static uint64_t limit_from_here(const struct tr_thread *thread)
{
    uint64_t interval = thread->hot.stamp_interval;
    return thread->hot.log + (interval > TR_LEAST_STEP ? interval : TR_LEAST_STEP);
}

static void set_limit(struct tr_thread *thread)
{
    thread->hot.limit = limit_from_here(thread);
    thread->hot.check_at = next_check(thread);
    thread->hot.stamped = tr_rdtsc();
    thread->hot.run = 1;
    keep_asked(thread);
}

void tr_log_resume(struct tr_thread *thread)
{
    if (thread->hot.run == 0)
        return;
    if (thread->hot.stamp_interval > TR_FIRST_INTERVAL)
        thread->hot.stamp_interval = TR_FIRST_INTERVAL;
    uint64_t limit = limit_from_here(thread);
    if (limit < thread->hot.limit)
        thread->hot.limit = limit;
    thread->hot.stamped = tr_rdtsc();
    keep_asked(thread);
}

/* The log is read from its beginning on, while it is written. */
static bool streams(const struct tr_control *control)
{
    return control->options.full_execution || control->options.multi_snapshot;
}

void tr_log_begin(struct tr_thread *thread, uint32_t slot, bool untraced)
{
    const struct tr_control *control = thread->process->control;
    thread->stops = untraced || !use_slot(thread, slot);
    if (thread->stops && !use_private_ring(thread))
        thread->let_go = true;
    thread->wraps = thread->checked = 0;
    tr_copied_stack_forget(thread);
    begin_round(thread);
    thread->hot.stamp_interval = TR_FIRST_INTERVAL;
    thread->hot.stamp_ticks = control->options.stamp_ticks;
    clear(thread, thread->hot.log + TR_CLEARED);
    begin_chunk(thread, 0);
    tr_switches_begin(thread, !streams(control));
    tr_copied_stacks_begin_chunk(thread, true);
    tr_shared_stacks_begin(thread);
    set_limit(thread);
}

/* ---- going on ---- */

/* Copies as much as is mapped there and need not be waited for. Returns how many bytes. */
static uint64_t copy_mapped(uint64_t to, uint64_t from, uint64_t size)
{
    uint64_t copied = 0;
    while (copied < size) {
        uint64_t rest = TR_PAGE - (from + copied) % TR_PAGE;
        uint64_t part = rest < size - copied ? rest : size - copied;
        if (tr_page_is_awaited(from + copied) ||
            !tr_read_safely((void *)(to + copied), from + copied, part))
            break;
        copied += part;
    }
    return copied;
}

/* Beyond the outermost frame of a stack there is often memory that nothing has been written to. Returns how many of the
 * words there are worth keeping; a return address of 0, which ends a stack, is. */
static uint64_t count_written(uint64_t address, uint64_t words)
{
    enum { KEPT_ZEROS = 32 };
    uint64_t zeros = 0, word = 0;
    for (; zeros < words; zeros++) {
        memcpy(&word, (const void *)(address + 8 * (words - zeros - 1)), sizeof word);
        if (word != 0)
            break;
    }
    return zeros > KEPT_ZEROS ? words - zeros + KEPT_ZEROS : words;
}

/* As copy_mapped, what is not being copied by the program. */
static uint64_t copy_stack(const struct tr_thread *thread, uint64_t to, uint64_t from,
                           uint64_t size)
{
    return copy_mapped(to, from, tr_copied_stack_keeps(thread, from, size));
}

/* The registers that calls preserve, the one that vfork has its return address in while it makes its system call
 * (glibc, sysdeps/unix/sysv/linux/x86_64/vfork.S), and the innermost part of the program's stack; and of the stack that was
 * interrupted, if the handler runs on one of its own. */
static void log_stack(struct tr_thread *thread, enum tr_event kind, uint64_t most)
{
    if (thread->stops)
        return;
    const uint64_t *r = thread->app.r;
    uint64_t outer = tr_interrupted_stack(thread), share = outer ? most / 2 : most;
    uint64_t header[] = {r[TR_RSP], thread->app.pc, r[TR_RBX], r[TR_RBP], r[TR_R12], r[TR_R13],
                         r[TR_R14], r[TR_R15],      r[TR_RDI], outer,     0};
    make_room(thread, 4 + sizeof header + most);
    uint64_t place = thread->hot.log + 4 + sizeof header;
    uint64_t words = count_written(place, copy_stack(thread, place, r[TR_RSP], share) / 8);
    uint64_t outer_words = outer ? copy_stack(thread, place + 8 * words, outer, share) / 8 : 0;
    header[OUTER_WORDS] = outer_words;
    words += outer_words;
    uint32_t word = TR_EVENT_WORD(kind, words);
    memcpy((void *)(thread->hot.log + 4), header, sizeof header);
    atomic_signal_fence(memory_order_release);
    memcpy((void *)thread->hot.log, &word, sizeof word);
    thread->hot.log += 4 + sizeof header + 8 * words;
}

void tr_log_calls(struct tr_thread *thread)
{
    log_stack(thread, TR_CALLS, LARGEST_STACK_COPY);
}

void tr_log_first_calls(struct tr_thread *thread)
{
    thread->has_unseen_stacks = true;
    log_stack(thread, TR_CALLS, LARGEST_FIRST_COPY);
}

void tr_log_callers(struct tr_thread *thread, uint64_t most)
{
    log_stack(thread, TR_CALLS, most);
}

/* The entry of the fragment that runs is logged again after what it is taken away for. Meanwhile nothing stands there: a
 * reader of a killed thread's log would take what is written after it for records. */
static uint32_t take_entry(struct tr_thread *thread)
{
    uint32_t entry = tr_log_last(thread), nothing = 0;
    thread->hot.log -= sizeof entry;
    memcpy((void *)thread->hot.log, &nothing, sizeof nothing);
    atomic_signal_fence(memory_order_release);
    return entry;
}

/* Of a stack that runs now, and that readers may not know, up to `most` bytes. Returns how many were logged. */
static uint64_t log_other_stack(struct tr_thread *thread, uint64_t most)
{
    uint32_t entry = take_entry(thread);
    uint64_t begin = position(thread);
    log_stack(thread, TR_SWITCHED, most);
    put(thread, &entry, sizeof entry);
    return position(thread) - begin;
}

static void log_changed_stack(struct tr_thread *thread)
{
    tr_switch_reported(thread, log_other_stack(thread, tr_switch_copy_size(thread)));
    tr_shared_stack_reported(thread);
}

void tr_log_switch(struct tr_thread *thread)
{
    if (!tr_switch_is_over(thread))
        return;
    log_changed_stack(thread);
    thread->hot.limit = thread->hot.log; /* for a time stamp */
    keep_asked(thread);
}

void tr_log_stack_numbers(struct tr_thread *thread, uint32_t left, uint32_t continues)
{
    uint64_t values[] = {left, continues};
    if (!is_open(thread, TR_COPIED))
        return;
    tr_copied_stack_lose_numbers(thread);
    memcpy((void *)(thread->hot.log + 4), values, sizeof values);
    tr_log_end_event(thread, TR_COPIED, 0, 2);
}

static void log_numbers(struct tr_thread *thread, const struct tr_copied_numbers *numbers)
{
    if (numbers->left == 0)
        return;
    uint32_t entry = take_entry(thread);
    tr_log_event(thread, TR_COPIED, 0, (uint64_t[]){numbers->left, numbers->continues}, 2);
    put(thread, &entry, sizeof entry);
}

/* As many as at the beginning of a chunk, if they are missing there. */
static void log_copied_callers(struct tr_thread *thread)
{
    if (tr_copied_stack_is_due(thread))
        log_other_stack(thread, LARGEST_STACK_COPY);
    else if (thread->hot.reports_switches)
        log_changed_stack(thread);
    else
        return;
    tr_copied_stack_reported(thread);
}

void tr_log_copied_stack(struct tr_thread *thread)
{
    struct tr_copied_numbers numbers;
    bool known;
    if (tr_copied_stack_is_over(thread, &numbers, &known)) {
        log_numbers(thread, &numbers);
        if (!known)
            log_copied_callers(thread);
    }
    if (!tr_copied_stack_is_asked(thread))
        thread->hot.limit = thread->hot.log; /* for a time stamp */
    keep_asked(thread);
}

static bool recorder_lives(const struct tr_thread *thread, uint32_t *heartbeat, unsigned *still)
{
    enum { PATIENCE = 40 }; /* waits of 50 ms without a heartbeat */
    const struct tr_control *control = thread->process->control;
    uint32_t now = atomic_load(&control->heartbeat);
    *still = now == *heartbeat ? *still + 1 : 0;
    *heartbeat = now;
    return *still < PATIENCE && tr_recorder_lives(control);
}

/* Full execution: waits until what the next chunk would overwrite has been read. False: there is no reader. */
static bool wait_for_reader(struct tr_thread *thread, uint64_t next)
{
    struct tr_slot *slot = thread->slot;
    const struct tr_control *control = thread->process->control;
    uint32_t heartbeat = atomic_load(&control->heartbeat);
    unsigned still = 0;
    tr_log_publish(thread); /* the reader follows up to here, over what the ring does not use */
    while (next > atomic_load(&slot->read_to) + slot->size) {
        struct {
            int64_t seconds, nanoseconds;
        } patience = {0, 50 * 1000 * 1000};
        if (atomic_load(&control->frozen) || !recorder_lives(thread, &heartbeat, &still))
            return false;
        uint32_t seen = atomic_load(&slot->waiting);
        if (next <= atomic_load(&slot->read_to) + slot->size)
            break;
        tr_syscall6(__NR_futex, (uint64_t)&slot->waiting, FUTEX_WAIT, seen, (uint64_t)&patience, 0,
                    0);
    }
    return true;
}

static void stamp(struct tr_thread *thread, enum tr_stamp kind, uint64_t time)
{
    tr_log_event(thread, TR_STAMP, kind, &time, 1);
}

bool tr_log_is_due(const struct tr_thread *thread)
{
    return thread->hot.log > thread->hot.check_at ||
           thread->hot.log + LEAST_CLEARED > thread->hot.cleared;
}

static void begin_next_chunk(struct tr_thread *thread, uint64_t now)
{
    begin_chunk(thread, now);
    bool again = tr_switches_begin_chunk(thread);
    tr_copied_stacks_begin_chunk(thread, again);
    tr_shared_stacks_begin_chunk(thread, again);
    tr_log_calls(thread);
}

/* Times can wait for what numbers belong to. */
static void stamp_check(struct tr_thread *thread, enum tr_stamp kind, uint64_t time)
{
    if (!tr_copied_stack_has_numbers(thread))
        stamp(thread, kind, time);
}

bool tr_log_check(struct tr_thread *thread, bool in_fragment)
{
    struct tr_control *control = thread->process->control;
    if (tr_recording_is_over(control))
        return false;
    /* The entry is logged again in a new chunk, where a reader may begin. */
    uint32_t entry = in_fragment ? take_entry(thread) : 0;
    /* Page faults and a wait for the reader are to lie between two stamps, with nothing of the program beside them. */
    stamp_check(thread, TR_STAMP_NEXT, tr_time(thread));
    uint64_t before = position(thread);
    reserve(thread, (thread->slot ? LARGEST_STACK_COPY : 0) + CHECK_STEP);
    clear(thread, thread->hot.log + TR_CLEARED);
    uint64_t now = position(thread);
    if (thread->slot) {
        uint64_t chunk_size = thread->slot->size / TR_CHUNKS;
        bool next = now / chunk_size != thread->checked / chunk_size || now < before;
        if (streams(control) && next && !wait_for_reader(thread, now + 2 * chunk_size)) {
            if (in_fragment)
                put(thread, &entry, sizeof entry);
            return false;
        }
        give_up_chunks(thread, now / chunk_size + 1);
        tr_switches_earn(thread, now - thread->checked);
        if (next) {
            begin_next_chunk(thread, now);
        }
        thread->checked = now;
    }
    if (in_fragment)
        put(thread, &entry, sizeof entry);
    uint64_t time = tr_time(thread);
    uint64_t freeze_at = atomic_load_explicit(&control->freeze_at, memory_order_relaxed);
    if (freeze_at && time >= freeze_at) {
        uint64_t none = 0;
        atomic_compare_exchange_strong(&control->frozen_at, &none, time);
        atomic_store(&control->frozen, 1);
        return false;
    }
    stamp_check(thread, in_fragment ? TR_STAMP_ENTRY : TR_STAMP_NEXT, time);
    tr_log_publish(thread);
    thread->boundary = thread->hot.log;
    adapt_interval(thread);
    set_limit(thread);
    return true;
}

bool tr_log_is_guard(struct tr_thread *thread, uint64_t address)
{
    uint64_t page = address / TR_PAGE * TR_PAGE;
    if (page < (uint64_t)thread->ring || page > (uint64_t)thread->ring_end)
        return false;
    if (page < thread->room_end)
        shrink(thread, page);
    leave_end(thread);
    clear(thread, thread->hot.log + TR_CLEARED);
    return true;
}

void tr_log_stop(struct tr_thread *thread, enum tr_slot_end reason, uint64_t pc)
{
    uint64_t values[] = {tr_time(thread), pc};
    if (thread->stops)
        return;
    tr_log_event(thread, TR_STOP, reason, values, 2);
    tr_log_publish(thread);
    if (thread->slot)
        atomic_store(&thread->slot->ended, (uint32_t)reason);
    thread->slot = NULL; /* it may be another thread's from now on */
    thread->stops = true;
}
