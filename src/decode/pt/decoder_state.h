/* What a decoder knows while it decodes, and how its parts call each other. Private to decoder*.c
 * and of the short ways. */
#ifndef MAGIC_TRACE_DECODE_PT_DECODER_STATE_H
#define MAGIC_TRACE_DECODE_PT_DECODER_STATE_H

#include "decode/pt/decoder.h"
#include "decode/pt/errata.h"
#include "decode/pt/fast/tnt_cache.h"
#include "decode/pt/packet_time.h"
#include "packet/packet_decoder.h"

struct decoder_shared {
    const struct pt_setup *setup; /* borrowed from perf_data */
    struct errata errata;
    struct traced_code traced;
    struct symbols *symbols;
};

struct decoder_memory {
    struct shared_blocks *shared; /* borrowed; NULL: none */
    struct array processes;       /* struct tnt_cache *: of each process met so far */
};

/* What the next FUP packet belongs to. */
enum fup_owner {
    FUP_OF_NOTHING, /* something asynchronous: a TIP or TIP.PGD follows */
    FUP_OF_OVERFLOW,
    FUP_OF_STOP, /* EXSTOP */
    FUP_OF_PTWRITE,
    FUP_OF_TRANSACTION,
    FUP_OF_NO_CONSEQUENCE,
};

struct decoder {
    struct decoder_shared *shared;
    struct decoder_memory *memory;
    struct decoder_input input;
    const uint8_t *next;   /* the packet to be read next */
    const uint8_t *packet; /* the one that decoder_take_packet has taken last */
    const uint8_t *stop;   /* the end of the slice */
    const uint8_t *end;    /* the end of the stretch */
    bool ended;

    /* Who runs, and what time it is. */
    size_t schedule_next;
    struct tnt_cache *tnt_cache; /* of the process that runs; NULL: nobody knows */
    struct packet_time time;
    uint64_t deadline; /* the time (ticks) from which on side-band records are due */
    bool time_is_news; /* the packet before told the time */
    /* CYC stands in front of a TNT packet and is written together with it: when it is full, or when
     * a TIP or the end of tracing must follow. So its time is that of the last branch before the
     * next packet that tells one. It is told when that comes. */
    bool holds_time;
    bool counts_cycles; /* there have been CYC packets */

    struct control_flow flow;
    struct return_stack returns;

    /* Where execution is. */
    bool enabled;            /* packets are generated: between TIP.PGE and TIP.PGD */
    struct ticks enabled_at; /* since when */
    struct block *at;        /* runs next; NULL: tracing is off, or the place is not known */
    /* Of the short ways, which leave `at` and flow.last_ip behind: */
    uint32_t at_id;    /* of the block that runs next */
    uint32_t last_id;  /* of the block whose stride has run last; 0: flow.last_ip is right */
    uint8_t mode;      /* enum x86_mode */
    uint8_t next_mode; /* from the next TIP packet on */
    uint64_t last_ip;  /* of packets */

    /* What is to be minded with the next packets; while there is anything, `plain` is false. */
    bool plain; /* tracing is on, the place known, and there is nothing below */
    enum fup_owner fup_owner;
    bool has_fup; /* an asynchronous event at `fup` is waiting for its TIP */
    uint64_t fup;
    uint64_t value; /* of PTWRITE */
    uint8_t value_size;
    bool has_stack; /* the stack pointer behind the next branch is `stack` */
    uint64_t stack;
    bool transaction;    /* what runs is inside one */
    bool in_transaction; /* what MODE.TSX said, until its FUP */
    bool aborted;        /* a transaction has failed: the next asynchronous event tells */
    uint8_t item_size;   /* inside BBP..BEP */
    uint8_t event_data;  /* what EVD packets have told of the event that comes: bits by type */
};

/* Finds out who runs and where execution is at the beginning of the slice. */
void decoder_begin(struct decoder *decoder);

/* Takes the PSB at the end of the slice and what belongs to it. */
void decoder_take_next_psb_segment(struct decoder *decoder);

/* ---- decoder_packets.c ---- */

/* Takes the packet at decoder->next, whatever it is. */
void decoder_take_packet(struct decoder *decoder);

/* A packet that tells the time moves decoder->time on. */
void decoder_take_time(struct decoder *decoder, const struct pt_packet *packet);

