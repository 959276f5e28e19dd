/* Runs generated code; its child does so again when the file named by the first argument appears,
 * long after the parent has ended, and makes the second. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static unsigned char *page;

/* lea N(%rdi),%eax; ret */
__attribute__((noinline)) static int call_generated(int n)
{
    memcpy(page, (const unsigned char[]){0x8d, 0x47, (unsigned char)n, 0xc3}, 4);
    return ((int (*)(int))(void *)page)(n);
}

int main(int argc, char **argv)
{
    page = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED || argc < 3)
        return 1;
    int sum = call_generated(1);
    if (fork() == 0) {
        while (access(argv[1], F_OK) != 0)
            usleep(10000);
        for (int i = 2; i < 50; i++)
            sum += call_generated(i);
        if (fork() == 0)
            close(open(argv[2], O_CREAT | O_WRONLY, 0600));
        return 0;
    }
    printf("%d\n", sum);
    return 0;
}
