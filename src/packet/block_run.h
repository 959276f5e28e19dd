/* Runs of blocks: what the branches between them add to the packets, worked out once.
 *
 * For an encoder's owner who meets the same blocks in the same order again and again (the translator's transcoder).
 * A run begins with a block that was stepped into already, and its last block begins when it has been taken: so
 * runs follow each other as their last and first blocks do. Taking one writes what stepping into its blocks would, but
 * a PSB+ comes at the end of a run.
 *
 * Most runs are nothing but a few TNT bits, and pt_block_runs_take adds those of many runs in one loop: struct
 * pt_block_run is small, so that the owner can keep it where it finds it. The rest is in struct pt_run_parts. After the
 * first indirect branch of a part, packets do not depend on what was before: they are kept as they are written.
 *
 * The encoder's packets lie in a row up to its limit (its mask is UINT64_MAX).
 */
#ifndef MAGIC_TRACE_PACKET_BLOCK_RUN_H
#define MAGIC_TRACE_PACKET_BLOCK_RUN_H

#include "packet/encoder.h"

enum {
    PT_PART_BITS = PT_TNT_BITS, /* in a part: they make one packet full at most */
    PT_RUN_CALLS = 8,           /* calls of a run that are in progress at the same time */
    PT_RUN_PARTS = 32,
    PT_RUN_SIZE = 8 << 10, /* bytes, of all that struct pt_run_parts points to */
    PT_RUN_INSTRUCTIONS = UINT16_MAX,
};

/* How a part ends. */
enum pt_part_end {
    PT_PART_RUN_ENDS, /* the run's last block begins */
    PT_PART_FULL,     /* the next part goes on */
    PT_PART_RETURN,   /* a return to a call before the run */
    PT_PART_JUMP, /* an indirect jump, or an indirect call, which is among the calls; perhaps packets after it */
};

/* Some TNT bits, calls, and one branch that needs a look at the encoder's state. Instructions are counted from the end of
 * the run's first block; places are bytes from the run's first part on. */
struct pt_run_part {
    uint64_t target; /* of the return or jump */
    uint64_t newest; /* address in the last of the packets after the jump; else `target` */
    uint64_t bits;
    uint16_t instructions;  /* before the return or jump */
    uint16_t packets, size; /* place and bytes of the packets after the jump */
    uint16_t
        calls;   /* place: where the calls return to that are in progress after it and began in it,
                             * uint64_t each, the outermost first */
    uint16_t at; /* place: instructions before each bit, uint16_t each */
    uint8_t bit_count, call_count;
    uint8_t popped;  /* calls of earlier parts that have returned in it */
    uint8_t deepest; /* calls in progress at the same time, at most, beside those before it */
    uint8_t end;     /* enum pt_part_end */
};

struct pt_run_parts {
    struct pt_code_block *first, *last;
    struct pt_run_part *part; /* and what their places are of: owned by whoever made room for it */
    uint16_t room;            /* bytes of packets, at most */
    bool has_packets;         /* after jumps: they have no times */
};

struct pt_block_run {
    const struct pt_run_parts *parts; /* NULL: the run of one block, with nothing in it */
    uint32_t bits;                    /* if it is one part of so few bits alone */
    uint16_t instructions;            /* of the blocks after the first */
    uint8_t bit_count;
    uint8_t part_count; /* 0: these bits are all; more than PT_RUN_PARTS: it cannot be taken */
};

/* The run of the `count` blocks, two at least, of PT_RUN_INSTRUCTIONS at most; at `parts->part` are PT_RUN_SIZE bytes.
 * Returns how many of them it needs; they may be moved. Where the packets of a branch are not known beforehand, or are too
 * many, the run cannot be taken, and is 0 bytes: its blocks are to be stepped into. */
size_t pt_block_run_make(struct pt_block_run *run, struct pt_run_parts *parts,
                         struct pt_code_block *const *blocks, size_t count);

/* The program's stack pointer as the owner knows it: calls of a run lower it, and returns to calls in progress put it
 * above their place in the stack. */
struct pt_run_stack {
    uint64_t *pointer; /* pt_encoder_know_stack has its address, too */
    void (*returned)(void *context,
                     uint64_t pc); /* the newest call does not return to `pc`: sets *pointer */
    void *context;
};

/* Takes the runs in turn, the first of which begins with the block that was stepped into last. Returns how many were
 * taken: fewer than `count` if the next one cannot be taken, or there is no room for it, so that its blocks are to be
 * stepped into. */
size_t pt_block_runs_take(struct pt_encoder *encoder, const struct pt_block_run *const runs[],
                          size_t count, const struct pt_run_stack *stack);

#endif
