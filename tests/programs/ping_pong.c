/* Two threads that hand a ball to each other, over pipes ("pipe") or a futex ("futex").
 *
 * send_N and receive_N bracket one hand-over: in a trace whose time means something, a receive
 * never ends before the send of the same turn began.
 */
#include <linux/futex.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { TURNS = 200 };

static int there[2], back[2];
static int turn; /* futex word: how many hand-overs have happened */

static void pipe_send(int descriptor)
{
    char ball = 1;
    if (write(descriptor, &ball, 1) != 1)
        _exit(1);
}

static void pipe_receive(int descriptor)
{
    char ball;
    if (read(descriptor, &ball, 1) != 1)
        _exit(1);
}

static void futex_send(void)
{
    __atomic_add_fetch(&turn, 1, __ATOMIC_SEQ_CST);
    syscall(SYS_futex, &turn, FUTEX_WAKE_PRIVATE, 2, NULL, NULL, 0);
}

static void futex_receive(int wanted)
{
    int seen;
    while ((seen = __atomic_load_n(&turn, __ATOMIC_SEQ_CST)) < wanted)
        syscall(SYS_futex, &turn, FUTEX_WAIT_PRIVATE, seen, NULL, NULL, 0);
}

static void serve(int over_pipe, int i)
{
    if (over_pipe)
        pipe_send(there[1]);
    else
        futex_send();
    (void)i;
}

static void catch_served(int over_pipe, int i)
{
    if (over_pipe)
        pipe_receive(there[0]);
    else
        futex_receive(2 * i + 1);
}

static void reply(int over_pipe, int i)
{
    if (over_pipe)
        pipe_send(back[1]);
    else
        futex_send();
    (void)i;
}

static void catch_replied(int over_pipe, int i)
{
    if (over_pipe)
        pipe_receive(back[0]);
    else
        futex_receive(2 * i + 2);
}

static void *other(void *over_pipe)
{
    for (int i = 0; i < TURNS; i++) {
        catch_served(over_pipe != NULL, i);
        reply(over_pipe != NULL, i);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    int over_pipe = argc > 1 && strcmp(argv[1], "pipe") == 0;
    if (pipe(there) != 0 || pipe(back) != 0)
        return 1;
    pthread_t thread;
    pthread_create(&thread, NULL, other, over_pipe ? &thread : NULL);
    for (int i = 0; i < TURNS; i++) {
        serve(over_pipe, i);
        catch_replied(over_pipe, i);
    }
    pthread_join(thread, NULL);
    printf("%d turns\nCOUNT serve %d\nCOUNT reply %d\n", TURNS, TURNS, TURNS);
    printf("COUNT catch_served %d\nCOUNT catch_replied %d\n", TURNS, TURNS);
    return 0;
}
