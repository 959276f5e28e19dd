/* Recognises the first block of a signal handler that qemu has just set up, and finds where the
 * program was interrupted.
 *
 * qemu does not report signals to plugins. A handler is recognised by what the kernel's interface
 * requires (and qemu's linux-user/i386/signal.c does) at its first instruction: its address was
 * given to rt_sigaction, RDX points to the ucontext, which lies 8 bytes above RSP, and RSP points
 * to a return address that is sa_restorer.
 *
 * Registers: plugin interface 1 cannot read them. But the code that qemu generates for x86-64 hosts
 * keeps the address of the guest's CPUX86State in RBP (TCG_AREG0), whose first member is regs[16],
 * and guest registers are all in memory when a block begins. plugin.c's entry passes RBP on; it is
 * checked before the first use (signal_registers_plausible).
 */
#ifndef MAGIC_TRACE_RUNTIME_QEMU_PLUGIN_SIGNAL_FRAME_H
#define MAGIC_TRACE_RUNTIME_QEMU_PLUGIN_SIGNAL_FRAME_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum { SIGNAL_HANDLERS = 256 };

/* Of regs[16]: qemu numbers them as the instruction set does (SDM volume 2, "REX Prefixes"). */
enum { GUEST_RSP = 4, GUEST_RSI = 6, GUEST_RDI = 7 };

/* Handlers that the process ever registered. Written by any thread, never shrinks. */
struct signal_handlers {
    _Atomic uint64_t filter; /* bit (address hashed) set: an address may be a handler */
    _Atomic uint32_t lock;   /* 1 while a thread adds */
    _Atomic uint32_t count;
    struct {
        uint64_t address, restorer;
    } handler[SIGNAL_HANDLERS];
};

/* A guest's view: regs[] of CPUX86State, and the host address of guest address 0. */
struct guest_registers {
    const uint64_t *registers; /* NULL: not known on this qemu */
    uint64_t guest_base;
};

/* Where the guest is, when qemu has brought CPUX86State.eip up to date, as it does before it
 * handles a signal: it follows regs[16] (target/i386/cpu.h). */
static inline uint64_t guest_instruction(const struct guest_registers *guest)
{
    return guest->registers[16];
}

struct interruption {
    uint64_t stack_pointer; /* of what was interrupted */
    uint64_t ip;            /* of the instruction that would have run next, or that faulted */
    bool faulted;           /* the signal is one that instructions raise */
};

/* rt_sigaction is called with this struct kernel_sigaction (guest address) and is going to succeed,
 * perhaps. */
void signal_handlers_add(struct signal_handlers *handlers, uint64_t guest_base, uint64_t action);

static inline unsigned signal_filter_bit(uint64_t address)
{
    return (unsigned)((address ^ address >> 6 ^ address >> 12) & 63);
}

/* Cheap, says yes too often. */
static inline bool signal_may_be_handler(const struct signal_handlers *handlers, uint64_t address)
{
    uint64_t filter = atomic_load_explicit(&handlers->filter, memory_order_relaxed);
    return filter >> signal_filter_bit(address) & 1;
}

/* Whether the thread is about to run its handler at `pc` because of a signal. */
bool signal_interrupted(const struct signal_handlers *handlers, const struct guest_registers *guest,
                        uint64_t pc, struct interruption *interruption);

/* The thread is about to call sigreturn: the context that this restores. The handler may have written another one than it had
 * interrupted. False: not known. */
bool signal_restored(const struct signal_handlers *handlers, const struct guest_registers *guest,
                     struct interruption *interruption);

/* At `pc`, the first instruction of a program: whether the stack pointer among `registers` points
 * to argc, as it must (System V ABI, "Initial Stack and Register State"), and guest_instruction
 * returns `pc`. Never faults. */
bool signal_registers_plausible(const struct guest_registers *guest, uint64_t pc);

#endif
