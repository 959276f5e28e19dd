/* What a call that is stepped may contain, again and again until SIGTERM: a signal with a handler,
 * a child by fork, the vDSO, a rep instruction, recursion, threads; at last an exec.
 *
 *     stepped [exec]     with exec: the calls are of `become`, which executes /bin/true
 *
 * Ends with status 1 when anything of it goes wrong.
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t stop, handled;

static void end(int number)
{
    stop = 1;
}

__attribute__((noinline)) static void handle(int number)
{
    handled++;
}

__attribute__((noinline)) static void check(int right, const char *what)
{
    if (!right) {
        printf("wrong: %s\n", what);
        exit(1);
    }
}

__attribute__((noinline)) static void with_signal(void)
{
    int before = handled;
    raise(SIGUSR1);
    check(handled == before + 1, "signal");
}

__attribute__((noinline)) static void with_child(void)
{
    int status = -1;
    pid_t child = fork();
    if (child == 0)
        _exit(7);
    check(waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 7, "child");
}

__attribute__((noinline)) static void with_clock(void)
{
    struct timespec first, second;
    clock_gettime(CLOCK_MONOTONIC, &first);
    clock_gettime(CLOCK_MONOTONIC, &second);
    check(second.tv_sec > first.tv_sec ||
              (second.tv_sec == first.tv_sec && second.tv_nsec >= first.tv_nsec),
          "clock");
}

__attribute__((noinline)) static void with_string(void)
{
    char from[300], to[300];
    memset(from, 'x', sizeof from);
    void *source = from, *target = to;
    unsigned long count = sizeof to;
    __asm__ volatile("rep movsb" : "+S"(source), "+D"(target), "+c"(count) : : "memory");
    check(memcmp(from, to, sizeof to) == 0, "string");
}

__attribute__((noinline)) static int recursive(int depth)
{
    return depth == 0 ? 0 : 1 + recursive(depth - 1);
}

static void *thread(void *result)
{
    *(int *)result = recursive(3);
    return NULL;
}

__attribute__((noinline)) static void with_thread(void)
{
    int result = 0;
    pthread_t other;
    check(pthread_create(&other, NULL, thread, &result) == 0, "thread");
    pthread_join(other, NULL);
    check(result == 3, "thread's result");
}

__attribute__((noinline)) static void everything(void)
{
    with_signal();
    with_child();
    with_clock();
    with_string();
    check(recursive(5) == 5, "recursion");
    with_thread();
}

__attribute__((noinline)) static void become(void)
{
    execl("/bin/true", "true", (char *)NULL);
}

int main(int argc, char **argv)
{
    struct sigaction action = {.sa_handler = handle, .sa_flags = SA_RESTART};
    sigaction(SIGUSR1, &action, NULL);
    signal(SIGTERM, end);
    puts("ready");
    fflush(stdout);
    for (int i = 0; !stop; i++) {
        if (argc > 1 && i == 300)
            become();
        if (argc == 1)
            everything();
        usleep(2000);
    }
    puts("all right");
    return 0;
}
