/* Turns "block B ran, then block C" into Intel PT packets.
 *
 * A recorder that sees a program run block by block (the qemu plugin; the ptrace stepper) describes
 * each basic block once, as a struct pt_code_block, and then reports every execution with
 * pt_encoder_step. The encoder writes what a processor would have written: TNT bits for conditional
 * jumps, TIP for indirect ones, nothing for direct ones.
 *
 * All state is in struct pt_encoder, which may be in memory shared with another process: only its
 * owner follows the pointers in it. The owner may be killed between any two instructions: packets
 * are written first and `head` moves last, so that the bytes before `head` always decode;
 * pt_encoder_drain recovers the bits gathered for the next TNT packet. Not for use by two threads
 * at a time.
 *
 * The rules, chosen so that both perf and libipt understand the result:
 *   - Return compression (SDM "Indirect Transfer Compression for Returns"): 64 return addresses; a
 *     return to the newest one is a TNT bit 1. The stack is emptied at PSB, at an overflow, and
 *     whenever a return misses a stack that is not empty, because perf pops on every return and
 *     libipt only on compressed ones. A call to the next instruction is not pushed (SDM).
 *   - A callchain snapshot follows each PSB (callchain_snapshot.h). Longer snapshots make PSBs
 *     rarer, so that they take an eighth of the packets at most.
 *   - last_ip is 0 after PSB and overflow: perf 6.1 does not reset its own, so the next FUP carries
 *     a whole address.
 *   - PSB+ is PSB, TSC, CBR, MODE.Exec, FUP when tracing is on, PSBEND.
 *   - Time: TSC in PSB+ and after long waits, else CYC before TNT and TIP, in ticks of the same
 *     clock (CBR says that one cycle is one tick). A time that belongs to an address rather than to
 *     a branch is CYC, EXSTOP, FUP. With coarse time there are no CYC packets: TSC stands in PSB+,
 *     where tracing begins, and where something outside the trace happens at that time; or MTC
 *     packets count the periods of a slow clock, and a TMA follows each TSC. With sparse time CYC
 *     packets come where the owner's time is more than an estimate.
 */
#ifndef MAGIC_TRACE_PACKET_ENCODER_H
#define MAGIC_TRACE_PACKET_ENCODER_H

#include "packet/calls.h"
#include "packet/packet.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    PT_RETURN_STACK = 64,
    PT_ENCODER_SLACK = 256, /* bytes after `head` that a killed owner may have been writing */
    PT_DRAIN_SIZE = 32,     /* bytes that pt_encoder_drain may write */
    PT_CRYSTAL_TICKS = 64,  /* TSC ticks per tick of the crystal clock (CTC) */
    PT_MTC_FREQUENCY = 3,   /* an MTC packet comes every 2^3 ticks of the crystal clock */
};

/* How a block ends, which is all that the encoder needs to know of its code. */
enum pt_code_block_kind {
    PT_BLOCK_SEQUENTIAL,  /* no branch: the next block follows in memory */
    PT_BLOCK_CONDITIONAL, /* Jcc, LOOP, JRCXZ */
    PT_BLOCK_JUMP,        /* direct jump */
    PT_BLOCK_CALL,        /* direct call */
    PT_BLOCK_INDIRECT_JUMP,
    PT_BLOCK_INDIRECT_CALL,
    PT_BLOCK_RETURN,
    PT_BLOCK_REPORTED_RETURN, /* a return whose address is always emitted: no return compression */
    PT_BLOCK_FAR,             /* syscall, int n, far jump, iret: the processor leaves user mode */
    PT_BLOCK_REPEAT,          /* ends with a rep string instruction; each run is one iteration */
    PT_BLOCK_OUTSIDE,         /* code that decoders cannot read (vsyscall page): not traced */
    PT_BLOCK_NONE,            /* not a block: tracing is off */
};

/* One basic block, made with pt_code_block_describe. Read-only afterwards, shared by all threads.
 */
struct pt_code_block {
    uint64_t pc, end; /* addresses: first byte, and the byte after the last */
    /* The edges that the inline path follows, PT_NOWHERE before they have been taken. A call that
     * pushes a return address has its own, so that other blocks need not check the return stack. */
    _Atomic uint64_t seen_target, seen_fall, seen_call;
    uint64_t work;       /* what one execution adds to pt_encoder.work */
    uint8_t bits;        /* TNT bits per execution: 1 for conditional jumps, else 0 */
    uint8_t push;        /* bool: the block's call pushes a return address */
    uint8_t slow;        /* 1 if the inline path must not be taken after this block */
    uint8_t kind;        /* enum pt_code_block_kind */
    uint8_t restartable; /* bool: the emulator may leave it in its middle and continue there */
    /* bool, for the owner: holds an instruction that orders memory between threads
     * (x86_synchronises) */
    uint8_t synchronises;
    /* bool, for the owner: loads the stack pointer, perhaps to switch to another stack */
    uint8_t loads_stack;
    uint8_t
        copies_stack; /* bool, for the owner: likewise, and may copy that to where the running one was */
    uint8_t in_recursion;  /* bool, for the owner: belongs to a recursion that no packet shows */
    uint64_t target;       /* where its branch goes, or PT_NOWHERE */
    uint64_t fall;         /* where it goes without a branch, or PT_NOWHERE */
    uint32_t cost;         /* of one execution, in units of the owner's choice */
    uint16_t instructions; /* in the block; length[] has one entry each */
    uint8_t length[];      /* bytes, of each instruction */
};

