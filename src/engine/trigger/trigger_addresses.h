/* Where a trigger's places are in the memory of a process that runs.
 *
 * Used by engines that watch running processes. Source of the format: proc(5), /proc/PID/maps.
 */
#ifndef MAGIC_TRACE_ENGINE_TRIGGER_ADDRESSES_H
#define MAGIC_TRACE_ENGINE_TRIGGER_ADDRESSES_H

#include "base/array.h"
#include "engine/trigger/trigger.h"

#include <sys/types.h>

/* Appends the addresses (uint64_t), those of one place several times when its file is mapped
 * several times. `proc` is where that file system is. False: it cannot be read, because the process
 * has ended, or belongs to another user. */
bool trigger_addresses(struct array *addresses, const struct trigger *trigger, const char *proc,
                       pid_t pid);

/* Whether the file at `path`, as the kernel names it, has places of the trigger. */
bool trigger_is_in_file(const struct trigger *trigger, const char *path);

#endif
