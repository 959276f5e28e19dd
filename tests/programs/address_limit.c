/* A program that limits its own address space (RLIMIT_AS), in each way there is, and does what needs memory afterwards: threads, new code, a
 * child, a program that is executed. Prints what it gets: how much can be mapped until the limit, and how the limit reads. */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MEGABYTE = 1 << 20, LIMIT = 1024, STEP = 100, MOST = 100, NOBODY = 65534 };

typedef int function(void);

static void print_limit(const char *what)
{
    struct rlimit one, other;
    getrlimit(RLIMIT_AS, &one);
    prlimit(getpid(), RLIMIT_AS, NULL, &other);
    printf("%s: %ld of %ld, %d\n", what, (long)one.rlim_cur >> 20, (long)one.rlim_max >> 20,
           memcmp(&one, &other, sizeof one));
    fflush(stdout);
}

static void set(rlim_t soft, rlim_t hard)
{
    struct rlimit limit = {soft, hard}, before = {0};
    errno = 0;
    int result = prlimit(0, RLIMIT_AS, &limit, &before);
    printf("set: %d %d, before %ld\n", result, errno, (long)before.rlim_cur >> 20);
}

/* How many steps can be mapped. */
static int map_until_the_limit(void)
{
    void *maps[MOST];
    int count = 0;
    while (count < MOST && (maps[count] = mmap(NULL, STEP * MEGABYTE, PROT_NONE,
                                               MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) != MAP_FAILED)
        count++;
    for (int i = 0; i < count; i++)
        munmap(maps[i], STEP * MEGABYTE);
    return count;
}

static void *work(void *sum)
{
    static const unsigned char code[] = {0xb8, 1, 0, 0, 0, 0xc3}; /* mov $1, %eax; ret */
    unsigned char *page =
        mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memcpy(page, code, sizeof code);
    *(int *)sum += ((function *)page)();
    return sum;
}

static int run_threads(void)
{
    int sum = 0;
    for (int i = 0; i < 40; i++) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, work, &sum) == 0)
            pthread_join(thread, NULL);
    }
    return sum;
}

static void run_child(void)
{
    int status;
    pid_t child = fork();
    if (child == 0) {
        print_limit("child");
        execl("/no/such/program", "program", NULL);
        execl("/bin/sh", "sh", "-c", "ulimit -v", NULL);
        _exit(1);
    }
    waitpid(child, &status, 0);
    printf("status %x\n", status);
}

static void print_by_old_call(void)
{
    struct rlimit limit = {0};
    syscall(SYS_getrlimit, RLIMIT_AS, &limit);
    printf("%ld of %ld\n", (long)limit.rlim_cur >> 20, (long)limit.rlim_max >> 20);
}

/* With a filter that would end it for prlimit64, by the older calls. */
static void limit_under_filter(void)
{
    struct sock_filter instructions[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_prlimit64, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof instructions / sizeof *instructions, instructions};
    struct rlimit limit = {(rlim_t)LIMIT * MEGABYTE, (rlim_t)2 * LIMIT * MEGABYTE};
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
    print_by_old_call();
    printf("%ld\n", syscall(SYS_setrlimit, RLIMIT_AS, &limit));
    print_by_old_call();
    limit.rlim_max = limit.rlim_cur;
    printf("%ld\n", syscall(SYS_setrlimit, RLIMIT_AS, &limit));
    print_by_old_call();
    printf("threads: %d\n", run_threads());
}

int main(int count, char **words)
{
    if (count > 1 && strcmp(words[1], "filtered") == 0) {
        limit_under_filter();
        return 0;
    }
    struct rlimit limit = {(rlim_t)LIMIT * MEGABYTE, RLIM_INFINITY};
    printf("setrlimit: %d\n", setrlimit(RLIMIT_AS, &limit));
    print_limit("soft");
    printf("mapped: %d, threads: %d\n", map_until_the_limit(), run_threads());
    run_child();
    set((rlim_t)2 * LIMIT * MEGABYTE, (rlim_t)4 * LIMIT * MEGABYTE);
    print_limit("both");
    printf("mapped: %d, threads: %d\n", map_until_the_limit(), run_threads());
    set((rlim_t)5 * LIMIT * MEGABYTE, (rlim_t)4 * LIMIT * MEGABYTE);
    if (geteuid() == 0 && setresuid(NOBODY, NOBODY, NOBODY) != 0)
        perror("setresuid");
    set((rlim_t)LIMIT * MEGABYTE, (rlim_t)5 * LIMIT * MEGABYTE);
    set((rlim_t)4 * LIMIT * MEGABYTE, (rlim_t)4 * LIMIT * MEGABYTE);
    set(LIMIT, (rlim_t)3 * LIMIT * MEGABYTE);
    set((rlim_t)3 * LIMIT * MEGABYTE, (rlim_t)3 * LIMIT * MEGABYTE);
    print_limit("last");
    printf("mapped: %d, threads: %d\n", map_until_the_limit(), run_threads());
    return 0;
}
