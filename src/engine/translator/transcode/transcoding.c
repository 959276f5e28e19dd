#include "engine/translator/transcode/transcoding.h"

#include "base/log.h"
#include "base/memory.h"
#include "engine/engine.h"
#include "engine/translator/transcode/reclaim.h"
#include "engine/translator/transcode/snapshot_ranges.h"
#include "engine/translator/transcode/transcoder.h"

#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum stream_state {
    STREAM_NEW,
    STREAM_READ,
    STREAM_DONE,
    STREAM_FAILED, /* its packet file could not be made: the log is read and dropped */
};

/* One thread's log. */
struct stream {
    enum stream_state state;
    struct transcoder *transcoder; /* while it is read */
    struct tr_slot *slot;
    uint64_t
        created_at; /* with the instruction clock: position in its creator's log, not before its beginning */
    uint64_t decided_at;    /* snapshot_ranges_settle */
    struct moments moments; /* of a thread that is done */
};

struct transcoding {
    struct translator_arena *arena;
    char *folder; /* DIR/translator */
    struct transcoder_shared shared;
    struct stream *streams; /* by slot */
    struct snapshot_times snapshots;
    struct error error; /* the first: a packet file could not be made */
    bool is_second;     /* a recorder that was killed has transcoded logs that are gone now */

    /* While the program runs: what is known until now, and the callers in it. Only where logs are read meanwhile. */
    struct recorded so_far;
    struct callers *callers_so_far;

    bool has_thread, has_switch_reader;
    pthread_t thread, switch_reader;
    _Atomic bool ends;
};

/* ---- one thread's log ---- */

static bool is_streaming(const struct translator_arena *arena)
{
    return arena->options.full_execution || arena->options.multi_snapshot;
}

static bool counts_instructions(const struct transcoding *transcoding)
{
    return transcoding->arena->options.clock == RECORD_CLOCK_INSTRUCTIONS;
}

static const struct moments *moments_of(const struct stream *stream)
{
    switch (stream->state) {
    case STREAM_READ:
        return &stream->transcoder->moments;
    case STREAM_DONE:
        return &stream->moments;
    default:
        return NULL;
    }
}

/* The newest slot of thread `tid` before slot `serial`; NULL: none. */
static const struct stream *find_stream(const struct transcoding *transcoding, uint32_t tid,
                                        uint32_t serial)
{
    while (serial-- > 0) {
        const struct stream *stream = &transcoding->streams[serial];
        if (stream->slot && stream->slot->tid == tid)
            return stream;
    }
    return NULL;
}

/* The thread that created this one, or this one when it ran another program. */
static uint32_t creator_of(const struct transcoding *transcoding, const struct tr_slot *slot)
{
    struct log_reader reader = translator_arena_sideband(transcoding->arena);
    for (const struct logged_record *record; (record = log_reader_next(&reader));)
        if (record->kind == LOGGED_FORK && record->serial == slot->serial)
            return ((const struct logged_fork *)record)->parent_tid;
    return slot->tid;
}

static const struct stream *find_creator(const struct transcoding *transcoding,
                                         const struct tr_slot *slot)
{
    return find_stream(transcoding, creator_of(transcoding, slot), slot->serial);
}

/* When a thread began, by the recording's clock; 0: not known. */
static uint64_t start_of(const struct transcoding *transcoding, const struct tr_slot *slot)
{
    if (!counts_instructions(transcoding))
        return slot->first_time;
    const struct stream *creator = find_creator(transcoding, slot);
    const struct moments *moments = creator ? moments_of(creator) : NULL;
    return moments ? moments_convert(moments, slot->first_time) : 0;
}

/* The packets that a killed magic-trace had made of its log have the time of these already. */
static void keep_made_off_cpu(const struct transcoder *transcoder)
{
    const struct tr_slot *slot = transcoder->slot;
    if (transcoder->shared->off_cpu)
        off_cpu_keep_rest(transcoder->shared->off_cpu, slot->pid, slot->tid, slot->first_time,
                          transcoder->coder.timeline.latest);
}

static bool is_read(const struct transcoding *transcoding, uint32_t tid)
{
    uint32_t slots = translator_arena_slots(transcoding->arena);
    for (uint32_t index = 0; index < slots; index++) {
        const struct stream *stream = &transcoding->streams[index];
        if (stream->state == STREAM_READ && stream->slot->tid == tid)
            return true;
    }
    return false;
}

