/* Finds out what the kernel knows of seccomp, as libseccomp does: by calls that fail. Then it works. */
#include <errno.h>
#include <linux/seccomp.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

__attribute__((noinline)) static void after(void)
{
    __asm__ volatile("");
}

static void probe(unsigned operation, unsigned flags)
{
    long result = syscall(SYS_seccomp, operation, flags, NULL);
    printf("%u: %ld, %d\n", operation, result, errno);
}

int main(void)
{
    probe(SECCOMP_SET_MODE_STRICT, 1);
    probe(SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC);
    for (int i = 0; i < 10; i++)
        after();
    return 0;
}
