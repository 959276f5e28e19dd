/* The state of a decoder, and how its parts call each other. Private to decoder*.c and the fast
 * path.
 */
#ifndef MAGIC_TRACE_DECODE_PT_DECODER_STATE_H
#define MAGIC_TRACE_DECODE_PT_DECODER_STATE_H

#include "decode/pt/decoder_input.h"
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
    struct array processes; /* struct tnt_cache *: of each process seen so far */
};

/* What the next FUP packet belongs to. */
enum fup_owner {
    FUP_OF_NOTHING, /* an asynchronous event: a TIP or TIP.PGD follows */
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
    const uint8_t *packet; /* the packet that decoder_take_packet took last */
    const uint8_t *stop;   /* the end of the PSB segment */
    const uint8_t *end;    /* the end of the trace segment */
    bool ended;

    /* Which thread runs, and the time. */
    size_t schedule_next;
    struct tnt_cache *tnt_cache; /* of the process that runs; NULL: unknown */
    struct packet_time time;
    uint64_t deadline; /* the time (ticks) at which the next sideband record is due */
    bool time_is_news; /* the packet before gave the time */
    /* CYC is written together with the TNT packet after it: when that is full, or when a TIP or the
     * end of tracing must follow. So its time is that of the last branch before the next packet
     * that gives a time, and is reported when that packet comes. */
    bool holds_time;
    bool counts_cycles; /* there were CYC packets */

    struct control_flow flow;
    struct return_stack returns;

    /* Where execution is. */
    bool enabled;            /* packets are generated: between TIP.PGE and TIP.PGD */
    struct ticks enabled_at; /* since when */
    struct block *at;        /* runs next; NULL: tracing is off, or the address is unknown */
    /* Of the fast path, which does not update `at` and flow.last_ip: */
    uint32_t at_id;    /* of the block that runs next */
    uint32_t last_id;  /* of the block whose superblock ran last; 0: flow.last_ip is right */
    uint8_t mode;      /* enum x86_mode */
    uint8_t next_mode; /* takes effect with the next TIP packet */
    uint64_t last_ip;  /* of packets */

    /* State that the next packets depend on; while any is set, `plain` is false. */
    bool plain; /* tracing is on, the address known, and nothing below is set */
    enum fup_owner fup_owner;
    bool has_fup; /* an asynchronous event at `fup` waits for its TIP */
    uint64_t fup;
    uint64_t value; /* of PTWRITE */
    uint8_t value_size;
    uint32_t call_values; /* PTWRITE packets that hold words of a call's values come next */
    bool has_stack;       /* the stack pointer after the next branch is `stack` */
    uint64_t stack;
    bool transaction;    /* the code that runs is inside a transaction */
    bool in_transaction; /* from MODE.TSX, until its FUP */
    bool aborted;        /* a transaction failed: the next asynchronous event is its abort */
    uint8_t item_size;   /* inside BBP..BEP */
    uint8_t event_data;  /* which data EVD packets gave of the next event: bits by type */
};

/* Finds out which thread runs and where at the beginning of the PSB segment. */
void decoder_begin(struct decoder *decoder);

/* Takes the PSB at the end of the PSB segment and its header. */
void decoder_take_next_psb_segment(struct decoder *decoder);

/* ---- decoder_packets.c ---- */

/* Takes the packet at decoder->next, whatever it is. */
void decoder_take_packet(struct decoder *decoder);

/* A packet that gives the time advances decoder->time. */
void decoder_take_time(struct decoder *decoder, const struct pt_packet *packet);

/* ---- fast_packets.c ---- */

/* Takes the packets at decoder->next while the fast path handles them and decoder->plain holds.
 * Counts `steps` down. */
void decoder_take_fast_packets(struct decoder *decoder, uint64_t *steps);

/* ---- counted_packets.c ---- */

/* As decoder_take_fast_packets, for an observer with `repeated`: makes no flow events, and counts in
 * decoder->tnt_cache->counts. */
void decoder_take_counted_packets(struct decoder *decoder, uint64_t *steps);

/* ---- decoder_branches.c: decoder->next is after the packet ---- */

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
 * whatever a PSB's header (BDM70) or the FUP after an overflow (APL12) says. */
bool decoder_is_before_enable(const struct decoder *decoder);

/* The processor wrote OVF after it had written only the first byte of this CYC packet (SKD007). */
bool decoder_is_cut_by_overflow(const struct decoder *decoder, const struct pt_packet *packet);

/* Skips a TMA packet that is malformed because of SKZ84; false if it is not one, or well-formed. */
bool decoder_skip_bad_tma(struct decoder *decoder, enum pt_packet_status status);

/* enum x86_mode, of the bits of a MODE.Exec packet. */
uint8_t decoder_mode_of(uint64_t bits);

/* ---- decoder_place.c ---- */

/* A walk from where execution is. */
struct block_walk decoder_begin_walk(struct decoder *decoder);

/* Reports that all branches before have happened by now. The second, for an event that happens now,
 * returns whether a packet gave its time. */
void decoder_report_time(struct decoder *decoder);
bool decoder_report_event_time(struct decoder *decoder);

/* The time has reached `deadline`: updates which thread runs and what is mapped. */
void decoder_reach_deadline(struct decoder *decoder);
void decoder_check_deadline(struct decoder *decoder);

void decoder_forget_place(struct decoder *decoder);
/* Forgets that a FUP packet waits for its companion. */
void decoder_forget_asynchronous(struct decoder *decoder);
void decoder_go_to(struct decoder *decoder, uint64_t ip);

/* Tracing starts at `ip`. */
void decoder_resume(struct decoder *decoder, uint64_t ip);

/* Walks on to `ip`; false if that failed, which has been reported. */
bool decoder_reach(struct decoder *decoder, uint64_t ip);

/* Packets and code do not agree; `ip`: where that was noticed, 0: unknown. decoder_fail then
 * continues at the next PSB, or, where only code is missing, at the next address. */
void decoder_report_failure(struct decoder *decoder, enum decode_error error, uint64_t ip);
void decoder_fail(struct decoder *decoder, enum decode_error error, uint64_t ip);

/* Updates the control flow's address, which the fast path does not. */
static inline void decoder_report_place(struct decoder *decoder)
{
    if (!decoder->at)
        return;
    decoder->flow.current = decoder->at->bounds;
    decoder->flow.branch_kind = BRANCH_NONE;
}

/* Called before a packet gives the time: reports the time that the one before gave. */
static inline void decoder_settle_time(struct decoder *decoder)
{
    if (decoder->holds_time)
        event_batch_anchor(&decoder->flow.batch, decoder->flow.position, decoder->time.now);
    decoder->holds_time = false;
}

/* Must be called after any change that `plain` depends on. */
static inline void decoder_settle(struct decoder *decoder)
{
    decoder->plain = decoder->at && !decoder->has_fup && !decoder->has_stack &&
                     !decoder->transaction && !decoder->item_size &&
                     decoder->fup_owner == FUP_OF_NOTHING &&
                     (!decoder->flow.observer || decoder->flow.observer->repeated) &&
                     !control_flow_is_within(&decoder->flow, decoder->at->ip);
}

#endif
