/* posix_spawn, system and popen: libc's own ways to start a program on a stack of their own. */
/* truth: -O0 -g; -O2; -O2 -static; strip -O2 */
#define _GNU_SOURCE
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>

extern char **environ;

__attribute__((noinline)) static int work(int depth)
{
    volatile int here = depth;
    return depth == 0 ? 0 : work(depth - 1) + (here == depth);
}

__attribute__((noinline)) static int spawned(char *program)
{
    char *arguments[] = {program, "child", NULL};
    pid_t child;
    int status = 0;
    if (posix_spawn(&child, program, NULL, NULL, arguments, environ) != 0)
        return 1000;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1000;
}

__attribute__((noinline)) static int by_system(void)
{
    int status = system("exit 5");
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1000;
}

__attribute__((noinline)) static int by_popen(void)
{
    int number = 0;
    FILE *pipe = popen("echo 7", "r");
    if (!pipe || fscanf(pipe, "%d", &number) != 1)
        return 1000;
    return pclose(pipe) == 0 ? number : 1000;
}

int main(int count, char **arguments)
{
    if (count > 1)
        return work(300) == 300 ? 20 : 1;
    int sum = spawned(arguments[0]) + work(100) + spawned(arguments[0]) + by_system() + by_popen();
    printf("sum %d\n", sum);
    return sum == 152 ? 0 : 1;
}
