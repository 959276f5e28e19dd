/* The kernel's code as it runs now, for recordings of the kernel: a copy beside the recording.
 *
 *     DIR/kcore_dir/kcore       the memory of the kernel's text, modules and eBPF programs, as ELF
 *     DIR/kcore_dir/kallsyms    their names
 *     DIR/kcore_dir/modules     where modules lie
 *
 * as perf record --kcore leaves them (kcore_copy() in tools/perf/util/symbol-elf.c of Linux). The
 * kernel patches its code while it runs, so a vmlinux file, or a copy made later, may differ.
 *
 * Used by engines that trace the kernel, at the end of a recording.
 */
#ifndef MAGIC_TRACE_ENGINE_KERNEL_CODE_H
#define MAGIC_TRACE_ENGINE_KERNEL_CODE_H

#include "base/error.h"
#include "recording/sideband.h"

#include <stdint.h>

/* Where the kernel's own text lies. */
struct kernel_text {
    uint64_t start, end;                 /* of the kernel */
    uint64_t modules_start, modules_end; /* of all modules and eBPF programs; 0: none */
};

/* False when the addresses are hidden (kernel.kptr_restrict) or there is no `proc`/kallsyms. */
bool kernel_text_find(struct kernel_text *text, const char *proc, struct error *error);

/* The record by which perf record describes it (perf_event__synthesize_kernel_mmap() in
 * tools/perf/util/synthetic-events.c of Linux). */
struct sideband_record kernel_text_record(const struct kernel_text *text);

/* Copies the code; `proc` is where that file system is. Needs privileges (CAP_SYS_RAWIO). On an
 * error nothing is left in `directory`. */
bool kernel_code_keep(const struct kernel_text *text, const char *proc, const char *directory,
                      struct error *error);

/* Removes the copy, if there is one. */
void kernel_code_remove(const char *directory);

#endif
