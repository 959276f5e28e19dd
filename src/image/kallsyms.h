/* The names of the kernel's functions, from a copy of /proc/kallsyms.
 *
 * Used by kernel_image.c. A line is "ffffffff81000000 T _text"; "\t[name]" follows in lines of a
 * module.
 */
#ifndef MAGIC_TRACE_IMAGE_KALLSYMS_H
#define MAGIC_TRACE_IMAGE_KALLSYMS_H

#include "base/arena.h"
#include "base/array.h"

/* Adds struct image_symbol of unknown size to `symbols`, names in `memory`. Adds nothing when there
 * is no such file, or its addresses were hidden (kernel.kptr_restrict). */
void kallsyms_read(const char *path, struct arena *memory, struct array *symbols);

#endif
