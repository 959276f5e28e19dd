/* Sets of signals as the kernel has them, 64 bits, and the signals that the translator treats
 * apart.
 *
 * For the files that implement signal.h. */
#ifndef MAGIC_TRACE_RUNTIME_TRANSLATOR_SIGNAL_SET_H
#define MAGIC_TRACE_RUNTIME_TRANSLATOR_SIGNAL_SET_H

#include <linux/signal.h>
#include <stdbool.h>
#include <stdint.h>

static inline uint64_t signal_bit(int signal)
{
    return UINT64_C(1) << (signal - 1);
}

static inline int lowest_signal(uint64_t set)
{
    return __builtin_ctzll(set) + 1;
}

static const uint64_t all_signals = ~UINT64_C(0);
static const uint64_t unblockable_signals = UINT64_C(1) << (SIGKILL - 1) | UINT64_C(1)
                                                                               << (SIGSTOP - 1);
static const uint64_t synchronous_signals =
    UINT64_C(1) << (SIGILL - 1) | UINT64_C(1) << (SIGTRAP - 1) | UINT64_C(1) << (SIGBUS - 1) |
    UINT64_C(1) << (SIGFPE - 1) | UINT64_C(1) << (SIGSEGV - 1) | UINT64_C(1) << (SIGSYS - 1);

static inline bool is_synchronous(int signal)
{
    return synchronous_signals & signal_bit(signal);
}

/* The other signals of which a program dies with a core dump (SIG_KERNEL_COREDUMP_MASK of include/linux/signal.h). The
 * kernel ends a process by them where a thread takes the signal, not where it is sent. */
static const uint64_t dumping_signals = UINT64_C(1) << (SIGQUIT - 1) |
                                        UINT64_C(1) << (SIGABRT - 1) |
                                        UINT64_C(1) << (SIGXCPU - 1) | UINT64_C(1) << (SIGXFSZ - 1);

/* SIG_KERNEL_IGNORE_MASK of include/linux/signal.h. */
static const uint64_t ignored_by_default =
    UINT64_C(1) << (SIGCONT - 1) | UINT64_C(1) << (SIGCHLD - 1) | UINT64_C(1) << (SIGWINCH - 1) |
    UINT64_C(1) << (SIGURG - 1);

/* Whether its default action is taken by the runtime, which records the death. */
static inline bool dies_in_runtime(int signal)
{
    return (synchronous_signals | dumping_signals) & signal_bit(signal);
}

/* 0 to TR_SYNCHRONOUS_SIGNALS - 1. */
static inline unsigned synchronous_index(int signal)
{
    static const uint8_t indexes[] = {
        [SIGILL] = 0, [SIGTRAP] = 1, [SIGBUS] = 2, [SIGFPE] = 3, [SIGSEGV] = 4, [SIGSYS] = 5};
    return indexes[signal];
}

#endif
