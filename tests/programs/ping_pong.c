/* Two threads that hand a ball to each other, over pipes ("pipe"), a futex ("futex") or, without
 * asking the kernel, through memory ("memory").
 *
 * serve and catch_served, reply and catch_replied bracket one hand-over each: in a trace whose time
 * means something, a catch never ends before the throw of the same turn began.
 */
#include <linux/futex.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum way { PIPE, FUTEX, MEMORY };

enum {
    TURNS = 200,
    PATIENCE = 1000, /* looks at the memory before the processor is left to others for a moment */
};

static int there[2], back[2];
static int turn; /* futex word: how many hand-overs have happened */

static void send(enum way way, int descriptor)
{
    char ball = 1;
    /* First of all, with no conditional branch since the calls that led here. */
    __atomic_add_fetch(&turn, 1, __ATOMIC_SEQ_CST);
    if (way == FUTEX)
        syscall(SYS_futex, &turn, FUTEX_WAKE_PRIVATE, 2, NULL, NULL, 0);
    else if (way == PIPE && write(descriptor, &ball, 1) != 1)
        _exit(1);
}

static void wait_in_kernel(int wanted)
{
    int seen;
    while ((seen = __atomic_load_n(&turn, __ATOMIC_SEQ_CST)) < wanted)
        syscall(SYS_futex, &turn, FUTEX_WAIT_PRIVATE, seen, NULL, NULL, 0);
}

static void poll_memory(int wanted)
{
    for (int looks = 1; __atomic_load_n(&turn, __ATOMIC_SEQ_CST) < wanted; looks++)
        if (looks % PATIENCE == 0)
            usleep(1);
}

static void receive(enum way way, int descriptor, int wanted)
{
    char ball;
    if (way == FUTEX)
        wait_in_kernel(wanted);
    else if (way == MEMORY)
        poll_memory(wanted);
    else if (read(descriptor, &ball, 1) != 1)
        _exit(1);
}

static void serve(enum way way)
{
    send(way, there[1]);
}

static void catch_served(enum way way, int i)
{
    receive(way, there[0], 2 * i + 1);
}

static void reply(enum way way)
{
    send(way, back[1]);
}

static void catch_replied(enum way way, int i)
{
    receive(way, back[0], 2 * i + 2);
}

static void *other(void *data)
{
    const enum way *way = data;
    for (int i = 0; i < TURNS; i++) {
        catch_served(*way, i);
        reply(*way);
    }
    return NULL;
}

static enum way way_named(const char *name)
{
    return strcmp(name, "pipe") == 0 ? PIPE : strcmp(name, "futex") == 0 ? FUTEX : MEMORY;
}

int main(int argc, char **argv)
{
    enum way way = way_named(argc > 1 ? argv[1] : "futex");
    if (pipe(there) != 0 || pipe(back) != 0)
        return 1;
    pthread_t thread;
    pthread_create(&thread, NULL, other, &way);
    for (int i = 0; i < TURNS; i++) {
        serve(way);
        catch_replied(way, i);
    }
    pthread_join(thread, NULL);
    printf("%d turns\nCOUNT serve %d\nCOUNT reply %d\n", TURNS, TURNS, TURNS);
    printf("COUNT catch_served %d\nCOUNT catch_replied %d\n", TURNS, TURNS);
    return 0;
}
