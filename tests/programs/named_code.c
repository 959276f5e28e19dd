/* Calls code that it has made in memory, until SIGTERM, and names it as just-in-time compilers do: /tmp/perf-PID.map, with the number that
 * it knows itself. For tests that attach to it. */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t stop;

static void end(int signal)
{
    stop = 1;
}

int main(void)
{
    /* lea 1(%rdi),%eax; ret */
    static const unsigned char adder[] = {0x8d, 0x47, 1, 0xc3};
    const struct timespec pause = {.tv_nsec = 200000};
    char path[64], unfinished[64];
    unsigned char *code =
        mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (code == MAP_FAILED)
        return 1;
    memcpy(code, adder, sizeof adder);
    snprintf(path, sizeof path, "/tmp/perf-%d.map", (int)getpid());
    snprintf(unfinished, sizeof unfinished, "%s.unfinished", path);
    signal(SIGTERM, end);
    puts("ready");
    fflush(stdout);
    int sum = 0;
    do {
        /* Again and again: a map that was last written before a recording began belongs to no process of it. */
        FILE *map = fopen(unfinished, "w");
        if (!map)
            return 1;
        fprintf(map, "%lx %zx named_in_the_map\n", (unsigned long)code, sizeof adder);
        fclose(map);
        rename(unfinished, path);
        for (int i = 0; i < 10; i++)
            sum = ((int (*)(int))code)(sum);
        nanosleep(&pause, NULL);
    } while (!stop);
    puts(sum % 10 == 0 ? "right" : "wrong");
    return 0;
}
