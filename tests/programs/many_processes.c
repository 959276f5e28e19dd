/* Starts as many processes as its argument says, one after the other; every eighth kills itself. With a second argument each is the
 * child of the one before, which waits for it. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static void child(int number)
{
    if (number % 8 == 0)
        kill(getpid(), SIGKILL);
    _exit(number % 3);
}

static int generations(int left)
{
    int status;
    if (left == 0) {
        puts("the last one");
        return 0;
    }
    pid_t pid = fork();
    if (pid == 0)
        exit(generations(left - 1));
    return pid < 0 || waitpid(pid, &status, 0) != pid || status != 0;
}

int main(int argc, char **argv)
{
    int processes = argc > 1 ? atoi(argv[1]) : 1, sum = 0;
    if (argc > 2)
        return generations(processes);
    for (int i = 0; i < processes; i++) {
        int status = 0;
        pid_t pid = fork();
        if (pid == 0)
            child(i);
        if (pid < 0 || waitpid(pid, &status, 0) != pid)
            return 1;
        sum += WIFEXITED(status) ? WEXITSTATUS(status) : 100;
    }
    printf("%d\n", sum);
    return 0;
}
