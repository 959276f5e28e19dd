// Waits for a byte, does what the translator does not support, and then waits for the end of its input.
#include <asm/prctl.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

__attribute__((noinline)) void never_called(void)
{
    puts("never");
}

int main(int argc, char **argv)
{
    (void)argv;
    char byte;
    puts("ready");
    fflush(stdout);
    if (read(STDIN_FILENO, &byte, 1) == 1)
        syscall(SYS_arch_prctl, ARCH_SET_GS, 0x1000);
    while (read(STDIN_FILENO, &byte, 1) > 0)
        ;
    if (argc > 1)
        never_called();
    return 0;
}
