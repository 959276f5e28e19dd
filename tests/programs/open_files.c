/* Opens files until no more may be open. Prints how many it got, the highest number, and the limit. */
#include <fcntl.h>
#include <stdio.h>
#include <sys/resource.h>

int main(void)
{
    struct rlimit limit = {0};
    int count = 0, highest = -1, file;
    getrlimit(RLIMIT_NOFILE, &limit);
    while ((file = open("/dev/null", O_RDONLY)) >= 0) {
        highest = file;
        count++;
    }
    printf("%d %d %lu\n", count, highest, (unsigned long)limit.rlim_cur);
    return 0;
}
