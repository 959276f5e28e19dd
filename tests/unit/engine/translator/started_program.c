/* What inject_test.c starts: looks at what a new program finds, and ends with a status that says that all is well. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <time.h>
#include <unistd.h>

enum { STATUS = 42 };

int main(int argc, char **argv)
{
    struct timespec now;
    if (argc < 2 || strcmp(argv[1], "word") != 0)
        return 1;
    if (clock_gettime(CLOCK_MONOTONIC, &now) != 0 || now.tv_sec == 0)
        return 2; /* the vDSO is as it was */
    return STATUS;
}
