/* Raw system calls, memory functions and other functions that a freestanding program lacks. Results are the kernel's,
 * negative errno on failure. */
#ifndef MAGIC_TRACE_RUNTIME_TRANSLATOR_SYSTEM_H
#define MAGIC_TRACE_RUNTIME_TRANSLATOR_SYSTEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

static inline int64_t tr_syscall6(int64_t number, uint64_t a, uint64_t b, uint64_t c, uint64_t d,
                                  uint64_t e, uint64_t f)
{
    register uint64_t r10 __asm__("r10") = d;
    register uint64_t r8 __asm__("r8") = e;
    register uint64_t r9 __asm__("r9") = f;
    int64_t result;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    return result;
}

static inline int64_t tr_syscall(int64_t number, uint64_t a, uint64_t b, uint64_t c)
{
    return tr_syscall6(number, a, b, c, 0, 0, 0);
}

/* The compiler calls these by name, too. */
void *memcpy(void *to, const void *from, size_t size);
void *memmove(void *to, const void *from, size_t size);
void *memset(void *to, int byte, size_t size);
int memcmp(const void *a, const void *b, size_t size);
size_t strlen(const char *text);

static inline uint64_t tr_rdtsc(void)
{
    uint32_t low, high;
    __asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
    return (uint64_t)high << 32 | low;
}

/* For developers: text to descriptor 2, only with TR_DEBUG compiled in. */
void tr_debug(const char *text, uint64_t value);

#endif
