#include "process/debug_registers.h"

#include <signal.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>

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
