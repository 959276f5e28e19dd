#include "runtime/translator/system.h"

#include <asm/unistd.h>

static uint64_t load_8(const void *from)
{
    uint64_t word;
    __builtin_memcpy(&word, from, sizeof word);
    return word;
}

static void store_8(void *to, uint64_t word)
{
    __builtin_memcpy(to, &word, sizeof word);
    __asm__ volatile(""
                     :
                     :
                     : "memory"); /* keeps the compiler from seeing memmove in a loop of these */
}

/* From 8 bytes on. The last 8 may be among what is copied before: they are loaded first, since memmove() of overlapping areas comes here, too. */
static void copy_by_words(uint8_t *to, const uint8_t *from, size_t size)
{
    uint64_t last = load_8(from + size - 8);
    for (size_t at = 0; at + 8 < size; at += 8)
        store_8(to + at, load_8(from + at));
    store_8(to + size - 8, last);
}

/* REP MOVSB takes as long to begin as it takes to copy some ten words. */
void *memcpy(void *to, const void *from, size_t size)
{
    enum { SMALL = 64 };
    void *at = to;
    if (size >= 8 && size <= SMALL)
        copy_by_words(to, from, size);
    else
        __asm__ volatile("rep movsb" : "+D"(at), "+S"(from), "+c"(size) : : "memory");
    return to;
}

/* Backward by words where the areas overlap: REP MOVSB with the direction flag set moves a byte at
 * a time. */
void *memmove(void *to, const void *from, size_t size)
{
    if ((uintptr_t)to - (uintptr_t)from >= size)
        return memcpy(to, from, size);
    uint8_t *destination = to;
    const uint8_t *source = from;
    while (size >= 8) {
        size -= 8;
        store_8(destination + size, load_8(source + size));
    }
    while (size > 0) {
        size--;
        destination[size] = source[size];
        __asm__ volatile("" : : : "memory");
    }
    return to;
}

void *memset(void *to, int byte, size_t size)
{
    void *at = to;
    __asm__ volatile("rep stosb" : "+D"(at), "+c"(size) : "a"(byte) : "memory");
    return to;
}

int memcmp(const void *a, const void *b, size_t size)
{
    const uint8_t *left = a, *right = b;
    for (size_t i = 0; i < size; i++)
        if (left[i] != right[i])
            return left[i] < right[i] ? -1 : 1;
    return 0;
}

size_t strlen(const char *text)
{
    const volatile char *at = text;
    while (*at)
        at++;
    return (size_t)((const char *)at - text);
}

void tr_debug(const char *text, uint64_t value)
{
#ifdef TR_DEBUG
    char number[20] = " 0x";
    for (unsigned i = 0; i < 16; i++)
        number[3 + i] = "0123456789abcdef"[value >> (60 - 4 * i) & 15];
    number[19] = '\n';
    tr_syscall(__NR_write, 2, (uint64_t)text, strlen(text));
    tr_syscall(__NR_write, 2, (uint64_t)number, sizeof number);
#else
    (void)text;
    (void)value;
#endif
}
