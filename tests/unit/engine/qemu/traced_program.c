/* What qemu_test.c traces: does some work, then ends in the way that its argument says. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static volatile int sum;

static int fibonacci(int n)
{
    return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

static void touch(const char *path)
{
    close(open(path, O_WRONLY | O_CREAT, 0600));
}

/* Works forever, after a message that it has begun. */
static void work(const char *path)
{
    touch(path);
    for (;;)
        sum += fibonacci(5);
}

/* Leaves a child that executes another program long after the parent has ended. */
static void leave_child(const char *path)
{
    if (fork() != 0)
        return;
    usleep(500 * 1000);
    execl("/bin/touch", "touch", path, NULL);
}

int main(int argc, char **argv)
{
    if (argc < 3)
        return 2;
    sum = fibonacci(15);
    if (strcmp(argv[1], "abort") == 0)
        abort();
    if (strcmp(argv[1], "kill") == 0)
        kill(getpid(), SIGKILL);
    if (strcmp(argv[1], "work") == 0)
        work(argv[2]);
    if (strcmp(argv[1], "leave") == 0)
        leave_child(argv[2]);
    return 3;
}
