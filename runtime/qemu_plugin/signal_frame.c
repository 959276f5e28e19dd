#include "runtime/qemu_plugin/signal_frame.h"

#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

/* Indices into regs[], in the order in which x86 encodes them. */
enum { RDX = 2, RSP = 4, RDI = 7 };

/* Offsets into struct ucontext (arch/x86/include/uapi/asm/ucontext.h, sigcontext.h): gregs follow
 * uc_flags, uc_link and uc_stack. */
enum {
    UCONTEXT_RDX = 136,
    UCONTEXT_RSP = 160,
    UCONTEXT_RIP = 168,
};

enum { DEEPEST_NESTING = 64 }; /* there are 64 signals */

/* What rt_sigaction takes (struct kernel_sigaction of asm/signal.h). */
struct kernel_action {
    uint64_t handler, flags, restorer, mask;
};

/* Reads memory that may not be there. */
static bool read_safely(uint64_t address, void *bytes, size_t size)
{
    struct iovec local = {bytes, size};
    struct iovec remote = {(void *)(uintptr_t)address, size};
    return process_vm_readv(getpid(), &local, 1, &remote, 1, 0) == (ssize_t)size;
}

/* 0 where no memory is: programs write contexts, too. */
static uint64_t guest_word(const struct guest_registers *guest, uint64_t address)
{
    uint64_t word = 0;
    return read_safely(address + guest->guest_base, &word, sizeof word) ? word : 0;
}

static bool known(const struct signal_handlers *handlers, uint64_t address, uint64_t restorer)
{
    uint32_t count = atomic_load_explicit(&handlers->count, memory_order_acquire);
    for (uint32_t i = 0; i < count; i++)
        if (handlers->handler[i].address == address && handlers->handler[i].restorer == restorer)
            return true;
    return false;
}

void signal_handlers_add(struct signal_handlers *handlers, uint64_t guest_base, uint64_t action)
{
    struct kernel_action wanted;
    if (action == 0 || !read_safely(action + guest_base, &wanted, sizeof wanted) ||
        wanted.handler <= 1 || /* SIG_DFL, SIG_IGN */
        known(handlers, wanted.handler, wanted.restorer))
        return;
    while (atomic_exchange_explicit(&handlers->lock, 1, memory_order_acquire))
        ;
    uint32_t count = atomic_load_explicit(&handlers->count, memory_order_relaxed);
    if (count < SIGNAL_HANDLERS) {
        handlers->handler[count].address = wanted.handler;
        handlers->handler[count].restorer = wanted.restorer;
        atomic_store_explicit(&handlers->count, count + 1, memory_order_release);
        atomic_fetch_or(&handlers->filter, (uint64_t)1 << signal_filter_bit(wanted.handler));
    }
    atomic_store_explicit(&handlers->lock, 0, memory_order_release);
}

/* Whether these registers are those of a handler at its first instruction. */
static bool is_entry(const struct signal_handlers *handlers, const struct guest_registers *guest,
                     uint64_t pc, uint64_t rsp, uint64_t rdx)
{
    return signal_may_be_handler(handlers, pc) && rdx == rsp + 8 &&
           known(handlers, pc, guest_word(guest, rsp));
}

static bool raised_by_instructions(uint64_t number)
{
    return number == SIGSEGV || number == SIGBUS || number == SIGFPE || number == SIGILL ||
           number == SIGTRAP;
}

/* What the program goes on with after the handler whose ucontext that is. Several signals at once are stacked before the
 * first handler runs: each interrupts the one before at its first instruction, and the program itself was interrupted below
 * all of them. */
static void read_context(const struct signal_handlers *handlers,
                         const struct guest_registers *guest, uint64_t ucontext,
                         struct interruption *interruption)
{
    for (int depth = 0; depth < DEEPEST_NESTING; depth++) {
        interruption->ip = guest_word(guest, ucontext + UCONTEXT_RIP);
        interruption->stack_pointer = guest_word(guest, ucontext + UCONTEXT_RSP);
        ucontext = guest_word(guest, ucontext + UCONTEXT_RDX);
        if (!is_entry(handlers, guest, interruption->ip, interruption->stack_pointer, ucontext))
            break;
    }
}

bool signal_interrupted(const struct signal_handlers *handlers, const struct guest_registers *guest,
                        uint64_t pc, struct interruption *interruption)
{
    if (!guest->registers)
        return false;
    uint64_t rsp = guest->registers[RSP], rdx = guest->registers[RDX];
    if (!is_entry(handlers, guest, pc, rsp, rdx))
        return false;
    interruption->faulted = raised_by_instructions(guest->registers[RDI]);
    read_context(handlers, guest, rdx, interruption);
    return true;
}

bool signal_restored(const struct signal_handlers *handlers, const struct guest_registers *guest,
                     struct interruption *interruption)
{
    if (!guest->registers)
        return false;
    interruption->faulted = false;
    read_context(handlers, guest, guest->registers[RSP], interruption);
    return true;
}

bool signal_registers_plausible(const struct guest_registers *guest, uint64_t pc)
{
    enum { MOST_ARGUMENTS = 1 << 22 };
    uint64_t registers[17], argument_count, after_arguments;
    return read_safely((uint64_t)(uintptr_t)guest->registers, registers, sizeof registers) &&
           registers[16] == pc && registers[RSP] % 16 == 0 &&
           read_safely(registers[RSP] + guest->guest_base, &argument_count, 8) &&
           argument_count < MOST_ARGUMENTS &&
           read_safely(registers[RSP] + guest->guest_base + 8 * (argument_count + 1),
                       &after_arguments, 8) &&
           after_arguments == 0;
}
