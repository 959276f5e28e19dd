/* The log of one thread -> Intel PT packets.
 *
 * Called by transcoding.c, for one slot at a time: once when the thread writes no more, or again and again while it
 * runs. Records that make no sense become a gap (OVF) and are reported once.
 */
#ifndef MAGIC_TRACE_ENGINE_TRANSLATOR_TRANSCODER_H
#define MAGIC_TRACE_ENGINE_TRANSLATOR_TRANSCODER_H

#include "engine/translator/transcode/code_changes.h"
#include "engine/translator/transcode/log_cursor.h"
#include "engine/translator/transcode/moments.h"
#include "engine/translator/transcode/pace.h"
#include "engine/translator/transcode/path.h"
#include "engine/translator/transcode/pauses.h"
#include "engine/translator/transcode/step_encoder.h"

/* What the transcoders of a recording share. */
struct transcoder_shared {
    const struct translator_arena *arena;
    const char *folder; /* DIR/translator, where the packets go */
    struct fragments *fragments;
    struct ways *ways;
    struct callers *callers; /* NULL: stacks are not unwound */
    struct off_cpu *off_cpu; /* NULL: it is not known when threads were not running */
    struct code_changes *changes;
};

struct transcoder {
    const struct transcoder_shared *shared;
    const struct tr_slot *slot;
    struct log_cursor cursor;
    struct way_table *ways; /* of its address space */
    struct path path;
    struct step_encoder coder;
    struct pace pace;
    double pace_scale;    /* up to the time reached: ticks for each that is expected; 0: unknown */
    uint64_t reached;     /* that time, ticks */
    uint64_t reaches;     /* instructions that have run then */
    struct pauses pauses; /* up to that time */
    struct code_changes_cursor changes;
    bool skipped_stamp;     /* since that time */
    struct moments moments; /* with the instruction clock */

    struct log_record stack_copy; /* the newest TR_CALLS or TR_SWITCHED, if it was not used yet */
    bool has_stack_copy;
    bool stack_copy_due;  /* the fragment that it is of was entered, and its beginning comes next */
    bool begins;          /* the next fragment is the first of which anything is known */
    uint64_t next_entry;  /* ticks: the next fragment begins then; 0: not known beforehand */
    uint64_t new_code_at; /* ticks: code that may run next was mapped then; 0: none */
    uint64_t settled;     /* stream position: nothing of the log before it is needed any more */
    struct error damage;  /* the first record that made no sense */
};

/* The log of `slot` will be read from its beginning, which was at `start` by the recording's clock (0: not known).
 * `shared` is borrowed until transcoder_close. */
bool transcoder_begin(struct transcoder *transcoder, const struct transcoder_shared *shared,
                      const struct tr_slot *slot, uint64_t start, struct error *error);

/* Goes on after the packets of a recorder that was killed, which had read the log up to slot->read_to. */
bool transcoder_resume(struct transcoder *transcoder, const struct transcoder_shared *shared,
                       const struct tr_slot *slot, struct error *error);

/* The log will be read from the oldest record that its ring still holds, to the last word. */
void transcoder_begin_ring(struct transcoder *transcoder);

/* Transcodes what the cursor has. */
void transcoder_read(struct transcoder *transcoder);

/* Whether what is read next should be transcoded quickly, with times that are less precise, because its thread may have to wait
 * for it. */
void transcoder_hurry(struct transcoder *transcoder, bool hurry);

/* The thread writes no more, and all was read: writes what was waiting for later records. */
void transcoder_finish(struct transcoder *transcoder);

void transcoder_close(struct transcoder *transcoder);

#endif
