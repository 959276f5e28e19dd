/* Writes code and runs it, before and after the snapshot (of function `snapshot`), while another thread waits in a
 * system call until the end. */
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

enum { PAGE = 4096, PAGES = 8 };

static void *wait_for_ever(void *unused)
{
    poll(NULL, 0, -1);
    return unused;
}

/* mov eax, number; ret */
static int make_and_call(uint8_t *at, int number)
{
    at[0] = 0xb8;
    memcpy(at + 1, &number, sizeof number);
    at[5] = 0xc3;
    return ((int (*)(void))(uintptr_t)at)();
}

static int work(uint8_t *code)
{
    int sum = 0;
    for (int i = 0; i < PAGES; i++)
        sum += make_and_call(code + i * PAGE, i);
    return sum;
}

__attribute__((noinline)) void snapshot(void)
{
    __asm__ volatile("");
}

int main(void)
{
    pthread_t thread;
    uint8_t *code = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE | PROT_EXEC,
                         MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    pthread_create(&thread, NULL, wait_for_ever, NULL);
    int before = work(code);
    snapshot();
    printf("%d %d\n", before, work(code));
    return 0;
}