#define PT_NOWHERE UINT64_MAX

/* pt_code_block.work and pt_encoder.work: instructions below, cost from this bit on. The packets of
 * a loop without conditional branches are never due, so instructions (38 bits) must last for
 * minutes; the cost (26 bits) may wrap, see pt_encoder_cost. */
enum { PT_WORK_COST_SHIFT = 38 };

/* What the encoder asks of its owner. Called only when packets are written. */
struct pt_encoder_owner {
    /* The time now, in ticks. Packets have the newest one again where it is less. */
    uint64_t (*time)(struct pt_encoder_owner *owner);
    /* The packets have reached `limit`: makes room for PT_ENCODER_SLACK bytes or more and sets
     * packets, mask and limit. False: there is no room, and tracing ends here (within the slack
     * that is left). */
    bool (*make_room)(struct pt_encoder_owner *owner);
};

struct pt_encoder {
    /* Stream position up to which packets are valid, in bytes from the beginning of the recording.
     */
    _Atomic uint64_t head;
    uint64_t tnt;  /* branches for the next TNT packet, under a leading 1; 1 = none */
    uint64_t work; /* since `instructions` and `cost` were brought up to date */
    /* The return stack holds return_address[i % 64] for floor <= i < depth. */
    uint64_t depth, floor;

    uint64_t instructions; /* executed, without those in `work` */
    uint64_t cost;         /* of all blocks, without those in `work` */
    uint64_t last_ip;
    uint64_t last_time;    /* ticks, of the newest TSC or CYC packet */
    uint64_t last_psb;     /* stream position */
    uint64_t losses;       /* OVF packets written because a block came from nowhere known */
    uint32_t psb_interval; /* bytes between PSBs, about, if few calls are in progress */
    uint64_t next_psb;     /* stream position */
    uint64_t
        placed; /* bytes of callers that were reported since the newest PSB elsewhere than after it */
    uint8_t bus_ratio;   /* for CBR */
    uint8_t stopped;     /* bool: the stream has ended: `stop` was set or no room was left */
    uint8_t coarse_time; /* bool: no CYC packets */
    uint8_t periods;     /* bool, with coarse_time: MTC packets */
    uint8_t sigreturned; /* bool: tracing is off since rt_sigreturn */
    /* bool: between the moments that are exact, a CYC packet only comes when the owner has set
     * time_is_due since the last one. */
    uint8_t sparse_time, time_is_due;

    /* For the owner only, as the pointers below: addresses in its process. */
    struct pt_code_block *previous; /* the block that runs now, or &pt_code_block_none */
    struct pt_encoder_owner *owner;
    const _Atomic uint32_t *stop; /* becomes non-zero when tracing shall stop */
    uint8_t *packets; /* stream position P lies at packets[P & mask] and may run over its end */
    uint64_t mask;
    uint64_t limit; /* stream position at which make_room is called */

    /* Where the owner keeps the program's stack pointer at the beginning of every block:
     * pt_encoder_know_stack. */
    const uint64_t *stack_pointer;
    struct pt_calls calls;     /* the owner has set ring, mask and all; ring NULL: no callchain
                                * snapshots */
    struct pt_call unreported; /* takes the place of the ring in that case */

    uint64_t return_address[PT_RETURN_STACK];
};

/* The calls that are active at some moment, to be restored later. */
struct pt_saved_calls {
    struct pt_calls calls;
    uint64_t depth; /* how many */
};

/* Stands for "no block ran before": tracing is off. */
extern struct pt_code_block pt_code_block_none;

/* Completes a block whose pc, end, kind, target (of direct branches), instructions, length and cost
 * are set. */
void pt_code_block_describe(struct pt_code_block *block);

/* Sets up an encoder that is all 0 except packets, mask, limit, owner, stop, coarse_time and
 * periods, which its owner has set. Tracing begins with the first step. `psb_interval` in bytes. */
void pt_encoder_begin(struct pt_encoder *encoder, uint8_t bus_ratio, uint32_t psb_interval);

