/* The arena as the recorder sees it: the file DIR/translator/arena, mapped whole.
 *
 * The layout is runtime/translator/layout.h's. Made by the engine before the program starts, opened again by salvage.
 * Traced processes can write anything into it, and be killed at any instruction, so nothing in it is trusted: the
 * geometry is copied once and checked, and the other files of this folder check what they read where they read it.
 */
#ifndef MAGIC_TRACE_ENGINE_TRANSLATOR_ARENA_H
#define MAGIC_TRACE_ENGINE_TRANSLATOR_ARENA_H

#include "base/error.h"
#include "engine/packets/log_reader.h"
#include "process/processes.h"
#include "runtime/translator/layout.h"

#include <stdbool.h>
#include <stdint.h>

/* Offsets and sizes in bytes, all within the arena. */
struct tr_geometry {
    uint64_t log_offset, log_size;
    uint64_t table_offset, table_size; /* of the first table; of each */
    uint64_t slot_offset, slot_size;   /* of the first slot; of each */
    uint64_t dump_offset, dump_size;
    uint32_t table_count, slot_count;
};

struct translator_arena {
    struct tr_control *control; /* at the beginning of `bytes`; shared with the traced processes */
    uint8_t *bytes;
    struct mapped_file file; /* by which processes that have mapped it are found */
    uint64_t size;
    char *path;     /* absolute; owned */
    int descriptor; /* read-write, close-on-exec; owned */
    struct tr_geometry geometry;
    _Atomic uint8_t *readable; /* bool, by slot, then by table: its first page is there; owned */
    struct tr_options options; /* as they were when the arena was made or opened */
};

/* Makes DIR/translator with the arena, and DIR/images; `directory` is absolute. The file is sparse:
 * the disk is taken as it is written. ERROR_USAGE when DIR holds a recording that was not finished.
 */
bool translator_arena_create(struct translator_arena *arena, const char *directory,
                             const struct tr_options *options, struct error *error);

/* Of a recording that another magic-trace began. ERROR_NOT_FOUND if not found. */
bool translator_arena_open(struct translator_arena *arena, const char *directory,
                           struct error *error);

/* Unmaps it; the file stays. */
void translator_arena_close(struct translator_arena *arena);

/* Removes DIR/translator, and DIR/images if nothing is in it. */
void translator_arena_remove(const char *directory);

/* Hands out a slot or fragment table. False, and counted as lost, when all are in use. */
bool translator_arena_reserve_slot(struct translator_arena *arena, uint32_t *index);
bool translator_arena_reserve_table(struct translator_arena *arena, uint32_t *index);

/* Takes one back whose thread or process writes no more, or never began, and of which all has been read. What its content took of the
 * disk is given back, but for what the next one needs at once. */
void translator_arena_release_slot(struct translator_arena *arena, uint32_t index);
void translator_arena_release_table(struct translator_arena *arena, uint32_t index);

/* How many may have been handed out at the same time: indexes below can be asked for. */
uint32_t translator_arena_slots(const struct translator_arena *arena);
uint32_t translator_arena_tables(const struct translator_arena *arena);

/* NULL when its thread has not filled in the header, or what is there cannot be a slot's header:
 * then `error` (if it is not NULL) has ERROR_NOT_FOUND or ERROR_FORMAT. The ring after it has
 * options.ring_size bytes. */
struct tr_slot *translator_arena_slot(const struct translator_arena *arena, uint32_t index,
                                      struct error *error);

/* How often the slot was used before, also while no thread uses it. */
uint32_t translator_arena_generation(const struct translator_arena *arena, uint32_t index);

/* Likewise; descriptions lie at TR_PAGE up to geometry.table_size. */
const struct tr_table *translator_arena_table(const struct translator_arena *arena, uint32_t serial,
                                              struct error *error);

/* The time now, in ticks, of a thread that does nothing; 0 with the instruction clock. */
uint64_t translator_arena_now(const struct translator_arena *arena);

/* The sideband log as it is now. */
struct log_reader translator_arena_sideband(const struct translator_arena *arena);

/* Freezes the recording: all threads leave the translator the next time they check, and the time is stored. Nothing
 * changes when it is frozen already. The traced programs run on. */
void translator_arena_freeze(struct translator_arena *arena);

/* Whether the process, `pid` as it knows itself, runs natively again, all of its threads or soon all of them. */
bool translator_arena_has_left(const struct translator_arena *arena, uint32_t pid);

/* Whether a process of that number is or was traced, and has not left. */
bool translator_arena_traces(const struct translator_arena *arena, uint32_t pid);

/* Whether a forked process has not begun yet: it maps the arena, and will have a number there. */
bool translator_arena_awaits_child(const struct translator_arena *arena);

/* A process, `pid` as it knows itself, has begun to run another program: its threads have ended. */
void translator_arena_executed(struct translator_arena *arena, uint32_t pid);

/* Waits until the threads that are still alive have seen that the recording is frozen: those that sleep in the kernel
 * write no more. Waits at most a fifth of a second for a thread that runs for long without checking. */
void translator_arena_settle(struct translator_arena *arena);

#endif
