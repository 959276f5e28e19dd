/* Code that is in no file: written into memory, called, overwritten in place, called again. */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

enum { ROUNDS = 30 };

static unsigned long call_generated_calls;

static int call_generated(int (*code)(int), int value)
{
    call_generated_calls++;
    return code(value);
}

/* lea N(%rdi),%eax; ret */
static void write_adder(unsigned char *code, signed char n)
{
    memcpy(code, (const unsigned char[]){0x8d, 0x47, (unsigned char)n, 0xc3}, 4);
}

/* mov %edi,%eax; mov $3,%ecx; 1: add %edi,%eax; dec %ecx; jnz 1b; ret */
static void write_loop(unsigned char *code)
{
    static const unsigned char bytes[] = {0x89, 0xf8, 0xb9, 3,    0,    0,    0,
                                          0x01, 0xf8, 0xff, 0xc9, 0x75, 0xfa, 0xc3};
    memcpy(code, bytes, sizeof bytes);
}

int main(void)
{
    unsigned char *page =
        mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED)
        return 1;
    int sum = 0;
    for (int i = 0; i < ROUNDS; i++) {
        if (i % 3 == 2)
            write_loop(page);
        else
            write_adder(page, (signed char)i);
        sum += call_generated((int (*)(int))(void *)page, i);
    }
    printf("sum %d\nCOUNT call_generated %lu\nCOUNT main 1\n", sum, call_generated_calls);
    return 0;
}
