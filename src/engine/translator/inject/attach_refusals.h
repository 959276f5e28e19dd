/* Processes that the translator does not attach to: found out before they are touched. */
#ifndef MAGIC_TRACE_ENGINE_TRANSLATOR_ATTACH_REFUSALS_H
#define MAGIC_TRACE_ENGINE_TRANSLATOR_ATTACH_REFUSALS_H

#include "base/error.h"
#include "engine/translator/arena.h"

#include <sys/types.h>
#include <sys/user.h>

/* By what /proc says. False: the error's text says why, as the end of a sentence. The first before there is a recording: what
 * else may be in the way shows later, and leaves the process unharmed, too. */
bool attach_is_likely(pid_t pid, struct error *error);
/* The processes can be in one recording. The error is a whole sentence, with what to do. */
bool attach_allows_list(const pid_t *pids, size_t count, struct error *error);
/* `filtered`: the seccomp filters of its threads are to be looked at when they are stopped (installed_filters.h). */
bool attach_allows_process(const struct translator_arena *arena, pid_t pid, bool *filtered,
                           struct error *error);

/* By the registers of a thread that is stopped and traced by the caller, and what the kernel shows of it to a tracer. */
bool attach_allows_state(pid_t tid, const struct user_regs_struct *registers, struct error *error);

#endif