/* ---- fast_packets.c ---- */

/* Takes the packets at decoder->next as long as there are short ways for them, while
 * decoder->plain. Counts `steps` down. */
void decoder_take_fast_packets(struct decoder *decoder, uint64_t *steps);

/* ---- decoder_branches.c: decoder->next is behind the packet ---- */

/* TNT bits, oldest first, under a leading 1; the address of a TIP. */
void decoder_take_bits(struct decoder *decoder, uint64_t marked_bits);
void decoder_take_tip(struct decoder *decoder, uint64_t ip);
/* The address of a TIP.PGE, of a TIP.PGD (0: it has none). */
void decoder_take_enable(struct decoder *decoder, uint64_t ip);
void decoder_take_disable(struct decoder *decoder, uint64_t ip);
void decoder_take_overflow(struct decoder *decoder);
void decoder_take_trace_stop(struct decoder *decoder);

/* ---- decoder_psb.c ---- */

void decoder_take_psb(struct decoder *decoder);

/* Goes to the next PSB, or to the end of the data. */
void decoder_synchronize(struct decoder *decoder);

/* Whether the next packet that is not about time or modes is a TIP.PGE: then tracing is off,
 * whatever a PSB's header (BDM70) or the FUP behind an overflow (APL12) says. */
bool decoder_is_before_enable(const struct decoder *decoder);

/* The processor wrote OVF when it had written the first byte of this CYC packet (SKD007). */
bool decoder_is_cut_by_overflow(const struct decoder *decoder, const struct pt_packet *packet);

/* Passes over a TMA packet that is no packet because of SKZ84; false when it is none, or good. */
bool decoder_skip_bad_tma(struct decoder *decoder, enum pt_packet_status status);

/* enum x86_mode, of the bits of a MODE.Exec packet. */
uint8_t decoder_mode_of(uint64_t bits);

/* ---- decoder_place.c ---- */

/* A walk from where execution is. */
struct block_walk decoder_begin_walk(struct decoder *decoder);

/* All branches before have happened by now. The second, for an event that happens now, says whether
 * a packet has told its time. */
void decoder_report_time(struct decoder *decoder);
bool decoder_report_event_time(struct decoder *decoder);

/* The time has reached `wake`: finds out who runs now, and what is mapped. */
void decoder_reach_deadline(struct decoder *decoder);
void decoder_check_deadline(struct decoder *decoder);

void decoder_forget_place(struct decoder *decoder);
/* That a FUP packet waits for its companion. */
void decoder_forget_asynchronous(struct decoder *decoder);
void decoder_go_to(struct decoder *decoder, uint64_t ip);

/* Tracing starts at `ip`. */
void decoder_resume(struct decoder *decoder, uint64_t ip);

/* Walks on to `ip`; false when that failed, which has been told. */
bool decoder_reach(struct decoder *decoder, uint64_t ip);

/* The data does not fit together; `ip`: where that was noticed, 0 unknown. decoder_fail then goes
 * on at the next PSB, or, where only code is missing, with the next address. */
void decoder_report_failure(struct decoder *decoder, enum decode_error error, uint64_t ip);
void decoder_fail(struct decoder *decoder, enum decode_error error, uint64_t ip);

/* Lets the control flow know where execution is, which the short ways do not. */
static inline void decoder_report_place(struct decoder *decoder)
{
    if (!decoder->at)
        return;
    decoder->flow.current = decoder->at->bounds;
    decoder->flow.branch_kind = BRANCH_NONE;
}

/* A packet is about to tell the time: what the one before told is settled. */
static inline void decoder_settle_time(struct decoder *decoder)
{
    if (decoder->holds_time)
        event_batch_anchor(&decoder->flow.batch, decoder->flow.position, decoder->time.now);
    decoder->holds_time = false;
}

/* To be called when anything has changed that `plain` tells of. */
static inline void decoder_settle(struct decoder *decoder)
{
    decoder->plain = decoder->at && !decoder->has_fup && !decoder->has_stack &&
                     !decoder->transaction && !decoder->item_size &&
                     decoder->fup_owner == FUP_OF_NOTHING && !decoder->flow.observer &&
                     !control_flow_is_within(&decoder->flow, decoder->at->ip);
}

#endif
