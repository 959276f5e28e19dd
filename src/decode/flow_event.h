/* A flow event: one step of a thread's control flow that can change its call stack.
 *
 * Made by the flow decoder, consumed by stack/, in batches in the order of execution. A conditional
 * jump, or a jump inside one function, is not an event, except where a flag below says so. A call
 * is always one, also of the function itself.
 *
 * In functions with inlined ones control also moves from one to another without any branch. That
 * is a FLOW_INLINED. None says what is known already: after a CALL, or a JUMP into another
 * function, without inlined functions at its beginning; a RETURN goes back to what was inlined at the call.
 */
#ifndef MAGIC_TRACE_DECODE_FLOW_EVENT_H
#define MAGIC_TRACE_DECODE_FLOW_EVENT_H

#include "base/clock.h"
#include "symbol/symbols.h"

#include <stdint.h>

enum flow_kind {
    FLOW_CALL,    /* from: the call instruction; to: its target; return address: next */
    FLOW_RETURN,  /* from: the ret; to: where it went */
    FLOW_JUMP,    /* any jump into another function: tail call, PLT stub, longjmp, unwinder */
    FLOW_SYSCALL, /* from: the syscall instruction; user-only tracing stops here (to = 0), else to =
                     kernel entry */
    FLOW_INTERRUPT, /* from: the instruction not executed; to: handler, 0 if tracing stopped */
    FLOW_RESUME, /* tracing starts again: to = first instruction. After a SYSCALL or INTERRUPT that
                    stopped tracing, after a GAP, or at the very start */
    FLOW_KERNEL_RETURN, /* sysret, iret: from, to */
    FLOW_STOP, /* tracing stopped for another reason (filter, TraceStop, end of data); from: last
                  known ip */
    FLOW_TRAP_PUSH, /* OCaml handler `to` pushed by instruction `from` */
    FLOW_TRAP_POP,  /* newest handler popped by `from` */
    FLOW_STACK,     /* the stack pointer is `to` at the instruction at `from`: recorded before and
                  * after code that loads it (pt_encoder_emit_stack_pointer) */
    FLOW_CALLER,    /* after a RESUME: `function` called what runs there, or the previous caller,
                  * and it will return to `to`, or was interrupted there (FLOW_INTERRUPTED); to =
                  * 0: the caller before is the outermost frame. From the innermost outwards, as
                  * far as the recording goes. Also elsewhere, for a stack that code has changed
                  * to: then the first of them has FLOW_PLACED */
    FLOW_GAP,       /* control flow between the events before and after is unknown; see gap */
    FLOW_ABORT,     /* a TSX transaction failed at `from` and was rolled back; to: its fallback, in
                  * the function that began it (SDM volume 1, "RTM"), 0 if tracing stopped with
                  * it and the fallback is unknown */
    FLOW_INLINED,   /* the code from `to` on belongs to the inlined function number `next`
                     * (inlined_id), inside of `function`. May repeat what is so already */
    FLOW_CALL_VALUE, /* `to` is a word of the arguments (after the call) or the result (before the return) of what
                      * runs; `from`: the instruction that they were recorded at. The first one of each group is
                      * its head (packet/call_values_head.h) and has `next`: how many belong to it, itself included */
    FLOW_COPY, /* the instruction at `from` has added a register to the stack pointer, and a call or a string
                * instruction comes before any branch: another stack, which lay where the running one lies and was
                * copied away, may continue there. `to`: the next instruction */
    FLOW_COPIED_STACKS, /* before a COPY: the stack that it leaves has the number `to` from now on, and the one that
                         * continues was left with the number `next`; 0: unknown (packet/stack_numbers.h). Before a STACK:
                         * likewise, of the stacks that the code changes; 0: one that is never copied */
};

enum { FLOW_KIND_COUNT = FLOW_COPIED_STACKS + 1 };

enum flow_gap {
    FLOW_GAP_NONE,
    FLOW_GAP_OVERFLOW, /* the processor dropped packets */
    FLOW_GAP_LOST,     /* AUX data was lost or cut */
    FLOW_GAP_ERROR,    /* packets and code do not agree; from: the address where this was
                        * noticed, 0 unknown */
    FLOW_GAP_NO_IMAGE, /* code at `from` is in no known file */
};

enum flow_flag {
    FLOW_TIME_EXACT = 1,  /* time comes from a packet at this very event; else it is interpolated */
    FLOW_TIME_LOST = 2,   /* of a GAP: tracing continued unseen; the gap ends at the next event's
                           * time */
    FLOW_TRANSACTION = 4, /* inside a TSX transaction */
    /* Of a JUMP: its target is in the instruction, or the code runs on without a branch. Unless it loads the stack pointer, it
     * stays in the same activation, because longjmp and unwinders jump indirectly. */
    FLOW_DIRECT = 8,
    /* Of a JUMP: the code before it has loaded the stack pointer: longjmp, an unwinder, a switch to
     * another stack. Such a jump is an event even inside one function, if it is indirect. */
    FLOW_LOADS_STACK = 16,
    FLOW_INTERRUPTED = 32, /* of a CALLER */
    FLOW_PLACED = 128, /* of a CALLER: that of the function which runs, in the middle of the code */
    FLOW_OF_RESULT = 64, /* of the head of a group of CALL_VALUE */
};

struct flow_event {
    struct ticks time; /* never less than that of the event before */
    uint64_t from, to; /* addresses in the process; 0: unknown */
    uint64_t next;     /* of CALL: the return address; of SYSCALL: the address after it; of RETURN,
                    * JUMP and COPY: the stack pointer after it, 0 if it was not recorded; of INLINED
                    * and COPIED_STACKS: the number; of CALL_VALUE: see there; else 0 */
    function_id function; /* the one at `to` (of STOP, and of SYSCALL and INTERRUPT without `to`:
                           * at `from`) */
    uint8_t kind;         /* enum flow_kind */
    uint8_t flags;        /* enum flow_flag */
    uint8_t gap;          /* enum flow_gap */
    uint8_t error; /* of FLOW_GAP_ERROR: decoder's error code, 0 else; text by flow_error_text */
};

#endif
