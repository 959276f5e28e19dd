#include "base/memory.h"

#include <malloc.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static _Noreturn void out_of_memory(size_t size)
{
    fprintf(stderr, "magic-trace: out of memory (wanted %zu bytes more)\n", size);
    exit(1);
}

void *memory_allocate(size_t size)
{
    return memory_resize(NULL, size);
}

void *memory_allocate_zeroed(size_t size)
{
    void *memory = calloc(1, size ? size : 1);
    if (!memory)
        out_of_memory(size);
    return memory;
}

void *memory_resize(void *memory, size_t size)
{
    void *resized = realloc(memory, size ? size : 1);
    if (!resized)
        out_of_memory(size);
    return resized;
}

void *memory_allocate_cleared(size_t size)
{
    return memset(memory_allocate(size), 0, size);
}

/* Before Linux 5.14 it fails, and the pages are made one by one when they are touched. */
void memory_make_pages(void *memory, size_t size)
{
    enum { PAGE = 4096 };
    size_t skipped = -(uintptr_t)memory % PAGE; /* up to the first whole page */
    if (skipped < size)
        madvise((char *)memory + skipped, size - skipped, MADV_POPULATE_WRITE);
}

void *memory_allocate_to_fill(size_t size)
{
    void *memory = memory_allocate(size);
    memory_make_pages(memory, size);
    return memory;
}

void *memory_align(void *memory, size_t alignment)
{
    return (char *)memory + (-(uintptr_t)memory & (alignment - 1));
}

/* See mallopt(3). Threads that share an arena reuse what others have freed. They rarely wait for
 * each other, because they rarely allocate. */
void memory_keep_freed(void)
{
    enum { LARGEST_MMAP_THRESHOLD = 32 << 20, KEPT = 256 << 20, PAD = 32 << 20 };
    mallopt(M_ARENA_MAX, 1);
    mallopt(M_MMAP_THRESHOLD, LARGEST_MMAP_THRESHOLD);
    mallopt(M_TRIM_THRESHOLD, KEPT);
    mallopt(M_TOP_PAD, PAD);
}

void memory_give_back_freed(void)
{
    malloc_trim(0);
}

char *memory_copy_string(const char *string)
{
    size_t size = strlen(string) + 1;
    return memcpy(memory_allocate(size), string, size);
}

char *memory_format(const char *format, ...)
{
    char *string;
    va_list arguments;
    va_start(arguments, format);
    int length = vasprintf(&string, format, arguments);
    va_end(arguments);
    if (length < 0)
        out_of_memory(0);
    return string;
}
