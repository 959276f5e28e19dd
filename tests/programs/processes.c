/* Children: fork, vfork and exec, with an exit status that comes from all of them. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static int work(int n)
{
    return n == 0 ? 0 : 1 + work(n - 1);
}

static int status_of(pid_t child)
{
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 255;
}

static int forked(void)
{
    pid_t child = fork();
    if (child == 0)
        _exit(work(3));
    return status_of(child);
}

static int executed(char *self)
{
    pid_t child = vfork();
    if (child == 0) {
        execl(self, self, "child", (char *)NULL);
        _exit(127);
    }
    return status_of(child);
}

int main(int argc, char **argv)
{
    if (argc > 1)
        return work(4);
    printf("forked %d\n", forked());
    fflush(stdout);
    printf("executed %d\n", executed(argv[0]));
    return 5;
}
