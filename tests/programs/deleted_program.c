/* Deletes the file that it was started from, copies it into memory and runs it again from there. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/wait.h>
#include <unistd.h>

static int work(int rounds)
{
    int sum = 0;
    for (int i = 0; i < rounds; i++)
        sum += i & 3 ? i : 1;
    return sum;
}

static int run_from_memory(int program, unsigned flags)
{
    char *arguments[] = {"again", "1", NULL}, *environment[] = {NULL};
    int memory = memfd_create("program", flags);
    lseek(program, 0, SEEK_SET);
    while (sendfile(memory, program, NULL, 1 << 20) > 0)
        ;
    pid_t child = fork();
    if (child == 0) {
        fexecve(memory, arguments, environment);
        _exit(1);
    }
    int status = -1;
    waitpid(child, &status, 0);
    close(memory);
    return status;
}

int main(int argc, char **argv)
{
    if (argc > 1) {
        printf("%d\n", work(30));
        return 3;
    }
    int program = open(argv[0], O_RDONLY);
    unlink(argv[0]);
    printf("%d\nCOUNT work 1\n", work(20));
    fflush(stdout);
    printf("%x\n", (unsigned)run_from_memory(program, 0));
    fflush(stdout);
    printf("%x\n", (unsigned)run_from_memory(program, MFD_CLOEXEC));
    return 0;
}
