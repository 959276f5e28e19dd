/* fork deep in a recursion: parent and child both return through the frames that they share. */
/* truth: -O0 -g; -O2; -O2 -static; strip -O2 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static int children;

__attribute__((noinline)) static int work(int depth)
{
    volatile int here = depth;
    return depth == 0 ? 0 : work(depth - 1) + (here == depth);
}

__attribute__((noinline)) static int status_of(pid_t child)
{
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 255;
}

/* Returns twice at its deepest level; 0 in the child, its exit status in the parent. */
__attribute__((noinline)) static int descend(int depth)
{
    volatile int here = depth;
    if (depth == 0) {
        pid_t child = fork();
        if (child < 0)
            exit(1);
        children++;
        return child == 0 ? 0 : status_of(child);
    }
    int value = descend(depth - 1);
    return work(here % 5) == here % 5 ? value : 200;
}

int main(void)
{
    int sum = 0;
    for (int i = 0; i < 5; i++) {
        int value = descend(20 * i);
        if (value == 0)
            _exit(work(i + 40) + children - 1 - i);
        sum += value;
    }
    printf("sum %d children %d\n", sum, children);
    return sum == 5 * 40 + 10 && children == 5 ? 0 : 1;
}
