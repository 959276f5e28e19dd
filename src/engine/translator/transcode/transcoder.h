/* The log of one thread -> Intel PT packets.
 *
 * Called by transcoding.c, for one slot at a time: once when the thread writes no more, or again and again while it
 * runs. Records that make no sense become a gap (OVF) and are reported once.
 */
#ifndef MAGIC_TRACE_ENGINE_TRANSLATOR_TRANSCODER_H
#define MAGIC_TRACE_ENGINE_TRANSLATOR_TRANSCODER_H

#include "engine/translator/transcode/call_stack.h"
#include "engine/translator/transcode/callers.h"
#include "engine/translator/transcode/log_cursor.h"
#include "engine/translator/transcode/moments.h"
#include "engine/translator/transcode/off_cpu.h"
#include "engine/translator/transcode/pace.h"
#include "engine/translator/transcode/packet_file.h"
#include "engine/translator/transcode/path.h"
#include "engine/translator/transcode/timeline.h"

/* What the transcoders of a recording share. */
struct transcoder_shared {
    const struct translator_arena *arena;
    const char *folder; /* DIR/translator, where the packets go */
    struct fragments *fragments;
    struct ways *ways;
    struct callers *callers; /* NULL: stacks are not unwound */
    struct off_cpu *off_cpu; /* NULL: it is not known when threads were not running */
};

struct transcoder {
    struct pt_encoder_owner owner; /* first */
    const struct transcoder_shared *shared;
    struct way_table *ways; /* of its address space */
    const struct tr_slot *slot;
    struct packet_file file;
    struct pt_encoder *encoder; /* in `file` */
    struct log_cursor cursor;
    struct path path;
    struct timeline timeline;
    struct pace pace;
    double
        pace_scale; /* up to the time that is reached: ticks for each that is expected; 0: unknown */
    uint64_t reaches;       /* instructions that have run then */
    uint64_t reached;       /* that time, ticks */
    struct array pauses;    /* of struct pause: up to that time, in order */
    size_t next_pause;      /* the first of them that the steps have not come to */
    struct moments moments; /* with the instruction clock */
    struct call_stack calls;
    uint64_t reported_at; /* instructions: when callers were reported last */
    struct pt_call *call_ring;

    struct log_record
        stack_copy; /* the newest TR_CALLS or TR_SWITCHED, if its fragment was not entered yet */
    bool has_stack_copy;
    bool begins;          /* the next fragment is the first of which anything is known */
    uint64_t next_entry;  /* ticks: the next fragment begins then; 0: not known beforehand */
    uint64_t new_code_at; /* ticks: code that may run next was mapped then; 0: none */
    /* Of the next block: */
    bool arrival_due; /* a trigger was hit there: its beginning is reported ... */
    uint64_t arrival; /* ... with this time, ticks */
    bool new_code;    /* it may have replaced other code that has run */
    struct array
        values; /* of uint64_t: what is recorded there: the words of TR_VALUES records, each after their number */
    uint32_t begun; /* instructions that were counted and have not run: of the block that begins */
    uint64_t settled;    /* stream position: nothing of the log before it is needed any more */
    struct error damage; /* the first record that made no sense */

    /* Blocks that were interrupted in their middle, in turn: the encoder looks at the last one. */
    struct pt_code_block *cut[2];
    unsigned cuts;
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

/* The thread writes no more, and all was read: writes what was waiting for later records. */
void transcoder_finish(struct transcoder *transcoder);

void transcoder_close(struct transcoder *transcoder);

#endif
