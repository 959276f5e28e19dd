/* Does what its words say, one after the other, for recordings that begin and end at a function.
 *
 *     bounded WORD...
 *
 *     warm     computes for a moment in warm()
 *     begin, middle, end   calls the function of that name, which calls warm()
 *     thread   has a second thread do the next word, and waits for it
 *     sleepers starts threads that wait: for a futex, in epoll_wait, in nanosleep
 *     ignores  ignores SIGINT from now on
 *     signals  sends itself 200 signals that are handled
 *     fork     has a child do the next word
 *     exec     executes itself, to do the rest
 *     pause    prints "ready" and waits for a byte
 *
 * Prints what was computed, and fails if a wait has ended early.
 */
#include "wait_for_byte.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile unsigned long sum;
static volatile sig_atomic_t handled;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

__attribute__((noinline)) void warm(int times)
{
    for (int i = 0; i < times; i++)
        sum += (unsigned long)i;
}

__attribute__((noinline)) void begin(void)
{
    warm(10);
}

__attribute__((noinline)) void middle(void)
{
    warm(20);
}

__attribute__((noinline)) void end(void)
{
    warm(30);
}

static void *wait_for_mutex(void *unused)
{
    pthread_mutex_lock(&mutex);
    return unused;
}

static void *wait_for_event(void *unused)
{
    struct epoll_event event;
    int result = epoll_wait(epoll_create1(0), &event, 1, -1);
    fprintf(stderr, "epoll_wait has ended: %d, %s\n", result, strerror(errno));
    exit(2);
    return unused;
}

static void *wait_for_time(void *unused)
{
    struct timespec hour = {.tv_sec = 3600};
    int result = nanosleep(&hour, NULL);
    fprintf(stderr, "nanosleep has ended: %d, %s\n", result, strerror(errno));
    exit(2);
    return unused;
}

static void start_sleepers(void)
{
    void *(*const waits[])(void *) = {wait_for_mutex, wait_for_event, wait_for_time};
    pthread_t thread;
    pthread_mutex_lock(&mutex);
    for (size_t i = 0; i < 9; i++)
        pthread_create(&thread, NULL, waits[i % 3], NULL);
}

static void handle(int signal)
{
    (void)signal;
    handled++;
}

static void send_signals(void)
{
    signal(SIGUSR1, handle);
    for (int i = 0; i < 200; i++)
        raise(SIGUSR1);
    sum += (unsigned long)handled;
}

static void ignore_interrupts(void)
{
    signal(SIGINT, SIG_IGN);
}

static void *do_word(void *word);

static void do_in_child(char *word)
{
    pid_t child = fork();
    if (child == 0) {
        do_word(word);
        _exit(0);
    }
    int status;
    waitpid(child, &status, 0);
    sum += (unsigned long)status;
}

static void do_in_thread(char *word)
{
    pthread_t thread;
    pthread_create(&thread, NULL, do_word, word);
    pthread_join(thread, NULL);
}

static void *do_word(void *word)
{
    static const struct {
        const char *word;
        void (*does)(void);
    } words[] = {{"begin", begin},
                 {"middle", middle},
                 {"end", end},
                 {"sleepers", start_sleepers},
                 {"signals", send_signals},
                 {"pause", wait_for_byte},
                 {"ignores", ignore_interrupts}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(word, words[i].word) == 0)
            words[i].does();
    if (strcmp(word, "warm") == 0)
        warm(100000);
    return NULL;
}

int main(int count, char **words)
{
    (void)count;
    for (char **word = words + 1; *word; word++) {
        if (strcmp(*word, "exec") == 0) {
            *word = words[0];
            execv("/proc/self/exe", word);
        } else if (strcmp(*word, "thread") == 0) {
            do_in_thread(*++word);
        } else if (strcmp(*word, "fork") == 0) {
            do_in_child(*++word);
        } else {
            do_word(*word);
        }
    }
    printf("%lu\n", sum);
    return 0;
}
