/* A function that writes to the page that it lies in, as often as calls of it are made, and then reads unmapped memory. At each
 * fault the handler compares where the function is and what it has in its registers with what it is to have, and lets it return.
 *
 * Prints how many times both were right.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

enum { PAGE = 4096, CALLS = 12, LOAD = 23 };

static const uint8_t function[] = {
    0xb9, 0x11, 0,    0,    0,    /* mov ecx, 0x11 */
    0x41, 0xbb, 0x22, 0,    0, 0, /* mov r11d, 0x22 */
    0x40, 0x88, 0x3e,             /* mov [rsi], dil */
    0xba, 0x33, 0,    0,    0,    /* mov edx, 0x33 */
    0xeb, 0x02, 0x0f, 0x0b,       /* jmp over ud2 */
    0x8b, 0x00,                   /* LOAD: mov eax, [rax] */
    0xc3,                         /* ret */
};

static uint8_t *code;
static unsigned right;

static void fault(int signal, siginfo_t *info, void *context)
{
    greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;
    right += registers[REG_RIP] == (greg_t)(uintptr_t)(code + LOAD) && registers[REG_RCX] == 0x11 &&
             registers[REG_R11] == 0x22 && registers[REG_RDX] == 0x33;
    registers[REG_RIP] = (greg_t)(uintptr_t)(code + LOAD + 2);
    (void)signal;
    (void)info;
}

int main(void)
{
    struct sigaction action = {.sa_sigaction = fault, .sa_flags = SA_SIGINFO};
    sigaction(SIGSEGV, &action, NULL);
    code = mmap(NULL, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (code == MAP_FAILED)
        return 1;
    memcpy(code, function, sizeof function);
    for (int i = 0; i < CALLS; i++) {
        void *to = code + PAGE / 2;
        __asm__ volatile("sub $128, %%rsp; call *%[code]; add $128, %%rsp"
                         : "+S"(to)
                         : [code] "r"(code), "D"(i), "a"(0L)
                         : "rcx", "rdx", "r11", "memory", "cc");
    }
    printf("%u\n", right);
    return 0;
}