/* Instructions executed so far. Up to date at every step. */
static inline uint64_t pt_encoder_instructions(const struct pt_encoder *encoder)
{
    return encoder->instructions + (encoder->work & (((uint64_t)1 << PT_WORK_COST_SHIFT) - 1));
}

/* The sum of the costs of all blocks that began. A multiple of 2^26 may be missing from it if that
 * much was executed without a packet. */
static inline uint64_t pt_encoder_cost(const struct pt_encoder *encoder)
{
    return encoder->cost + (encoder->work >> PT_WORK_COST_SHIFT);
}

/* Writes the gathered TNT bits, with their time; and a PSB+ at `pc`, which is executed next, if one
 * is due. */
void pt_encoder_flush(struct pt_encoder *encoder, uint64_t pc);

/* Writes the gathered TNT bits, if any, with their time. */
void pt_encoder_emit(struct pt_encoder *encoder);

/* The program did not run from the time now until `until`: writes the gathered TNT bits with their time, and
 * that both times belong to this place. Nothing where tracing is off. */
void pt_encoder_emit_pause(struct pt_encoder *encoder, uint64_t until);

/* How much of the control flow was emitted or gathered: shows whether a step added to it. */
struct pt_encoder_progress {
    uint64_t head, tnt;
};

struct pt_encoder_progress pt_encoder_progress(const struct pt_encoder *encoder);

/* The block at `pc` begins to run; the step into it was made, and `before` was the progress before
 * that step. Writes what is gathered with the time now, and makes decoders arrive at `pc` at that
 * time even if no packet leads there: otherwise they would place the block anywhere between this
 * time and the next. */
void pt_encoder_emit_arrival(struct pt_encoder *encoder, uint64_t pc,
                             struct pt_encoder_progress before);

/* The stack pointer is `value` at the instruction at `ip` of the block that runs now: before it, or
 * after it if it is the block's last. Emits a PTWRITE packet, which needs no PTWRITE instruction at
 * `ip`: perf and libipt report the value, and do not take it for a branch. At most once per
 * instruction, and not at the block's first: libipt 2.0 would not end the block before there.
 */
void pt_encoder_emit_stack_pointer(struct pt_encoder *encoder, uint64_t ip, uint64_t value);

/* Reports the active calls, of a stack that decoders may not know (CALLCHAIN_PLACED), as the stack pointer above. PSBs
 * become rarer, so that these reports do not become a great part of the packets. */
void pt_encoder_emit_calls(struct pt_encoder *encoder, uint64_t ip);

/* Arguments or results of a call (call_values_head.h) at the instruction at `ip`, which runs next or is the last of the
 * block that runs: PTWRITE packets, `head` in one of four bytes and each of `count` words in one of eight, all bound to
 * that instruction. perf reads them; libipt 2.0 binds only one to an instruction. */
void pt_encoder_emit_values(struct pt_encoder *encoder, uint64_t ip, uint32_t head,
                            const uint64_t *words, size_t count);

/* From now on `*stack_pointer` is the program's stack pointer. */
void pt_encoder_know_stack(struct pt_encoder *encoder, const uint64_t *stack_pointer);

/* A signal handler begins on top of the interrupted code at `ip`, whose stack pointer was
 * `stack_pointer`. */
void pt_encoder_push_interrupted(struct pt_encoder *encoder, uint64_t ip, uint64_t stack_pointer);

/* The code that runs has changed the stack pointer from `from` to its present value: the calls that
 * this unwinds have ended; if it is another stack now, its callers are unknown. */
void pt_encoder_stack_moved(struct pt_encoder *encoder, uint64_t from);

/* The callers of what runs from now on are unknown. */
void pt_encoder_forget_calls(struct pt_encoder *encoder);

/* Replaces the active calls by these, of which the first is the outermost one known; `all`: it is
 * the outermost of its stack. */
void pt_encoder_know_calls(struct pt_encoder *encoder, const struct pt_call *calls, size_t count,
                           bool all);

/* Packets are missing up to where the next step arrives: OVF. */
void pt_encoder_lose(struct pt_encoder *encoder);

/* Saves the active calls, and makes saved ones active again; the ring must still hold them. */
struct pt_saved_calls pt_encoder_save_calls(const struct pt_encoder *encoder);
void pt_encoder_restore_calls(struct pt_encoder *encoder, const struct pt_saved_calls *saved);

/* The next return is emitted with its address, and goes through pt_encoder_step_slow. */
void pt_encoder_forget_returns(struct pt_encoder *encoder);

/* The stream ends before the instruction at `pc`, which execution has reached: the start of the
 * block that runs now, or an instruction in it. Steps are ignored from now on. */
void pt_encoder_stop_at(struct pt_encoder *encoder, uint64_t pc);

