/* When the recorded threads were not on a processor, by the recording's clock: from the kernel's
 * records of context switches.
 *
 * The transcoder takes these periods out of the time that passed between two stamps, so that
 * preemption is not shown as the program's own time. Those that it met become part of the recording.
 *
 * Made by the engine before the program starts; watched threads are added by the thread that starts
 * them, periods are asked for by the one that transcodes: a lock is between them. A period that is
 * not certain is left out: one during which the thread has logged, or whose end or beginning was lost.
 */
#ifndef MAGIC_TRACE_ENGINE_TRANSLATOR_OFF_CPU_H
#define MAGIC_TRACE_ENGINE_TRANSLATOR_OFF_CPU_H

#include "base/error.h"
#include "engine/packets/off_cpu_log.h"
#include "engine/translator/arena.h"
#include "perf_event/kernel.h"

struct off_cpu;

/* `arena` is borrowed; `folder` is DIR/translator. NULL where the kernel has no such records, and `error` says why. */
struct off_cpu *off_cpu_open(const struct translator_arena *arena, const char *folder,
                             const struct kernel *kernel, struct error *error);
/* What a magic-trace that was killed had read until then; NULL: it left none. */
struct off_cpu *off_cpu_salvage(const struct translator_arena *arena, const char *folder);
void off_cpu_close(struct off_cpu *off_cpu);

/* The process, with the threads that it has, and all that they create. False, and all threads are unknown from now on:
 * the kernel refuses. */
bool off_cpu_watch(struct off_cpu *off_cpu, uint32_t pid, struct error *error);

/* Waits until the kernel has recorded much, but no longer than that. */
void off_cpu_wait(const struct off_cpu *off_cpu, unsigned milliseconds);

/* Reads what the kernel has recorded; to be called every some ten milliseconds, and when off_cpu_wait returns. */
void off_cpu_read(struct off_cpu *off_cpu);

/* The first period of thread `tid` within the time from `from` to `until`, at both of which it has run; in ticks. Times
 * asked for never go back for a thread. False: the thread has no more. */
bool off_cpu_next(struct off_cpu *off_cpu, uint32_t tid, uint64_t from, uint64_t until,
                  struct off_cpu_period *period);

/* Adds a period, of which pid is set, to the recording. */
void off_cpu_keep(struct off_cpu *off_cpu, const struct off_cpu_period *period);

/* The thread executed another program, which has begun at `until`: its periods since it was asked for last go into the recording. */
void off_cpu_keep_exec(struct off_cpu *off_cpu, uint32_t pid, uint32_t tid, uint64_t until);

/* The thread logged nothing after `from`: the rest of its periods, of which the last may not have ended at `until`, go
 * into the recording. */
void off_cpu_keep_rest(struct off_cpu *off_cpu, uint32_t pid, uint32_t tid, uint64_t from,
                       uint64_t until);

/* False: the kernel has refused, or threads have other numbers than the kernel's records. */
bool off_cpu_is_known(const struct off_cpu *off_cpu);

/* The periods that were kept, for collect.h. */
struct off_cpu_log *off_cpu_kept(struct off_cpu *off_cpu);

/* Records of the kernel that were lost, and periods that found no room. */
uint64_t off_cpu_lost(const struct off_cpu *off_cpu);

#endif
