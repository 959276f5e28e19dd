/* Whose code a file holds: the program's own, a library's, or the kernel's.
 *
 * symbol/ calls it for every function that it names. The file itself decides if it can be read; if
 * it is missing, or only perf script's text names it, its name decides.
 *
 * Sources: System V gABI chapters 4 and 5 (e_type, PT_INTERP, DT_SONAME); glibc's elf.h (DF_1_PIE);
 * names that are no path: linux/fs/proc/task_mmu.c, tools/perf/util/{dso,machine}.c.
 */
#ifndef MAGIC_TRACE_IMAGE_CODE_OWNER_H
#define MAGIC_TRACE_IMAGE_CODE_OWNER_H

#include "image/image_file.h"

enum code_owner {
    CODE_OF_PROGRAM, /* also what it wrote itself, and what is not known */
    CODE_OF_LIBRARY, /* of any object that is no program, and of the vDSO */
    CODE_OF_KERNEL,
};

enum code_owner code_owner_of_file(const struct image_file *file);

/* `path` as recorded; NULL: not known. */
enum code_owner code_owner_of_path(const char *path);

#endif
