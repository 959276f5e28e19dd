/* Code that is changed through the kernel: by /proc/self/mem, in each way to write there, and by process_vm_writev; in anonymous memory and in
 * the program's own text. Prints what the function returned after each change. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

typedef int function(void);

/* mov $VALUE, %eax; ret */
static const unsigned char code[] = {0xb8, 0, 0, 0, 0, 0xc3};

__attribute__((noinline, aligned(64), naked)) static int in_text(void)
{
    __asm__("mov $0, %eax\n ret");
}

static void write_value(int how, int file, unsigned char *at, unsigned char value)
{
    struct iovec local = {&value, 1}, remote = {at + 1, 1};
    off_t position = (off_t)(at + 1);
    ssize_t count = -1;
    switch (how) {
    case 0:
        count = pwrite(file, &value, 1, position);
        break;
    case 1:
        lseek(file, position, SEEK_SET);
        count = write(file, &value, 1);
        break;
    case 2:
        lseek(file, position, SEEK_SET);
        count = writev(file, &local, 1);
        break;
    case 3:
        count = pwritev(file, &local, 1, position);
        break;
    default:
        count = process_vm_writev(getpid(), &local, 1, &remote, 1, 0);
    }
    if (count != 1)
        printf("%d: %m\n", how);
}

static void change(const char *what, unsigned char *at, int ways)
{
    function *volatile run = (function *)at;
    int file = open("/proc/self/mem", O_RDWR), sum = run();
    printf("%s:", what);
    for (int i = 0; i < 4 * ways; i++) {
        write_value(i % ways, file, at, (unsigned char)(i + 1));
        sum += run();
        printf(" %d", run());
    }
    printf(" sum %d\n", sum);
    close(file);
}

int main(void)
{
    unsigned char *memory =
        mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memcpy(memory, code, sizeof code);
    change("anonymous", memory, 5);
    mprotect(memory, 4096, PROT_READ | PROT_EXEC);
    change("anonymous, not writable", memory, 4);
    change("text", (unsigned char *)in_text, 4);
    return 0;
}
