/* Calls `target` in the ways that a trigger has to notice; `work` passes the time in between.
 *
 *     hits third      in the third of five threads
 *     hits late       in a thread that is created after others have ended
 *     hits child      in a forked child
 *     hits many N W   N times, with W rounds of work before each
 *     hits library L  calls target_of_library of a library opened while it runs
 *     hits recursion  outer and inner, calling each other, between `begin` and `end`
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile unsigned sink;

__attribute__((noinline)) static void work(unsigned rounds)
{
    for (unsigned i = 0; i < rounds; i++)
        sink += i;
}

__attribute__((noinline)) void target(unsigned value)
{
    sink += value;
}

static void *thread(void *number)
{
    work(1000);
    if (number)
        target(3);
    return NULL;
}

static void run_threads(int count, int which)
{
    pthread_t threads[8];
    for (int i = 0; i < count; i++)
        pthread_create(&threads[i], NULL, thread, i + 1 == which ? &threads[i] : NULL);
    for (int i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
}

static void run_child(void)
{
    pid_t child = fork();
    if (child == 0) {
        work(1000);
        target(1);
        _exit(0);
    }
    waitpid(child, NULL, 0);
    usleep(300000);
}

static int run_library(const char *path)
{
    void *library = dlopen(path, RTLD_NOW);
    int (*function)(int) = library ? (int (*)(int))dlsym(library, "twice") : NULL;
    return function ? function(21) : -1;
}

__attribute__((noinline)) static void end(void)
{
    work(3);
}

__attribute__((noinline)) static void inner(int depth);

__attribute__((noinline)) static void begin(int depth)
{
    work(2);
    if (depth > 0)
        begin(depth - 1);
    inner(3);
}

__attribute__((noinline)) static void inner(int depth)
{
    work(1);
    if (depth > 0)
        inner(depth - 1);
}

static void run_regions(void)
{
    for (int i = 0; i < 4; i++) {
        inner(2);
        begin(i % 3);
        inner(i);
        end();
        end();
        work(5);
    }
    begin(1);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    if (strcmp(what, "third") == 0) {
        run_threads(5, 3);
    } else if (strcmp(what, "late") == 0) {
        run_threads(2, 0);
        run_threads(1, 1);
    } else if (strcmp(what, "child") == 0) {
        run_child();
    } else if (strcmp(what, "many") == 0) {
        for (int i = 0; i < atoi(argv[2]); i++) {
            work((unsigned)atoi(argv[3]));
            target((unsigned)i);
        }
    } else if (strcmp(what, "library") == 0) {
        printf("%d\n", run_library(argv[2]));
    } else if (strcmp(what, "recursion") == 0) {
        run_regions();
    }
    puts("done");
    return 0;
}
