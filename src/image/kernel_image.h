/* The code of the kernel that was traced: finds its bytes, and where they were mapped.
 *
 * Used by address_space_build.c, if the recording says that the kernel was traced. In this order:
 *   1. DIR/kcore_dir/kcore (or DIR/perf.data/kcore_dir/kcore), as perf record --kcore copies it, or
 * DIR/images/kcore: the kernel as it ran, with modules and eBPF programs; names are in the file
 * kallsyms beside it.
 *   2. vmlinux, the kernel as it was linked: DIR/images/vmlinux, perf's cache, and where
 *      distributions put it. It is moved to the address of the kernel in the recording. What the
 *      kernel patches when it starts is not in it, nor are modules.
 *   3. Of recordings without packets: names alone, from DIR/images/kallsyms or /proc/kallsyms.
 */
#ifndef MAGIC_TRACE_IMAGE_KERNEL_IMAGE_H
#define MAGIC_TRACE_IMAGE_KERNEL_IMAGE_H

#include "base/arena.h"
#include "image/address_space.h"
#include "image/file_table.h"

/* Fills in `space`, whose mappings the caller frees, or warns that no code was found. */
void kernel_image_find(struct kernel_space *space, const struct perf_data *data,
                       const char *directory, struct file_table *files, struct arena *memory);

#endif
