/* A program that limits its own address space (RLIMIT_AS). The kernel counts what the runtime has mapped, too, most of which is reserved alone:
 * so the kernel's limit is higher by that (own_memory.h), and the program sees the one that it has set.
 *
 * Called by syscall.c for getrlimit, setrlimit and prlimit64 of a process on itself, and by exec.c. A child of vfork has limits of its own, and
 * shares all else: what it sets is the kernel's limit as it is.
 *
 * /proc/PID/limits, and what other processes ask for by prlimit64, show the kernel's. So does a program that is executed of the hard limit.
 * Source: setrlimit(2); do_prlimit() in kernel/sys.c.
 */
#ifndef MAGIC_TRACE_RUNTIME_TRANSLATOR_ADDRESS_LIMIT_H
#define MAGIC_TRACE_RUNTIME_TRANSLATOR_ADDRESS_LIMIT_H

#include "runtime/translator/thread.h"

/* Whether the call in the thread's registers is about the process's own address space. */
bool tr_is_address_limit(const struct tr_thread *thread, int32_t number);

/* Makes it; returns what the program gets. */
int64_t tr_sys_address_limit(struct tr_thread *thread, int32_t number);

/* An executed program inherits the limit as the program has set it; when it could not be executed, all is as before. */
void tr_address_limit_before_exec(void);
void tr_address_limit_after_failed_exec(void);

#endif
