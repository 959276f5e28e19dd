/* Steps -> packets: the blocks that ran and the events between them become Intel PT packets, with the times that the
 * timeline gives, callers, stack pointers, arguments and results.
 *
 * Used by transcoder.c, which knows the path and sets the times; one for each thread's packet file.
 */
#ifndef MAGIC_TRACE_ENGINE_TRANSLATOR_STEP_ENCODER_H
#define MAGIC_TRACE_ENGINE_TRANSLATOR_STEP_ENCODER_H

#include "engine/translator/transcode/call_stack.h"
#include "engine/translator/transcode/callers.h"
#include "engine/translator/transcode/packet_file.h"
#include "engine/translator/transcode/path.h"
#include "engine/translator/transcode/timeline.h"

struct step_encoder {
    struct pt_encoder_owner owner; /* first */
    const struct translator_arena *arena;
    struct callers *callers; /* NULL: stacks are not unwound */
    uint32_t pid;
    struct packet_file file;
    struct pt_encoder *encoder; /* in `file` */
    struct timeline timeline;
    struct call_stack calls;
    struct pt_call *call_ring;
    uint64_t reported_at; /* instructions: when callers were reported last */
    uint32_t begun; /* instructions that were counted and have not run: of the block that begins */
    bool selected_begins; /* the next copy of a stack is of a selected call's beginning */

    /* Of the next block: */
    bool arrival_due; /* a trigger was hit there: its beginning is reported ... */
    uint64_t arrival; /* ... with this time, ticks */
    bool new_code;    /* it may have replaced other code that has run */
    /* uint64_t: what is recorded there: the words of TR_VALUES records, each after their number */
    struct array values;

    /* Blocks that were interrupted in their middle, in turn: the encoder looks at the last one. */
    struct pt_code_block *cut[2];
    unsigned cuts;
};

/* The packets of the thread of `slot`, from `start` on (ticks by the recording's clock; 0: not known). `file` is open and all else of
 * `coder` is 0; `arena` and `callers` are borrowed until step_encoder_close, which closes the file, too. */
void step_encoder_begin(struct step_encoder *coder, const struct translator_arena *arena,
                        const struct tr_slot *slot, struct callers *callers, uint64_t start);
void step_encoder_close(struct step_encoder *coder);

/* What is encoded goes into the file. False: the disk is full, and the file says so. */
bool step_encoder_flush(struct step_encoder *coder);

/* A step with blocks. */
void step_encoder_run(struct step_encoder *coder, const struct path_step *step);

/* Those of a step with ways, or a part of them. */
void step_encoder_take_ways(struct step_encoder *coder, const struct pt_block_run *const *runs,
                            size_t count);

/* What a record says that is no entry. */
void step_encoder_event(struct step_encoder *coder, const struct log_record *event);

/* What comes next is unknown: a gap. */
void step_encoder_lose(struct step_encoder *coder);

/* Instructions that have run, without those of the block that has just begun. */
uint64_t step_encoder_executed(const struct step_encoder *coder);

/* What was encoded so far was at `time`. */
void step_encoder_set_time(struct step_encoder *coder, uint64_t time);

/* The thread was off its processor from `begin`, when what was encoded so far had run, to `end`. */
void step_encoder_pause(struct step_encoder *coder, uint64_t begin, uint64_t end);

/* The code that ran was replaced meanwhile: `next`, where it leads to, is in what has taken its place or elsewhere. */
void step_encoder_leave_old_code(struct step_encoder *coder, const struct pt_code_block *next);

#endif
