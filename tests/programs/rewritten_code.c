/* Writes a function and calls it, again and again with other code, and computes for a while after each call.
 *
 * `rewritten_code TIMES ROUNDS` prints the sum of what the calls have returned, of TIMES different functions. After each it goes
 * ROUNDS times around a loop. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { PAGE = 4096 };

static volatile unsigned rounds_made;

static void compute(unsigned rounds)
{
    for (unsigned i = 0; i < rounds; i++)
        if (i % 3 == 1)
            rounds_made++;
}

static void write_function(uint8_t *code, uint32_t result)
{
    static const uint8_t mov_eax = 0xb8, ret = 0xc3;
    code[0] = mov_eax;
    memcpy(code + 1, &result, sizeof result);
    code[5] = ret;
}

int main(int argc, char **argv)
{
    unsigned times = argc > 1 ? (unsigned)atoi(argv[1]) : 1;
    unsigned rounds = argc > 2 ? (unsigned)atoi(argv[2]) : 0, sum = 0;
    uint8_t *code =
        mmap(NULL, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (code == MAP_FAILED)
        return 1;
    for (unsigned i = 0; i < times; i++) {
        write_function(code, i);
        sum += ((unsigned (*)(void))(uintptr_t)code)();
        compute(rounds);
    }
    printf("%u\n", sum);
    return 0;
}
