/* Code that changes in every way that there is: overwritten in place, with and without mprotect, by way of a second
 * mapping, through a file's descriptor, by the kernel, moved, replaced, while other threads run it. Every function that it makes returns a number
 * that is known; a wrong one ends the program. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/uio.h>
#include <unistd.h>

enum { PAGE = 4096, RW = PROT_READ | PROT_WRITE, RX = PROT_READ | PROT_EXEC, RWX = RW | PROT_EXEC };

static void check(int condition, const char *what)
{
    if (condition)
        return;
    printf("wrong: %s\n", what);
    exit(1);
}

/* mov eax, number; ret */
static void make_function(uint8_t *at, int number)
{
    at[0] = 0xb8;
    memcpy(at + 1, &number, sizeof number);
    at[5] = 0xc3;
}

static int call(const void *function)
{
    return ((int (*)(void))(uintptr_t)function)();
}

static uint8_t *map(int pages, int protection)
{
    uint8_t *bytes =
        mmap(NULL, (size_t)pages * PAGE, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    check(bytes != MAP_FAILED, "mmap");
    return bytes;
}

static void change_in_place(void)
{
    uint8_t *code = map(3, RWX);
    for (int i = 0; i < 200; i++) {
        make_function(code, i);
        check(call(code) == i, "overwritten function");
    }
    for (int i = 0; i < 100; i++) {
        make_function(code + PAGE + i * 16, 3 * i);
        check(call(code + PAGE + i * 16) == 3 * i, "function after others");
        check(call(code + PAGE) == 0, "function before others");
    }
    for (int i = 0; i < 20; i++) {
        make_function(code + 2 * PAGE - 3, i);
        check(call(code + 2 * PAGE - 3) == i, "function across a page's end");
    }
    for (int i = 0; i < 1000; i++) {
        *(volatile int *)(code + 2048) = i;
        check(call(code) == 199, "function next to data");
        check(*(volatile int *)(code + 2048) == i, "data next to a function");
    }
    puts("in place");
}

/* mov byte [rip + 1], dil; mov eax, 0; ret: the number is changed by the instruction before. */
static void change_next_instruction(void)
{
    static const uint8_t function[] = {0x40, 0x88, 0x3d, 1, 0, 0, 0, 0xb8, 0, 0, 0, 0, 0xc3};
    uint8_t *code = map(1, RWX);
    memcpy(code, function, sizeof function);
    for (int i = 1; i < 200; i++)
        check(((int (*)(int))(uintptr_t)code)(i) == i, "instruction that the one before changes");
    puts("next instruction");
}

static void change_protection(void)
{
    enum { PAGES = 16 };
    uint8_t *code = map(PAGES, RW);
    for (int i = 0; i < 100; i++) {
        int step = 1 + i % 3;
        check(mprotect(code, PAGES * PAGE, RW) == 0, "mprotect");
        for (int k = 0; k < PAGES; k += step)
            make_function(code + k * PAGE, PAGES * i + k);
        check(mprotect(code, PAGES * PAGE, RX) == 0, "mprotect");
        for (int k = 0; k < PAGES; k += step)
            check(call(code + k * PAGE) == PAGES * i + k, "function that was made writable");
    }
    uint8_t *text = (uint8_t *)((uintptr_t)change_protection & ~(uintptr_t)(PAGE - 1));
    check(mprotect(text, PAGE, RWX) == 0, "mprotect of the program itself");
    *(volatile uint8_t *)text = *(volatile uint8_t *)text;
    check(mprotect(text, PAGE, RX) == 0, "mprotect of the program itself");
    puts("mprotect");
}

static void change_mappings(void)
{
    uint8_t *code = map(1, RWX);
    for (int i = 0; i < 50; i++) {
        check(mmap(code, PAGE, RWX, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == code,
              "MAP_FIXED");
        make_function(code, i);
        check(call(code) == i, "function in a new mapping");
    }
    uint8_t *moved = mremap(code, PAGE, 8 * PAGE, MREMAP_MAYMOVE);
    check(call(moved) == 49, "function that was moved");
    make_function(moved, 50);
    check(call(moved) == 50, "function that was moved and overwritten");
    check(madvise(moved, PAGE, MADV_DONTNEED) == 0 && moved[0] == 0, "madvise");
    make_function(moved, 51);
    check(call(moved) == 51, "function that was thrown away");
    int ends[2];
    check(pipe(ends) == 0, "pipe");
    for (int i = 0; i < 30; i++) {
        uint8_t bytes[6];
        make_function(bytes, i);
        check(write(ends[1], bytes, sizeof bytes) == sizeof bytes, "write");
        check(read(ends[0], moved, sizeof bytes) == sizeof bytes, "read");
        check(call(moved) == i, "function that the kernel wrote");
    }
    puts("mappings");
}

static void change_by_second_mapping(void)
{
    int file = memfd_create("code", 0);
    check(ftruncate(file, 2 * PAGE) == 0, "ftruncate");
    uint8_t *view = mmap(NULL, 2 * PAGE, RW, MAP_SHARED, file, 0);
    uint8_t *code = mmap(NULL, 2 * PAGE, RX, MAP_SHARED, file, 0);
    for (int i = 0; i < 100; i++) {
        make_function(view + i % 7 * 32, i);
        check(call(code + i % 7 * 32) == i, "function with a second mapping");
    }
    munmap(view, 2 * PAGE);
    for (int i = 0; i < 20; i++) {
        view = mmap(NULL, PAGE, RW, MAP_SHARED, file, 0);
        make_function(view + 64, i);
        munmap(view, PAGE);
        check(call(code + 64) == i, "function with a second mapping for a while");
    }
    puts("second mapping");
}

struct written {
    int file, source, ends[2];
    uint8_t bytes[6];
};

static ssize_t by_pwrite(struct written *to)
{
    return pwrite(to->file, to->bytes, sizeof to->bytes, 0);
}

static ssize_t by_pwritev(struct written *to)
{
    return pwritev(to->file, &(struct iovec){to->bytes, sizeof to->bytes}, 1, 0);
}

static ssize_t by_sendfile(struct written *to)
{
    off_t from = 0;
    lseek(to->file, 0, SEEK_SET);
    pwrite(to->source, to->bytes, sizeof to->bytes, 0);
    return sendfile(to->file, to->source, &from, sizeof to->bytes);
}

static ssize_t by_copying(struct written *to)
{
    off_t from = 0, at = 0;
    pwrite(to->source, to->bytes, sizeof to->bytes, 0);
    return copy_file_range(to->source, &from, to->file, &at, sizeof to->bytes, 0);
}

static ssize_t by_splicing(struct written *to)
{
    off_t at = 0;
    write(to->ends[1], to->bytes, sizeof to->bytes);
    return splice(to->ends[0], NULL, to->file, &at, sizeof to->bytes, 0);
}

static ssize_t by_truncating(struct written *to)
{
    check(ftruncate(to->file, 0) == 0 && ftruncate(to->file, PAGE) == 0, "ftruncate");
    return by_pwrite(to);
}

static void change_by_descriptor(int sharing)
{
    static ssize_t (*const ways[])(struct written *) = {by_pwrite,  by_pwritev,  by_sendfile,
                                                        by_copying, by_splicing, by_truncating};
    struct written to = {.file = memfd_create("code", 0), .source = memfd_create("source", 0)};
    check(pipe(to.ends) == 0 && ftruncate(to.file, PAGE) == 0, "files");
    const uint8_t *code = mmap(NULL, PAGE, RX, sharing, to.file, 0);
    for (int i = 0; i < 60; i++) {
        make_function(to.bytes, i);
        check(ways[i % 6](&to) == sizeof to.bytes, "write to a file of code");
        check(call(code) == i, "function in a file that is written");
    }
    puts("descriptor");
}

static uint8_t *shared_function;
static volatile int ended;

static void *run_shared(void *argument)
{
    while (!ended)
        check(call(shared_function) < 300, "function that another thread changes");
    return argument;
}

static void change_under_threads(void)
{
    pthread_t threads[3];
    shared_function = map(1, RWX) + 64;
    make_function(shared_function, 0);
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, run_shared, NULL);
    for (int i = 0; i < 300; i++) {
        *(volatile uint8_t *)(shared_function + 1) = (uint8_t)(i % 256);
        if (i % 10 == 0)
            usleep(100);
    }
    ended = 1;
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    puts("threads");
}

int main(void)
{
    change_in_place();
    change_next_instruction();
    change_protection();
    change_mappings();
    change_by_second_mapping();
    change_by_descriptor(MAP_SHARED);
    change_by_descriptor(MAP_PRIVATE);
    change_under_threads();
    return 0;
}
