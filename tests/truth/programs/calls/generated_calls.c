/* Machine code generated at run time that calls C, is called by C, and calls itself; written again
 * with other code. */
/* truth: -O0 -g; -O2; -O2 -static; strip -O2 */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

typedef long function(long);

static volatile int calls;

__attribute__((noinline)) static long work(long depth)
{
    volatile long here = depth;
    calls++;
    return depth <= 0 ? 0 : work(depth - 1) + (here == depth);
}

/* value -> call target(value - 1) + addend; the call is indirect, through an immediate address. */
static size_t generate(unsigned char *place, function *target, unsigned char addend)
{
    static const unsigned char code[] = {
        0x48, 0x83, 0xec, 0x08,                      /* sub $8, %rsp */
        0x48, 0xff, 0xcf,                            /* dec %rdi */
        0x48, 0xb8, 0,    0,    0,    0, 0, 0, 0, 0, /* movabs $target, %rax */
        0xff, 0xd0,                                  /* call *%rax */
        0x48, 0x83, 0xc0, 0,                         /* add $addend, %rax */
        0x48, 0x83, 0xc4, 0x08, 0xc3,                /* add $8, %rsp; ret */
    };
    memcpy(place, code, sizeof code);
    memcpy(place + 9, &target, sizeof target);
    place[22] = addend;
    return sizeof code;
}

static function *as_function(unsigned char *place)
{
    function *result;
    memcpy(&result, &place, sizeof result);
    return result;
}

int main(void)
{
    unsigned char *memory =
        mmap(NULL, 65536, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return 1;
    int right = 0;
    for (int round = 0; round < 20; round++) {
        unsigned char *next = memory + round * 64 % 4096;
        function *last = work;
        for (int level = 0; level < 10; level++) {
            unsigned char *place = next;
            next += generate(place, last, (unsigned char)level);
            last = as_function(place);
        }
        right += last(30) == 20 + 45 && last(10) == 45;
    }
    printf("right %d calls %d\n", right, calls);
    return right == 20 && calls == 20 * (21 + 1) ? 0 : 1;
}
