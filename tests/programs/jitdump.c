/* A JIT compiler that reports its code to perf: it writes jit-PID.dump (in the current folder), and
 * its functions are compiled again at the same place, and moved. */
#include <elf.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { ROUNDS = 30, PAGE = 4096, SLOT = 64 };

struct dump_header {
    uint32_t magic, version, size, machine, reserved, pid;
    uint64_t time, flags;
};

struct code_load {
    uint32_t type, size;
    uint64_t time;
    uint32_t pid, tid;
    uint64_t vma, address, code_size, index;
};

static unsigned long call_jitted_calls;
static uint64_t next_index;

static uint64_t now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static FILE *open_dump(void)
{
    char path[64];
    snprintf(path, sizeof path, "jit-%d.dump", (int)getpid());
    FILE *dump = fopen(path, "w+");
    const struct dump_header header = {.magic = 0x4a695444,
                                       .version = 1,
                                       .size = sizeof header,
                                       .machine = EM_X86_64,
                                       .pid = (uint32_t)getpid(),
                                       .time = now()};
    fwrite(&header, sizeof header, 1, dump);
    fflush(dump);
    /* perf finds the dump by this mapping. */
    mmap(NULL, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE, fileno(dump), 0);
    return dump;
}

static void write_code(FILE *dump, const char *name, const unsigned char *code, size_t size)
{
    const struct code_load load = {
        .size = (uint32_t)(sizeof load + strlen(name) + 1 + size),
        .time = now(),
        .pid = (uint32_t)getpid(),
        .tid = (uint32_t)getpid(),
        .vma = (uintptr_t)code,
        .address = (uintptr_t)code,
        .code_size = size,
        .index = next_index++,
    };
    fwrite(&load, sizeof load, 1, dump);
    fwrite(name, strlen(name) + 1, 1, dump);
    fwrite(code, size, 1, dump);
    fflush(dump);
}

/* lea N(%rdi),%eax; ret */
static void write_adder(unsigned char *code, signed char n)
{
    memcpy(code, (const unsigned char[]){0x8d, 0x47, (unsigned char)n, 0xc3}, 4);
}

/* mov %edi,%eax; mov $3,%ecx; 1: add %edi,%eax; dec %ecx; jnz 1b; ret */
static const unsigned char loop[] = {0x89, 0xf8, 0xb9, 3,    0,    0,    0,
                                     0x01, 0xf8, 0xff, 0xc9, 0x75, 0xfa, 0xc3};

static int call_jitted(const unsigned char *code, int value)
{
    call_jitted_calls++;
    return ((int (*)(int))(uintptr_t)code)(value);
}

int main(void)
{
    unsigned char *page =
        mmap(NULL, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    FILE *dump = open_dump();
    if (page == MAP_FAILED || !dump)
        return 1;
    int sum = 0;
    for (int i = 0; i < ROUNDS; i++) {
        unsigned char *adder = page, *looper = page + SLOT;
        write_adder(adder, (signed char)i);
        write_code(dump, "jitted_adder", adder, 4);
        memcpy(looper, loop, sizeof loop);
        write_code(dump, "jitted_loop", looper, sizeof loop);
        for (int j = 0; j < 10; j++)
            sum += call_jitted(adder, i) + call_jitted(looper, i);
    }
    fclose(dump);
    printf("sum %d\nCOUNT call_jitted %lu\nCOUNT jitted_adder %d\nCOUNT jitted_loop %d\n", sum,
           call_jitted_calls, 10 * ROUNDS, 10 * ROUNDS);
    return 0;
}
