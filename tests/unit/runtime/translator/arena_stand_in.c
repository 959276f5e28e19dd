#include "arena_stand_in.h"

#include "engine/packets/code_image.h"
#include "engine/packets/log_reader.h"
#include "runtime/translator/code/code_pages.h"
#include "runtime/translator/code/fragment.h"
#include "runtime/translator/lock.h"
#include "runtime/translator/log/clock.h"
#include "runtime/translator/system.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

struct tr_process tr_process;

static struct tr_thread the_thread;
static uint64_t invalidated[STAND_IN_INVALIDATIONS][2];
static unsigned invalidations;

/* --- What the runtime's modules call --- */

void tr_clock_prolong_work(struct tr_control *control)
{
    (void)control;
}

void tr_lock(uint32_t *lock)
{
    while (__atomic_exchange_n(lock, 1, __ATOMIC_ACQUIRE))
        usleep(1);
}

void tr_unlock(uint32_t *lock)
{
    __atomic_store_n(lock, 0, __ATOMIC_RELEASE);
}

uint64_t tr_time(struct tr_thread *thread)
{
    return ++thread->hot.last_time;
}

uint64_t tr_clock_new_moment(struct tr_thread *thread)
{
    return ++thread->hot.last_time;
}

void tr_invalidate(struct tr_thread *thread, uint64_t start, uint64_t end)
{
    if (invalidations == STAND_IN_INVALIDATIONS)
        abort();
    invalidated[invalidations][0] = start;
    invalidated[invalidations++][1] = end;
}

/* --- The master handler --- */

static void handle_fault(int signal, siginfo_t *info, void *context)
{
    enum { WRITE = 2 };
    greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;
    bool writes = signal == SIGSEGV && (registers[REG_ERR] & WRITE);
    if (writes &&
        tr_code_written(&the_thread, (uint64_t)info->si_addr, (uint64_t)registers[REG_RIP]))
        return;
    if (!tr_is_fault_safe((uint64_t)registers[REG_RIP]))
        abort();
    registers[REG_RIP] = (greg_t)tr_fault_safe_failed;
}

static void handle_faults(void)
{
    struct sigaction action = {.sa_sigaction = handle_fault, .sa_flags = SA_SIGINFO};
    sigaction(SIGSEGV, &action, NULL);
    sigaction(SIGBUS, &action, NULL);
}

/* --- The tests' side --- */

static void *map_arena(void)
{
    char path[] = "/tmp/magic-trace-arena-XXXXXX";
    int file = mkstemp(path);
    unlink(path);
    if (file < 0 || ftruncate(file, STAND_IN_ARENA_SIZE) != 0)
        abort();
    uint8_t *arena = mmap(NULL, STAND_IN_ARENA_SIZE, PROT_NONE, MAP_SHARED, file, 0);
    close(file);
    mprotect(arena, STAND_IN_LOG_OFFSET + STAND_IN_LOG_SIZE, PROT_READ | PROT_WRITE);
    return arena;
}

struct tr_thread *stand_in_begin(void)
{
    struct tr_control *control = map_arena();
    tr_process = (struct tr_process){.control = control, .arena = (uint8_t *)control, .pid = 1234};
    control->magic = TR_CONTROL_MAGIC;
    control->arena_size = STAND_IN_ARENA_SIZE;
    control->log_offset = STAND_IN_LOG_OFFSET;
    control->log_size = STAND_IN_LOG_SIZE;
    control->dump_offset = STAND_IN_DUMP_OFFSET;
    control->dump_size = STAND_IN_DUMP_SIZE;
    the_thread = (struct tr_thread){.process = &tr_process, .serial = 7, .pid = 1234, .tid = 1235};
    stand_in_forget();
    handle_faults();
    return &the_thread;
}

void stand_in_end(void)
{
    signal(SIGSEGV, SIG_DFL);
    signal(SIGBUS, SIG_DFL);
}

bool stand_in_invalidated(uint64_t start, uint64_t end)
{
    for (unsigned i = 0; i < invalidations; i++)
        if (invalidated[i][0] <= start && end <= invalidated[i][1])
            return true;
    return false;
}

void stand_in_forget(void)
{
    invalidations = 0;
}

static struct log_reader read_log(void)
{
    return (struct log_reader){.log = tr_process.arena + STAND_IN_LOG_OFFSET,
                               .size = STAND_IN_LOG_SIZE};
}

const struct logged_mapping *stand_in_mapping(uint64_t address)
{
    struct log_reader reader = read_log();
    const struct logged_mapping *last = NULL;
    for (const struct logged_record *record; (record = log_reader_next(&reader));) {
        const struct logged_mapping *mapping = (const struct logged_mapping *)record;
        if (record->kind == LOGGED_MAPPING && address - mapping->start < mapping->length)
            last = mapping;
    }
    return last;
}

const uint8_t *stand_in_dump(const struct logged_mapping *mapping)
{
    unsigned long number;
    if (!mapping->jit || sscanf(mapping->path, "images/dump.%lx", &number) != 1)
        return NULL;
    uint8_t *area = tr_process.arena + STAND_IN_DUMP_OFFSET;
    mprotect(area, STAND_IN_DUMP_SIZE, PROT_READ | PROT_WRITE);
    return area + number * TR_DUMP_SPAN + (mapping->file_offset - CODE_IMAGE_OFFSET);
}

unsigned stand_in_count(enum logged_kind kind)
{
    struct log_reader reader = read_log();
    unsigned count = 0;
    for (const struct logged_record *record; (record = log_reader_next(&reader));)
        count += record->kind == kind;
    return count;
}
