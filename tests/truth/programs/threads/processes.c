/* truth: -O0 -g; -O2; -O2 -static
 * truth-link: -pthread
 * Threads, forked children that go back to where they were forked, and other programs. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static _Thread_local volatile unsigned long sum;

__attribute__((noinline)) static unsigned long work(unsigned long depth)
{
    sum += depth;
    return depth ? work(depth - 1) + 1 : sum;
}

static void *thread(void *argument)
{
    for (int i = 0; i < 20; i++)
        work((unsigned long)argument * 3);
    return NULL;
}

__attribute__((noinline)) static pid_t fork_deep(int depth)
{
    if (depth > 0) {
        pid_t child = fork_deep(depth - 1);
        sum++;
        return child;
    }
    return fork();
}

static void run_again(const char *path)
{
    pid_t child = fork_deep(5);
    if (child == 0) {
        work(5);
        execl(path, path, "again", (char *)NULL);
        _exit(1);
    }
    waitpid(child, NULL, 0);
}

int main(int argc, char **argv)
{
    pthread_t threads[4];
    if (argc > 1) {
        work(10);
        puts("again");
        return 0;
    }
    for (unsigned long i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, thread, (void *)(i + 1));
    for (unsigned long i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    pid_t child = fork_deep(3);
    work(3);
    if (child == 0)
        exit(0);
    waitpid(child, NULL, 0);
    run_again(argv[0]);
    return 0;
}