/* New code replaces the old code at `block`, which runs next, at a moment since pt_encoder_emit.
 * Decoders switch to it once a packet's time has reached that moment, so such a packet must come
 * before its first instruction: of a branch that is taken and needs one; without one the trace looks as if
 * something had interrupted the program there. */
void pt_encoder_arrive_at_new_code(struct pt_encoder *encoder, const struct pt_code_block *block);

/* The same where the old code is what ran last, up to the edge to `block`: that is emitted with the time now, which has to be before
 * that moment. The trace looks as if something had interrupted the program there. */
void pt_encoder_leave_old_code(struct pt_encoder *encoder, const struct pt_code_block *block);

/* `block` begins to run: all cases. */
void pt_encoder_step_slow(struct pt_encoder *encoder, struct pt_code_block *block);

/* Whether the edge from the block that ran last to `pc` is a direct one that has not been taken
 * before. */
bool pt_encoder_edge_is_new(const struct pt_encoder *encoder, uint64_t pc);

/* `block` begins to run: the common case, without a branch that the host processor cannot predict.
 * False: it only counted, and the caller must call pt_encoder_step_slow (or knows of a signal). */
static inline __attribute__((always_inline)) bool pt_encoder_step_fast(struct pt_encoder *encoder,
                                                                       struct pt_code_block *block)
{
    const struct pt_code_block *previous = encoder->previous;
    uint64_t pc = block->pc;
    uint64_t depth = encoder->depth;
    uint64_t taken = pc == atomic_load_explicit(&previous->seen_target, memory_order_relaxed);
    uint64_t falls = pc == atomic_load_explicit(&previous->seen_fall, memory_order_relaxed);
    uint64_t direct = taken | falls;
    /* Otherwise the compiler makes two branches of it, one of which follows the program's own. */
    __asm__("" : "+r"(direct));
    encoder->work += block->work;
    if (__builtin_expect(direct, 1)) {
        encoder->tnt = encoder->tnt << previous->bits | (taken & previous->bits);
        encoder->previous = block;
    } else if (pc == atomic_load_explicit(&previous->seen_call, memory_order_relaxed)) {
        encoder->return_address[depth % PT_RETURN_STACK] = previous->end;
        *pt_calls_at(&encoder->calls, depth) =
            (struct pt_call){previous->end, *encoder->stack_pointer};
        encoder->depth = depth + 1;
        encoder->previous = block;
        return true;
    } else if (previous->kind == PT_BLOCK_RETURN && depth != encoder->floor &&
               encoder->return_address[(depth - 1) % PT_RETURN_STACK] == pc) {
        if (depth - encoder->floor > PT_RETURN_STACK)
            encoder->floor = depth - PT_RETURN_STACK;
        encoder->depth = depth - 1;
        encoder->tnt = encoder->tnt << 1 | 1;
        encoder->previous = block;
    } else {
        return false;
    }
    if (__builtin_expect(encoder->tnt >> PT_TNT_BITS != 0, 0))
        pt_encoder_flush(encoder, pc);
    return true;
}

/* Tracing goes off after the last block (a system call): TIP.PGD. The next step turns it on again.
 */
void pt_encoder_disable(struct pt_encoder *encoder);

/* The branch that ends the block that ran last leads to `target`, which is not traced, as with a filter of addresses (SDM volume 3,
 * "IP Filtering"). After a block without a branch: as pt_encoder_interrupt. */
void pt_encoder_leave(struct pt_encoder *encoder, uint64_t target);

/* Something (a signal) interrupted the program before the instruction at `ip`: FUP, TIP.PGD.
 * `faulted`: that instruction raised it; if `ip` is in the block that runs, the block ends there.
 */
void pt_encoder_interrupt(struct pt_encoder *encoder, uint64_t ip, bool faulted);

/* The system call that has turned tracing off is rt_sigreturn, which may lead anywhere. An interruption that comes before the
 * next step is one of the code that it leads to: TIP.PGE, FUP, TIP.PGD. Without them decoders would take the handler to
 * interrupt what ran when the handler before it began. */
void pt_encoder_note_sigreturn(struct pt_encoder *encoder);

/* For packet/block_run.c: the time now, if it is due; and a return to `pc` that the return stack does not
 * have. */
void pt_encoder_emit_time(struct pt_encoder *encoder);
void pt_encoder_miss_return(struct pt_encoder *encoder, uint64_t pc);

/* For the reader of a dead owner's state: writes to `out` the packets that complete the stream
 * after encoder->head (a TNT packet with the bits gathered) and returns their length, 0 when it
 * is complete. Checks every field. Bytes of the stream from head - size + PT_ENCODER_SLACK (in a ring)
 * to head are valid. */
size_t pt_encoder_drain(const struct pt_encoder *encoder, uint8_t out[PT_DRAIN_SIZE]);

#endif
