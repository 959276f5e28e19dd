/* vfork within a recursion; the child borrows the parent's stack, calls, and executes this program
 * again. */
/* truth: -O0 -g; -O2; -O2 -static; strip -O2 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

__attribute__((noinline)) static int work(int depth)
{
    volatile int here = depth;
    return depth == 0 ? 0 : work(depth - 1) + (here == depth);
}

__attribute__((noinline)) static void execute(const char *program, int number)
{
    if (work(number) == number)
        execl(program, program, "child", (char *)NULL);
    _exit(1);
}

__attribute__((noinline)) static int run_child(const char *program, int number)
{
    int status = 0;
    pid_t child = vfork();
    if (child == 0)
        execute(program, number);
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 255;
}

__attribute__((noinline)) static int descend(const char *program, int depth)
{
    volatile int here = depth;
    int value = depth == 0 ? 0 : descend(program, depth - 1);
    if (here % 20 == 10)
        value += run_child(program, here);
    return value;
}

int main(int count, char **arguments)
{
    if (count > 1)
        return work(500) == 500 ? 30 : 1;
    int sum = descend(arguments[0], 60);
    printf("sum %d\n", sum);
    return sum == 3 * 30 ? 0 : 1;
}
