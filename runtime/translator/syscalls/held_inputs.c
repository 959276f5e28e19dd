#include "runtime/translator/syscalls/held_inputs.h"
#include "runtime/translator/auxiliary_vector.h"
#include "runtime/translator/fault_safe.h"
#include "runtime/translator/system.h"

#include <asm/stat.h>
#include <asm/unistd.h>
#include <linux/auxvec.h>
#include <linux/errno.h>

enum {
    RANDOM_SIZE = 16,       /* of AT_RANDOM */
    FIRST_TIME = 946684800, /* 2000-01-01 00:00:00 UTC */
    HELD_SECONDS = 10,
};

/* SplitMix64 (Steele, Lea and Flood, 2014). */
static uint64_t next_random(uint64_t *state)
{
    uint64_t number = *state += UINT64_C(0x9e3779b97f4a7c15);
    number = (number ^ number >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    number = (number ^ number >> 27) * UINT64_C(0x94d049bb133111eb);
    return number ^ number >> 31;
}

static bool write_random(uint64_t *state, uint64_t address, uint64_t count)
{
    bool ok = true;
    while (ok && count > 0) {
        uint64_t number = next_random(state);
        uint64_t size = count < sizeof number ? count : sizeof number;
        ok = tr_write_safely(address, &number, size);
        address += size;
        count -= size;
    }
    return ok;
}

void tr_hold_start(uint64_t *stack)
{
    uint64_t state = 0;
    uint64_t *random = tr_auxiliary_entry(stack, AT_RANDOM);
    uint64_t *vdso = tr_auxiliary_entry(stack, AT_SYSINFO_EHDR);
    if (random)
        write_random(&state, random[1], RANDOM_SIZE);
    if (vdso)
        vdso[0] = AT_IGNORE;
}

bool tr_reads_random(const struct tr_thread *thread, uint64_t descriptor)
{
    /* Documentation/admin-guide/devices.txt; old_encode_dev() in linux/kdev_t.h */
    enum {
        FILE_TYPE = 0170000,
        CHARACTER_DEVICE = 0020000,
        RANDOM = 1 << 8 | 8,
        URANDOM = 1 << 8 | 9
    };
    struct stat file;
    if (thread->process->files_forbidden ||
        tr_syscall(__NR_fstat, descriptor, (uint64_t)&file, 0) != 0)
        return false;
    return (file.st_mode & FILE_TYPE) == CHARACTER_DEVICE &&
           (file.st_rdev == RANDOM || file.st_rdev == URANDOM);
}

void tr_hold_random(struct tr_thread *thread, uint64_t address, uint64_t count)
{
    if (thread->random == 0)
        thread->random = (uint64_t)thread->serial + 1;
    write_random(&thread->random, address, count);
}

int64_t tr_held_time(const struct tr_thread *thread)
{
    const struct tr_options *options = &thread->process->control->options;
    int64_t passed = (int64_t)((tr_rdtsc() - options->start_tsc) / options->tsc_hz);
    int64_t time = FIRST_TIME + (passed < HELD_SECONDS ? 0 : passed);
    uint64_t address = thread->app.r[TR_RDI];
    return address && !tr_write_safely(address, &time, sizeof time) ? -EFAULT : time;
}