/* Between the logs of two programs that a thread executed one after the other it was in execve, and stopped for the second one to
 * be traced. Not while the first log is still read: what is asked for never goes back. */
static void keep_exec_off_cpu(const struct transcoding *transcoding, const struct tr_slot *slot)
{
    if (transcoding->shared.off_cpu && !is_read(transcoding, slot->tid))
        off_cpu_keep_exec(transcoding->shared.off_cpu, slot->pid, slot->tid, slot->first_time);
}

static void begin_stream(struct transcoding *transcoding, struct stream *stream,
                         struct tr_slot *slot)
{
    const struct transcoder_shared *shared = &transcoding->shared;
    struct transcoder *transcoder = memory_allocate(sizeof *transcoder);
    struct error error;
    bool ok = is_streaming(shared->arena) && transcoder_resume(transcoder, shared, slot, &error);
    if (ok) {
        keep_made_off_cpu(transcoder);
    } else {
        keep_exec_off_cpu(transcoding, slot);
        ok = transcoder_begin(transcoder, shared, slot, start_of(transcoding, slot), &error);
    }
    *stream = (struct stream){.state = STREAM_READ, .transcoder = transcoder, .slot = slot};
    if (ok)
        return;
    if (transcoding->error.code == ERROR_NONE)
        transcoding->error = error;
    free(transcoder);
    *stream = (struct stream){.state = STREAM_FAILED, .slot = slot};
}

/* A thread that has not ended may not be running now, and for long. */
static void keep_rest_off_cpu(const struct transcoder *transcoder)
{
    const struct transcoder_shared *shared = transcoder->shared;
    const struct tr_slot *slot = transcoder->slot;
    uint32_t ended = atomic_load(&slot->ended);
    uint64_t end = atomic_load(&shared->arena->control->frozen_at);
    if (shared->off_cpu && transcoder->coder.timeline.logged > 0 && end > 0 &&
        (ended == TR_SLOT_RUNS || ended == TR_SLOT_LET_GO))
        off_cpu_keep_rest(shared->off_cpu, slot->pid, slot->tid, transcoder->coder.timeline.logged,
                          end);
}

static void end_stream(struct stream *stream)
{
    struct transcoder *transcoder = stream->transcoder;
    transcoder_finish(transcoder);
    keep_rest_off_cpu(transcoder);
    if (transcoder->damage.code != ERROR_NONE)
        log_warning("%s. What it stands for is missing from the recording.",
                    transcoder->damage.text);
    struct moments moments = transcoder->moments;
    moments_init(&transcoder->moments, 0);
    transcoder_close(transcoder);
    free(transcoder);
    *stream = (struct stream){.state = STREAM_DONE, .slot = stream->slot, .moments = moments};
}

