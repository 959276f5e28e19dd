/* The history of one thread: which frame was the leaf of its call stack, from when on, and by which
 * move.
 *
 * A list of steps, 8 bytes each. There is at most one step per flow event, except for the few that
 * end one thing and begin another. Steps are in chunks that never move: growing copies nothing.
 *
 * Packing: bits 0-4 kind, bits 5-31 ticks since the step before, bits 32-63 frame (or index of a
 * gap). A longer pause is written as a HISTORY_PAUSE step of its own, whose upper 59 bits are
 * ticks.
 *
 * Written by thread_stack, read by replay. Not shared between threads.
 */
#ifndef MAGIC_TRACE_STACK_HISTORY_H
#define MAGIC_TRACE_STACK_HISTORY_H

#include "base/array.h"
#include "base/clock.h"

#include <stdbool.h>
#include <stdint.h>

enum history_kind {
    HISTORY_PAUSE,         /* only in the packed form; readers do not get it */
    HISTORY_BEGIN,         /* a segment begins; `frame` is its leaf, which began before */
    HISTORY_BEGIN_SEEN,    /* likewise, but `frame` itself begins at this time */
    HISTORY_ENTER,         /* `frame`, a child of the leaf, is entered */
    HISTORY_ENTER_MOVABLE, /* enters `frame`, a child of the leaf or of a frame further out:
                            * those between were unwound */
    HISTORY_RETURN,        /* back to `frame`, which is further out; those above it returned */
    HISTORY_UNWIND,        /* likewise, but those above were unwound: longjmp, exception */
    HISTORY_REPLACE,       /* the leaf is replaced by `frame`, its sibling: tail call */
    HISTORY_END_GAP,       /* the segment ends because the control flow from here on is unknown */
    HISTORY_END_EXEC,      /* ... because the process executed another program */
    HISTORY_END_TRACE,     /* ... because the trace ends */
    HISTORY_END_UNWIND,    /* ... because control continues in a frame further out, unknown in
                         * which; the next one begins there */
    HISTORY_END_SWITCH,    /* ... because another stack continues (a fiber): the next segment */
    HISTORY_RESUME,        /* another stack continues, in `frame`, which was suspended earlier */
    HISTORY_GAP,           /* between segments: gap number `frame` begins */
    HISTORY_GAP_END,       /* gap number `frame` ends */
    HISTORY_INLINED_MOVE, /* control goes from one inlined function of the leaf to another: move number
                             * `frame` (inlined_moves.h) */
    HISTORY_INLINED, /* step by step: inlined function number `frame` (inlined_id) begins in the leaf */
    HISTORY_INLINED_BEFORE, /* likewise, and has begun before */
    HISTORY_INLINED_END,    /* those inside of number `frame` end */
    HISTORY_CALL_VALUES,    /* arguments or the result of the leaf: thread_stack.call_values from
                             * index `frame` on */
    HISTORY_DEATH,          /* a signal ends the process in this thread: thread_stack.death */
    HISTORY_KIND_COUNT
};

struct history_step {
    struct ticks time;
    enum history_kind kind;
    uint32_t frame;
};

enum {
    HISTORY_CHUNK_SHIFT = 15,
    HISTORY_CHUNK_SIZE = 1 << HISTORY_CHUNK_SHIFT /* steps; 256 KiB */
};

/* Packed steps; see above. */
enum { HISTORY_KIND_BITS = 5, HISTORY_DELTA_BITS = 27 };
static const uint64_t history_kind_mask = (UINT64_C(1) << HISTORY_KIND_BITS) - 1;
static const uint64_t history_delta_maximum = (UINT64_C(1) << HISTORY_DELTA_BITS) - 1;

_Static_assert(HISTORY_KIND_COUNT <= 1 << HISTORY_KIND_BITS, "a kind must fit its bits");

struct history {
    struct array chunks;       /* of uint64_t *, each of HISTORY_CHUNK_SIZE */
    uint64_t *free, *free_end; /* unused steps of the newest chunk */
    uint64_t count;            /* packed steps */
    struct ticks first;        /* of the first step */
    struct ticks last;         /* of the newest step */
};

void history_init(struct history *history);
void history_free(struct history *history);

/* history_add where more is needed than to write one step. */
void history_add_slowly(struct history *history, struct ticks time, enum history_kind kind,
                        uint32_t frame);

/* A packed step at the time of the one before. */
static inline uint64_t history_step_of(enum history_kind kind, uint32_t frame)
{
    return (uint64_t)frame << (HISTORY_KIND_BITS + HISTORY_DELTA_BITS) | kind;
}

/* A time before that of the previous step is replaced by it. */
static inline void history_add(struct history *history, struct ticks time, enum history_kind kind,
                               uint32_t frame)
{
    uint64_t delta = time.value - history->last.value;
    if (delta > history_delta_maximum || history->free == history->free_end) {
        history_add_slowly(history, time, kind, frame);
        return;
    }
    history->last = time;
    history->count++;
    *history->free++ = history_step_of(kind, frame) | delta << HISTORY_KIND_BITS;
}

/* The end of a history, for those who add many steps at once: it is not in memory that each step could have changed. Until
 * it is put back nothing else may add to the history. */
struct history_end {
    uint64_t *free, *free_end;
    struct ticks last;
};

static inline struct history_end history_take_end(const struct history *history)
{
    return (struct history_end){history->free, history->free_end, history->last};
}

/* As history_add. False: nothing was added, more is needed than to write one step. */
static inline bool history_end_add(struct history_end *end, struct ticks time,
                                   enum history_kind kind, uint32_t frame)
{
    uint64_t delta = time.value - end->last.value;
    if (delta > history_delta_maximum || end->free == end->free_end)
        return false;
    end->last = time;
    *end->free++ = history_step_of(kind, frame) | delta << HISTORY_KIND_BITS;
    return true;
}

static inline void history_put_back(struct history *history, const struct history_end *end)
{
    history->count += (uint64_t)(end->free - history->free);
    history->free = end->free;
    history->last = end->last;
}

/* A position in a history, which must not grow while it is in use. */
struct history_cursor {
    const struct history *history;
    const uint64_t *at, *end; /* of a chunk: the next packed step, and the end */
    size_t next_chunk;
    struct ticks time;
};

struct history_cursor history_cursor_of(const struct history *history);

/* Continues with the next chunk. False at the end. */
bool history_next_chunk(struct history_cursor *cursor);

/* Unpacks the step after the one at `time`, and advances `time` to it. False: it is only a pause.
 */
static inline bool history_unpack(uint64_t packed, struct ticks *time, struct history_step *step)
{
    enum history_kind kind = (enum history_kind)(packed & history_kind_mask);
    if (kind == HISTORY_PAUSE) {
        time->value += packed >> HISTORY_KIND_BITS;
        return false;
    }
    time->value += packed >> HISTORY_KIND_BITS & history_delta_maximum;
    step->time = *time;
    step->kind = kind;
    step->frame = (uint32_t)(packed >> (HISTORY_KIND_BITS + HISTORY_DELTA_BITS));
    return true;
}

/* False at the end. */
static inline bool history_next(struct history_cursor *cursor, struct history_step *step)
{
    while (cursor->at != cursor->end || history_next_chunk(cursor))
        if (history_unpack(*cursor->at++, &cursor->time, step))
            return true;
    return false;
}

#endif
