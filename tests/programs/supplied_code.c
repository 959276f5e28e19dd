/* Pages of code that another thread supplies when they are first touched (userfaultfd), and pages of it that are given back and
 * moved, which the kernel reports to that thread. The supplier runs code of its own for the first time at each page. Prints what the functions return;
 * exits with 77 where userfaultfd is not allowed. With `wait` it says that it is ready before, and waits for a byte; with `forks` it has
 * forks reported, too. */
#define _GNU_SOURCE
#include "wait_for_byte.h"
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { PAGE = 4096, PAGES = 24, STEP = 4, NO_USERFAULTFD = 77 };

typedef int function(void);

static int descriptor;
static unsigned char *area, *twin;
static int supplied;

/* Other instructions for each page, so that the supplier has something to translate. */
static int work(int page)
{
    char text[64];
    switch (page % 6) {
    case 0:
        snprintf(text, sizeof text, "%g", page * 1.5);
        return (int)strlen(text);
    case 1:
        return (int)strtol("0x12", NULL, 0);
    case 2:
        return abs(-page);
    case 3:
        free(malloc(1000));
        return 1;
    case 4:
        return (int)atof("3.5");
    default:
        return getenv("NO_SUCH_VARIABLE") == NULL;
    }
}

/* In each page: mov $PAGE, %eax; ret. In the last bytes of each fourth one: mov $PAGE, %eax, whose last byte is in the next page, which
 * begins with 0, ret. */
static void supply(unsigned char *address)
{
    static unsigned char page[PAGE] __attribute__((aligned(PAGE)));
    int number = (int)((address - area) / PAGE);
    memset(page, 0x90, PAGE);
    memcpy(page, "\0\xc3\0\0\0\0\xb8\0\0\0\0\xc3", 12);
    page[7] = (unsigned char)number;
    memcpy(page + PAGE - 4, "\xb8\0\1\0", 4);
    page[PAGE - 3] = (unsigned char)number;
    supplied += work(number) > 0;
    struct uffdio_copy copy = {.dst = (uintptr_t)address, .src = (uintptr_t)page, .len = PAGE};
    if (ioctl(descriptor, UFFDIO_COPY, &copy) != 0 && copy.copy != PAGE)
        perror("UFFDIO_COPY");
}

static void *supplier(void *unused)
{
    struct uffd_msg message;
    while (read(descriptor, &message, sizeof message) == sizeof message) {
        if (message.event == UFFD_EVENT_PAGEFAULT)
            supply((unsigned char *)(message.arg.pagefault.address & ~(uint64_t)(PAGE - 1)));
        else
            work((int)message.event);
    }
    return unused;
}

static int run(size_t offset)
{
    function *volatile called = (function *)(area + offset);
    return called();
}

int main(int count, char **words)
{
    const char *word = count > 1 ? words[1] : "";
    struct uffdio_api api = {.api = UFFD_API,
                             .features = UFFD_FEATURE_EVENT_REMAP | UFFD_FEATURE_EVENT_REMOVE |
                                         UFFD_FEATURE_EVENT_UNMAP};
    if (strcmp(word, "forks") == 0)
        api.features |= UFFD_FEATURE_EVENT_FORK;
    descriptor = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
    if (descriptor < 0 || ioctl(descriptor, UFFDIO_API, &api) != 0)
        return NO_USERFAULTFD;
    area = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS,
                -1, 0);
    struct uffdio_register area_of = {.range = {(uintptr_t)area, PAGES * PAGE},
                                      .mode = UFFDIO_REGISTER_MODE_MISSING};
    if (ioctl(descriptor, UFFDIO_REGISTER, &area_of) != 0)
        return NO_USERFAULTFD;
    pthread_t thread;
    pthread_create(&thread, NULL, supplier, NULL);
    if (strcmp(word, "wait") == 0)
        wait_for_byte();
    for (size_t i = 0; i < PAGES; i += STEP)
        printf("%d %d, ", run(i * PAGE + 6), run((i + 1) * PAGE - 4));
    for (size_t i = 0; i < PAGES; i += STEP) {
        madvise(area + i * PAGE, PAGE, MADV_DONTNEED);
        printf("%d ", run(i * PAGE + 6));
    }
    twin = mmap(NULL, PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    twin = mremap(area, PAGE, PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, twin);
    function *volatile moved = (function *)(twin + 6);
    printf("moved %d ", moved());
    munmap(area + PAGE, PAGE);
    printf("supplied %d\n", supplied);
    return 0;
}
