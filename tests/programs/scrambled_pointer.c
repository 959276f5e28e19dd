/* Branches to an address that is not canonical, as through a pointer that was overwritten: a call, a jump and a return, each
 * noticed by a handler, and then a call that is not. */
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static const uint64_t scrambled = 0x8000414141414141;
static sigjmp_buf before;

static void on_fault(int signal, siginfo_t *info, void *context)
{
    (void)context;
    printf("signal %d, code %d, address %p\n", signal, info->si_code, info->si_addr);
    siglongjmp(before, 1);
}

__attribute__((noinline)) static void call(void)
{
    void (*function)(void);
    memcpy(&function, &scrambled, sizeof function);
    function();
}

__attribute__((noinline)) static void jump(void)
{
    __asm__ volatile("jmp *%0" : : "r"(scrambled));
}

__attribute__((noinline)) static void give_back(void)
{
    __asm__ volatile("push %0; ret" : : "r"(scrambled));
}

int main(void)
{
    static void (*const branches[])(void) = {call, jump, give_back};
    struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};
    sigaction(SIGSEGV, &action, NULL);
    for (int i = 0; i < 30; i++)
        if (sigsetjmp(before, 1) == 0)
            branches[i % 3]();
    fflush(stdout);
    signal(SIGSEGV, SIG_DFL);
    call();
    return 0;
}
