/* Allocation that either succeeds or ends the process with a message.
 *
 * magic-trace decodes on the user's machine; when that machine is out of memory nothing sensible
 * can be done, and checking each small allocation would hide the code that matters. Sizes that come
 * from a file are checked by whoever reads the file, before they get here. Never used inside the
 * traced program (the qemu plugin), which must survive.
 */
#ifndef MAGIC_TRACE_BASE_MEMORY_H
#define MAGIC_TRACE_BASE_MEMORY_H

#include <stddef.h>

/* All return memory owned by the caller, to be given to free(). */
void *memory_allocate(size_t size);        /* not initialised */
void *memory_allocate_zeroed(size_t size); /* all bytes 0 */
void *memory_resize(void *memory, size_t size);
/* All bytes 0, and already written: for tables of which most is used. Otherwise the kernel makes
 * the pages of zeroed memory when they are first written, which interrupts all other threads. */
void *memory_allocate_cleared(size_t size);
/* Of allocated memory that will all be written soon: the kernel makes the pages at once, which takes
 * a third less time than one by one as they are touched. */
void memory_make_pages(void *memory, size_t size);
/* Not initialised, for many pages that will all be written soon. */
void *memory_allocate_to_fill(size_t size);
/* The first address in `memory` that is a multiple of `alignment`, a power of two. */
void *memory_align(void *memory, size_t alignment);
char *memory_copy_string(const char *string);
__attribute__((format(printf, 1, 2))) char *memory_format(const char *format, ...);

/* For the whole process, before it starts threads: the first keeps freed memory for later
 * allocations, which saves a third of the page faults in code that allocates and frees much memory
 * several times. The second returns the kept memory to the kernel. */
void memory_keep_freed(void);
void memory_give_back_freed(void);

#endif
