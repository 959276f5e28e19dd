/* Ends as its argument says: "abort", "segv", "exit", "_exit", or "wait" (for a signal, after
 * "ready"). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static volatile unsigned sink;

static void last_words(void)
{
    sink++;
}

static void work(void)
{
    for (int i = 0; i < 10; i++)
        last_words();
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "exit";
    work();
    /* Whoever ends a program that is ready must find some of what it does while it waits. */
    if (strcmp(how, "wait") == 0)
        work();
    printf("COUNT last_words 10\nCOUNT work 1\nready\n");
    fflush(stdout);
    if (strcmp(how, "abort") == 0)
        abort();
    if (strcmp(how, "segv") == 0)
        *(volatile int *)16 = 1;
    if (strcmp(how, "_exit") == 0)
        _exit(9);
    while (strcmp(how, "wait") == 0)
        last_words();
    return 3;
}