/* The writer may use the ring again up to `position`; wakes it. */
static void release(struct tr_slot *slot, uint64_t position)
{
    if (atomic_load(&slot->read_to) == position)
        return;
    atomic_store(&slot->read_to, position);
    atomic_fetch_add(&slot->waiting, 1);
    syscall(SYS_futex, &slot->waiting, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

/* What a recorder that goes on after this one does not find in the ring is in the packet file. Where the disk is full
 * the log is given up all the same, so that nobody waits for ever. */
static void release_read(struct transcoder *transcoder, struct tr_slot *slot)
{
    if (transcoder->settled == atomic_load(&slot->read_to))
        return;
    packet_file_flush(&transcoder->coder.file);
    release(slot, transcoder->settled);
}

/* ---- reading ---- */

/* Whether the thread fills its ring faster than it is read. */
static bool is_late(const struct log_cursor *cursor)
{
    return atomic_load(&cursor->slot->ended) == TR_SLOT_RUNS &&
           cursor->end - cursor->position > cursor->room / 2;
}

/* Transcodes what the cursor has, and decides which packets are kept. */
static void read_stream(struct transcoding *transcoding, struct stream *stream)
{
    struct transcoder *transcoder = stream->transcoder;
    transcoder_read(transcoder);
    release_read(transcoder, stream->slot);
    if (!transcoding->arena->options.multi_snapshot)
        return;
    snapshot_times_update(&transcoding->snapshots, transcoding->arena);
    snapshot_ranges_settle(transcoding->arena, stream->slot->serial, &transcoder->coder.file,
                           &transcoding->snapshots, transcoder->coder.timeline.logged,
                           &stream->decided_at);
}

/* Reads a part of what has been written: decisions which packets are kept are as fine as that, and other threads have
 * their turn. Whether there was something. */
static bool read_part(struct transcoding *transcoding, struct stream *stream)
{
    enum { DECIDED_PART = 32 << 10, PART = 1 << 20 };
    struct log_cursor *cursor = &stream->transcoder->cursor;
    uint64_t before = cursor->position;
    log_cursor_extend(cursor);
    transcoder_hurry(stream->transcoder, is_late(cursor));
    log_cursor_limit(cursor, transcoding->arena->options.multi_snapshot ? DECIDED_PART : PART);
    read_stream(transcoding, stream);
    return cursor->position != before;
}

/* Its thread writes no more. */
static void finish_stream(struct transcoding *transcoding, struct stream *stream)
{
    struct transcoder *transcoder = stream->transcoder;
    if (is_streaming(transcoding->arena)) {
        while (read_part(transcoding, stream))
            ;
        log_cursor_extend_to_last_word(&transcoder->cursor);
    } else {
        transcoder_begin_ring(transcoder);
    }
    read_stream(transcoding, stream);
    end_stream(stream);
}

/* ---- slots and tables are used again ---- */

/* Few processes leave all as it was, and cost nothing while they run. Moments of a thread are needed to the end. */
static bool reclaims(const struct transcoding *transcoding)
{
    enum { FEW = 64 };
    return !counts_instructions(transcoding) && (translator_arena_slots(transcoding->arena) > FEW ||
                                                 translator_arena_tables(transcoding->arena) > FEW);
}

/* The callers of what a ring begins with are found at the end only, when all mappings are known: it waits for that while
 * there are enough slots. */
static bool may_wait(const struct transcoding *transcoding, const struct tr_slot *slot)
{
    const struct translator_arena *arena = transcoding->arena;
    bool has_wrapped = atomic_load(&slot->head) >= arena->options.ring_size;
    return !is_streaming(arena) && has_wrapped &&
           translator_arena_slots(arena) < arena->geometry.slot_count / 4 * 3;
}

static void reclaim_slot(struct transcoding *transcoding, uint32_t index)
{
    struct stream *stream = &transcoding->streams[index];
    struct tr_slot *slot = translator_arena_slot(transcoding->arena, index, NULL);
    if (!slot || !reclaim_has_ended(transcoding->arena, slot) || may_wait(transcoding, slot))
        return;
    if (stream->state == STREAM_NEW)
        begin_stream(transcoding, stream, slot);
    if (stream->state == STREAM_READ)
        finish_stream(transcoding, stream);
    if (stream->state != STREAM_DONE)
        return;
    moments_free(&stream->moments);
    *stream = (struct stream){.state = STREAM_NEW};
    translator_arena_release_slot(transcoding->arena, index);
}

static void forget_table(void *context, uint32_t table)
{
    struct transcoding *transcoding = context;
    ways_forget(transcoding->shared.ways, table);
    fragments_forget(transcoding->shared.fragments, table);
}

static void reclaim(struct transcoding *transcoding)
{
    if (!reclaims(transcoding))
        return;
    for (uint32_t index = 0; index < translator_arena_slots(transcoding->arena); index++)
        reclaim_slot(transcoding, index);
    reclaim_tables(transcoding->arena, forget_table, transcoding);
}

/* ---- while the program runs ---- */

static bool has_ended(const struct tr_slot *slot)
{
    uint32_t end = atomic_load(&slot->ended);
    return end != TR_SLOT_RUNS && end != TR_SLOT_EXECUTES;
}

/* Whether there was something to do. */
static bool drain_stream(struct transcoding *transcoding, struct stream *stream)
{
    bool ended = has_ended(stream->slot);
    bool progress = read_part(transcoding, stream);
    if (ended && !progress)
        end_stream(stream);
    return progress;
}

/* Whether it is known when the thread began. With the instruction clock that depends on what its creator had executed
 * then: it had published its log before. */
static bool may_begin(const struct transcoding *transcoding, struct stream *stream,
                      struct tr_slot *slot)
{
    if (!counts_instructions(transcoding))
        return true;
    /* The record that names its creator comes before the first part of its log. */
    if (atomic_load(&slot->head) == 0 && !has_ended(slot))
        return false;
    const struct stream *creator = find_creator(transcoding, slot);
    if (!stream->slot && creator && creator->slot)
        stream->created_at = atomic_load(&creator->slot->head);
    stream->slot = slot;
    return !creator || creator->state >= STREAM_DONE ||
           (creator->state == STREAM_READ &&
            creator->transcoder->cursor.position >= stream->created_at);
}

static bool drain_slot(struct transcoding *transcoding, uint32_t serial)
{
    struct stream *stream = &transcoding->streams[serial];
    if (stream->state == STREAM_NEW) {
        struct tr_slot *slot = translator_arena_slot(transcoding->arena, serial, NULL);
        if (slot && may_begin(transcoding, stream, slot))
            begin_stream(transcoding, stream, slot);
    }
    if (stream->state == STREAM_READ)
        return drain_stream(transcoding, stream);
    if (stream->state == STREAM_FAILED)
        release(stream->slot, atomic_load(&stream->slot->head));
    return false;
}

static bool drain_all(struct transcoding *transcoding)
{
    bool progress = false;
    uint32_t slots = translator_arena_slots(transcoding->arena);
    for (uint32_t serial = 0; serial < slots; serial++)
        progress |= drain_slot(transcoding, serial);
    return progress;
}

static void pause_for(unsigned milliseconds)
{
    struct timespec pause = {.tv_nsec = milliseconds * 1000L * 1000L};
    nanosleep(&pause, NULL);
}

static void read_off_cpu(struct transcoding *transcoding)
{
    if (transcoding->shared.off_cpu)
        off_cpu_read(transcoding->shared.off_cpu);
}

/* Rings hold some ten milliseconds of the fastest programs at least. */
static void *drain(void *argument)
{
    enum { PAUSE = 2, ROUNDS = 10 };
    struct transcoding *transcoding = argument;
    for (unsigned round = 1; !atomic_load(&transcoding->ends); round++) {
        if (!drain_all(transcoding))
            pause_for(PAUSE);
        if (round % ROUNDS != 0)
            continue;
        read_off_cpu(transcoding);
        reclaim(transcoding);
    }
    return NULL;
}

static void *watch_ends(void *argument)
{
    enum { PAUSE = 20 };
    struct transcoding *transcoding = argument;
    while (!atomic_load(&transcoding->ends)) {
        read_off_cpu(transcoding);
        reclaim(transcoding);
        pause_for(PAUSE);
    }
    return NULL;
}

/* Storms of context switches fill the kernel's buffers within some ten milliseconds, in which many threads want a processor and the other
 * thread may be transcoding: root's recorder comes before them. */
static void *read_switches(void *argument)
{
    enum { PAUSE = 20, NICE = -10 };
    setpriority(PRIO_PROCESS, 0, NICE); /* of this thread alone */
    struct transcoding *transcoding = argument;
    while (!atomic_load(&transcoding->ends)) {
        read_off_cpu(transcoding);
        off_cpu_wait(transcoding->shared.off_cpu, PAUSE);
    }
    return NULL;
}

static void start_threads(struct transcoding *transcoding)
{
    void *(*work)(void *) = is_streaming(transcoding->arena) ? drain : watch_ends;
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    transcoding->has_thread = pthread_create(&transcoding->thread, NULL, work, transcoding) == 0;
    /* Without it the other thread still reads them. */
    transcoding->has_switch_reader =
        transcoding->shared.off_cpu &&
        pthread_create(&transcoding->switch_reader, NULL, read_switches, transcoding) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* Logs are transcoded once, so callers that are to be found have to be found then. Ticks stand for nanoseconds: all that counts is
 * their order. */
static void know_callers_so_far(struct transcoding *transcoding, const char *directory)
{
    const struct clock_conversion clock = {.mult = 1};
    transcoding->so_far = (struct recorded){
        .directory = directory,
        .bus_ratio = transcoding->arena->options.bus_ratio,
    };
    transcoding->callers_so_far = callers_open(transcoding->arena, &transcoding->so_far, &clock);
    transcoding->shared.callers = transcoding->callers_so_far;
}

static bool has_reclaimed_slots(const struct translator_arena *arena)
{
    for (uint32_t index = 0; index < translator_arena_slots(arena); index++)
        if (translator_arena_generation(arena, index) > 0)
            return true;
    return false;
}

struct transcoding *transcoding_begin(struct translator_arena *arena, const char *directory,
                                      struct off_cpu *off_cpu, struct error *error)
{
    struct transcoding *transcoding = memory_allocate_zeroed(sizeof *transcoding);
    transcoding->arena = arena;
    transcoding->is_second = has_reclaimed_slots(arena);
    transcoding->folder = memory_format("%s/translator", directory);
    transcoding->shared = (struct transcoder_shared){
        .arena = arena,
        .folder = transcoding->folder,
        .fragments = fragments_open(arena),
        .ways = ways_open(),
        .off_cpu = off_cpu,
        .changes = code_changes_open(arena),
    };
    transcoding->streams =
        memory_allocate_zeroed(arena->geometry.slot_count * sizeof *transcoding->streams);
    snapshot_times_init(&transcoding->snapshots);
    if (is_streaming(arena))
        know_callers_so_far(transcoding, directory);
    if (!is_streaming(arena) && !arena->options.follow && !arena->options.multi_thread && !off_cpu)
        return transcoding;
    start_threads(transcoding);
    if (transcoding->has_thread)
        return transcoding;
    error_set(error, ERROR_IO, "cannot start a thread that reads the logs in %s", directory);
    transcoding_close(transcoding);
    return NULL;
}

/* ---- at the end ---- */

static void finish_slot(struct transcoding *transcoding, uint32_t serial)
{
    struct stream *stream = &transcoding->streams[serial];
    if (stream->state == STREAM_NEW) {
        struct error refused;
        struct tr_slot *slot = translator_arena_slot(transcoding->arena, serial, &refused);
        if (slot)
            begin_stream(transcoding, stream, slot);
        else if (refused.code != ERROR_NOT_FOUND)
            log_warning("%s. The recording goes without it.", refused.text);
    }
    if (stream->state == STREAM_READ)
        finish_stream(transcoding, stream);
}

static void stop_threads(struct transcoding *transcoding)
{
    atomic_store(&transcoding->ends, true);
    if (transcoding->has_thread)
        pthread_join(transcoding->thread, NULL);
    if (transcoding->has_switch_reader)
        pthread_join(transcoding->switch_reader, NULL);
    transcoding->has_thread = transcoding->has_switch_reader = false;
}

bool transcoding_finish(struct transcoding *transcoding, struct callers *callers,
                        struct error *error)
{
    stop_threads(transcoding);
    transcoding->shared.callers = callers;
    uint32_t slots = translator_arena_slots(transcoding->arena);
    for (uint32_t serial = 0; serial < slots; serial++)
        finish_slot(transcoding, serial);
    return transcoding->error.code == ERROR_NONE ||
           error_set(error, transcoding->error.code, "%s", transcoding->error.text);
}

uint64_t transcoding_time_of(void *context, const struct logged_record *record)
{
    const struct transcoding *transcoding = context;
    const struct moments *moments = NULL;
    if (record->serial < transcoding->arena->geometry.slot_count)
        moments = moments_of(&transcoding->streams[record->serial]);
    return moments ? moments_convert(moments, record->time) : 0;
}

const struct fragments *transcoding_fragments(const struct transcoding *transcoding)
{
    bool has_all = !is_streaming(transcoding->arena) && !transcoding->is_second;
    return has_all ? transcoding->shared.fragments : NULL;
}

struct off_cpu *transcoding_off_cpu(const struct transcoding *transcoding)
{
    return transcoding->shared.off_cpu;
}

static void close_stream(struct stream *stream)
{
    if (stream->state == STREAM_READ) {
        transcoder_close(stream->transcoder);
        free(stream->transcoder);
    } else if (stream->state == STREAM_DONE) {
        moments_free(&stream->moments);
    }
}

void transcoding_close(struct transcoding *transcoding)
{
    if (!transcoding)
        return;
    stop_threads(transcoding);
    for (uint32_t serial = 0; serial < transcoding->arena->geometry.slot_count; serial++)
        close_stream(&transcoding->streams[serial]);
    fragments_close(transcoding->shared.fragments);
    code_changes_close(transcoding->shared.changes);
    ways_close(transcoding->shared.ways);
    callers_close(transcoding->callers_so_far);
    snapshot_times_free(&transcoding->snapshots);
    free(transcoding->streams);
    free(transcoding->folder);
    free(transcoding);
}
