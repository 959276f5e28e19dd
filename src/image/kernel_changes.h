/* What the kernel changed in its own code while it was traced (static keys, ftrace, kprobes), as
 * changes of the address spaces of all processes.
 *
 * Used by address_space_build.c. A record PERF_RECORD_TEXT_POKE has the bytes before and after.
 */
#ifndef MAGIC_TRACE_IMAGE_KERNEL_CHANGES_H
#define MAGIC_TRACE_IMAGE_KERNEL_CHANGES_H

#include "image/address_space.h"
#include "image/file_table.h"

/* A struct address_space_change for each, by time; those of time 0 say what was there before. */
struct array kernel_changes_find(const struct perf_data *data, const struct kernel_space *space,
                                 struct file_table *files);

/* Merges them into the changes of a process (struct address_space_change, by time). Of an execve,
 * which clears an address space, they survive. */
void kernel_changes_add(struct array *changes, const struct array *kernel_changes);

#endif
