/* Dies by a signal, in the way that its argument says; a second argument "thread" lets a second
 * thread do it. */
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

static volatile unsigned sink;
static char source[256];

/* The faulting instruction is in the middle of a block. */
static void middle(volatile int *nowhere)
{
    sink = 1;
    *nowhere = 1;
    sink = 2;
    sink = 3;
}

static void copying(char *nowhere)
{
    memcpy(nowhere, source, sizeof source + sink);
}

static void illegal(void)
{
    __asm__ volatile("ud2");
}

static void dividing(volatile int zero)
{
    sink = (unsigned)(100 / zero);
}

static void trapping(void)
{
    __asm__ volatile("int3");
}

static void aborting(void)
{
    abort();
}

static void jumping(void (*nowhere)(void))
{
    nowhere();
}

static void reading_beyond_a_file(void)
{
    FILE *file = tmpfile();
    volatile char *bytes = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fileno(file), 0);
    sink = (unsigned)bytes[0];
}

/* The system call that is refused raises the signal. */
static void writing_too_much(void)
{
    struct rlimit none = {0, 0};
    FILE *file = tmpfile();
    setrlimit(RLIMIT_FSIZE, &none);
    sink = (unsigned)write(fileno(file), source, sizeof source);
}

static unsigned deep(unsigned depth)
{
    if (depth == 0)
        middle((volatile int *)16);
    return deep(depth - 1) + 1;
}

static unsigned endless(unsigned depth)
{
    volatile char frame[16384];
    frame[0] = (char)depth;
    if (depth == UINT_MAX)
        return 0;
    return endless(depth + 1) + (unsigned)frame[0];
}

static void *die(void *argument)
{
    const char *how = argument;
    if (strcmp(how, "middle") == 0)
        middle((volatile int *)16);
    else if (strcmp(how, "copying") == 0)
        copying((char *)(size_t)4096);
    else if (strcmp(how, "illegal") == 0)
        illegal();
    else if (strcmp(how, "dividing") == 0)
        dividing(0);
    else if (strcmp(how, "trapping") == 0)
        trapping();
    else if (strcmp(how, "aborting") == 0)
        aborting();
    else if (strcmp(how, "null") == 0)
        jumping((void (*)(void))(size_t)sink);
    else if (strcmp(how, "wild") == 0)
        jumping((void (*)(void))(size_t)0x123456);
    else if (strcmp(how, "bus") == 0)
        reading_beyond_a_file();
    else if (strcmp(how, "limit") == 0)
        writing_too_much();
    else if (strcmp(how, "deep") == 0)
        sink = deep(300);
    else if (strcmp(how, "endless") == 0)
        sink = endless(0);
    else if (strcmp(how, "raise") == 0)
        raise(SIGQUIT);
    return NULL;
}

int main(int argc, char **argv)
{
    printf("dying\n");
    fflush(stdout);
    pthread_t thread;
    if (argc > 2 && pthread_create(&thread, NULL, die, argv[1]) == 0)
        pthread_join(thread, NULL);
    if (argc == 2)
        die(argv[1]);
    return 3;
}
