/* A forked child that is not to outlive its parent, not even when that is killed.
 *
 * Called by the children of debug_registers.c, attached_command.c, perf_process.c and the translator's probe.
 */
#ifndef MAGIC_TRACE_PROCESS_PARENT_DEATH_H
#define MAGIC_TRACE_PROCESS_PARENT_DEATH_H

#include <stdbool.h>
#include <sys/prctl.h>
#include <unistd.h>

/* The child gets signal `number` when the thread that has forked it ends (PR_SET_PDEATHSIG, prctl(2)). `parent`: its process. False:
 * that has ended already, and no signal comes. */
static inline bool parent_death_signal(pid_t parent, int number)
{
    prctl(PR_SET_PDEATHSIG, number);
    return getppid() == parent;
}

#endif
