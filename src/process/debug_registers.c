#include "process/debug_registers.h"

#include "base/child_wait.h"
#include "process/parent_death.h"

#include <signal.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CONTROL = 7 };

static bool set(pid_t tid, size_t number, uint64_t value)
{
    size_t offset =
        offsetof(struct user, u_debugreg) + number * sizeof(((struct user *)0)->u_debugreg[0]);
    return ptrace(PTRACE_POKEUSER, tid, (void *)offset, (void *)value) == 0;
}

/* DR7: bit 2N enables register N for this thread; the fields above say "execution" when they are 0. (Writing to a register,
 * even 0, is what reserves it.) */
bool debug_registers_set(pid_t tid, const uint64_t *addresses, size_t count)
{
    uint64_t enabled = 0;
    bool ok = set(tid, CONTROL, 0);
    for (size_t i = 0; ok && i < count; i++) {
        ok = set(tid, i, addresses[i]);
        enabled |= UINT64_C(1) << 2 * i;
    }
    return ok && set(tid, CONTROL, enabled);
}

bool debug_registers_hit(pid_t tid, int status)
{
    siginfo_t info;
    return status >> 16 == 0 && WSTOPSIG(status) == SIGTRAP &&
           ptrace(PTRACE_GETSIGINFO, tid, NULL, &info) == 0 && info.si_code == TRAP_HWBKPT;
}

/* ---- whether they work here ---- */

/* Where the child arrives. */
static __attribute__((noinline)) void arrive(void)
{
    __asm__ volatile("" ::: "memory");
}

/* Only calls that are safe in the child of a program with threads. If the parent is killed, the child must not stop for its new
 * parent, which would trace it from then on and never let it go. */
static _Noreturn void run_to_breakpoint(pid_t parent)
{
    if (parent_death_signal(parent, SIGKILL) && ptrace(PTRACE_TRACEME, 0, NULL, NULL) == 0 &&
        raise(SIGSTOP) == 0)
        arrive();
    _exit(0);
}

bool debug_registers_fire(void)
{
    const uint64_t address = (uintptr_t)arrive;
    pid_t parent = getpid(), child = fork();
    if (child == 0)
        run_to_breakpoint(parent);
    if (child < 0 || !WIFSTOPPED(child_wait(child)))
        return true;
    bool tried = debug_registers_set(child, &address, 1) && ptrace(PTRACE_CONT, child, 0, 0) == 0;
    bool stopped = !tried || WIFSTOPPED(child_wait(child));
    if (stopped) {
        kill(child, SIGKILL);
        child_wait(child);
    }
    return stopped;
}
