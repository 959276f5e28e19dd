/* A thread calls a function right above its stack and then writes another one in its place, which main calls: what lies near a
 * stack pointer may be written to all the time, and the same place is far from main's.
 *
 * Prints what both calls have returned.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

enum { STACK = 256 << 10, PAGE = 4096 };

static uint8_t *code;

static int call(void)
{
    return ((int (*)(void))(uintptr_t)code)();
}

static void *call_and_replace(void *returned)
{
    static const uint8_t first[] = {0xb8, 1, 0, 0, 0, 0xc3}; /* mov eax, 1; ret */
    static const uint8_t second[] = {
        0xb9, 3,    0,    0,    0,       /* mov ecx, 3 */
        0xff, 0xc9, 0x75, 0xfc,          /* dec ecx; jnz to the dec */
        0xb8, 2,    0,    0,    0, 0xc3, /* mov eax, 2; ret */
    };
    memcpy(code, first, sizeof first);
    *(int *)returned = call();
    memcpy(code, second, sizeof second);
    return NULL;
}

int main(void)
{
    pthread_t thread;
    pthread_attr_t attributes;
    int returned = 0;
    uint8_t *stack = mmap(NULL, STACK + PAGE, PROT_READ | PROT_WRITE | PROT_EXEC,
                          MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (stack == MAP_FAILED)
        return 1;
    code = stack + STACK;
    pthread_attr_init(&attributes);
    pthread_attr_setstack(&attributes, stack, STACK);
    if (pthread_create(&thread, &attributes, call_and_replace, &returned) != 0)
        return 1;
    pthread_join(thread, NULL);
    printf("%d %d\n", returned, call());
    return 0;
}
