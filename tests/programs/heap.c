/* Grows its heap by 256 MB, as the kernel lets every program that has no limit: status 0 when it can. */
#include <stdio.h>
#include <unistd.h>

int main(void)
{
    char *before = sbrk(256 << 20);
    if (before == (void *)-1)
        return 1;
    before[(256 << 20) - 1] = 1;
    puts("grown");
    return 0;
}
