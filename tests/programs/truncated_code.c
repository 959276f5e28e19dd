/* Code of a file with a name that the program itself makes shorter while it is mapped: what it calls then raises SIGBUS. It is made longer again, too,
 * with other code. Prints what happens. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PAGE = 4096 };

typedef int function(void);

static sigjmp_buf before;

static void leave(int signal)
{
    siglongjmp(before, signal);
}

static void call(const char *when, function *code)
{
    int signal = sigsetjmp(before, 1);
    if (signal)
        printf("%s: signal %d\n", when, signal);
    else
        printf("%s: %d\n", when, code());
}

/* mov $VALUE, %eax; ret */
static void write_code(int file, unsigned char value)
{
    const unsigned char code[] = {0xb8, value, 0, 0, 0, 0xc3};
    if (ftruncate(file, PAGE) != 0 || pwrite(file, code, sizeof code, 0) != sizeof code)
        perror("pwrite");
}

int main(void)
{
    char name[] = "/tmp/truncated_code.XXXXXX";
    int file = mkstemp(name);
    signal(SIGBUS, leave);
    write_code(file, 1);
    function *code = mmap(NULL, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE, file, 0);
    for (int i = 0; i < 3; i++) {
        call("whole", code);
        if (ftruncate(file, 0) != 0)
            perror("ftruncate");
        call("empty", code);
        write_code(file, (unsigned char)(i + 2));
    }
    call("last", code);
    unlink(name);
    return 0;
}
