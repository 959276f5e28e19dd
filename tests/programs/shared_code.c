/* Code in memory that two processes share: one executes what the other writes. `shared_code named|anonymous|system-v|passed [child]`: a file with a
 * name, memory that is inherited by fork, System V shared memory, or a memfd that comes through a socket. With `child` the child executes, else the parent. Prints the sum of
 * what the function returned, of versions that it had. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PAGE = 4096, VERSIONS = 100 };

typedef int function(void);

struct shared {
    unsigned char *writable;
    function *code;
};

static int to_writer[2], to_runner[2];
static char name[] = "/dev/shm/shared_code.XXXXXX"; /* of a file with a name */

/* mov $VALUE, %eax; ret */
static void write_version(unsigned char *at, int value)
{
    const unsigned char code[] = {0xb8, (unsigned char)value, 0, 0, 0, 0xc3};
    memcpy(at, code, sizeof code);
}

static void run_versions(function *code)
{
    int sum = 0, wrong = 0;
    char byte = 0;
    for (int i = 0; i < VERSIONS; i++) {
        if (write(to_writer[1], &byte, 1) != 1 || read(to_runner[0], &byte, 1) != 1)
            break;
        int result = code();
        sum += result;
        wrong += result != i;
    }
    printf("sum %d, wrong %d\n", sum, wrong);
}

static void write_versions(unsigned char *at)
{
    char byte = 0;
    for (int i = 0; i < VERSIONS; i++) {
        if (read(to_writer[0], &byte, 1) != 1)
            break;
        write_version(at, i);
        if (write(to_runner[1], &byte, 1) != 1)
            break;
    }
}

static void send_file(int socket, int file)
{
    char byte = 0, control[CMSG_SPACE(sizeof file)] = {0};
    struct iovec part = {&byte, 1};
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = control,
                             .msg_controllen = sizeof control};
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    *header = (struct cmsghdr){
        .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS, .cmsg_len = CMSG_LEN(sizeof file)};
    memcpy(CMSG_DATA(header), &file, sizeof file);
    sendmsg(socket, &message, 0);
}

static int receive_file(int socket)
{
    int file = -1;
    char byte, control[CMSG_SPACE(sizeof file)] = {0};
    struct iovec part = {&byte, 1};
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = control,
                             .msg_controllen = sizeof control};
    recvmsg(socket, &message, 0);
    if (CMSG_FIRSTHDR(&message))
        memcpy(&file, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof file);
    return file;
}

static void *map(int file, int protection)
{
    return mmap(NULL, PAGE, protection, MAP_SHARED | (file < 0 ? MAP_ANONYMOUS : 0), file, 0);
}

static int made_file(const char *how)
{
    int file = strcmp(how, "named") == 0 ? mkstemp(name) : memfd_create("code", 0);
    if (ftruncate(file, PAGE) != 0)
        perror("ftruncate");
    return file;
}

/* The runner's mapping is executable and not writable, the writer's the other way round. */
static void begin(const char *how, int as_writer, struct shared *shared, int file, int memory)
{
    if (strcmp(how, "system-v") == 0 && as_writer)
        shared->writable = shmat(memory, NULL, 0);
    else if (strcmp(how, "system-v") == 0)
        shared->code = (function *)shmat(memory, NULL, SHM_RDONLY | SHM_EXEC);
    else if (as_writer && file >= 0)
        shared->writable = map(file, PROT_READ | PROT_WRITE);
    else if (file >= 0)
        shared->code = (function *)map(file, PROT_READ | PROT_EXEC);
    else if (!as_writer)
        mprotect(shared->writable, PAGE, PROT_READ | PROT_EXEC);
}

int main(int count, char **words)
{
    const char *how = count > 1 ? words[1] : "named";
    int child_runs = count > 2, passed = strcmp(how, "passed") == 0, file = -1, memory = -1,
        sockets[2];
    struct shared shared = {0};
    if (pipe(to_writer) != 0 || pipe(to_runner) != 0 ||
        socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) != 0)
        return 1;
    if (strcmp(how, "anonymous") == 0)
        shared.code = (function *)(shared.writable = map(-1, PROT_READ | PROT_WRITE));
    else if (strcmp(how, "system-v") == 0)
        memory = shmget(IPC_PRIVATE, PAGE, IPC_CREAT | 0700);
    else if (!passed)
        file = made_file(how);
    pid_t child = fork();
    int runs = (child == 0) == child_runs;
    if (passed && !runs)
        send_file(sockets[0], file = made_file(how));
    else if (passed)
        file = receive_file(sockets[1]);
    begin(how, !runs, &shared, file, memory);
    if (runs)
        run_versions(shared.code);
    else
        write_versions(shared.writable);
    fflush(stdout);
    if (child == 0)
        _exit(0);
    waitpid(child, NULL, 0);
    if (memory >= 0)
        shmctl(memory, IPC_RMID, NULL);
    unlink(name);
    return 0;
}
