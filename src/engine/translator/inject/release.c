#include "engine/translator/inject/release.h"

#include "base/file.h"
#include "base/monotonic.h"
#include "engine/translator/inject/attached_state.h"
#include "engine/translator/inject/remote_call.h"
#include "engine/translator/inject/signal_frames.h"
#include "engine/translator/inject/stopped_threads.h"
#include "process/maps_line.h"
#include "process/processes.h"
#include "runtime/translator/attachment.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/kcmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { SYSCALL_SIZE = 2, PAGE = 4096 };

struct releasing {
    const struct translator_arena *arena; /* NULL: of an earlier recording */
    struct stopped_threads stopped;
    struct remote_stub stub;
    struct tr_attachment attachment;
};

uint64_t release_signature(const struct runtime_image *image)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325); /* FNV-1a */
    for (size_t i = 0; i < image->size; i++)
        hash = (hash ^ image->bytes[i]) * UINT64_C(0x100000001b3);
    return hash;
}

void release_mark_image(uint8_t *stored, const struct runtime_image *image, pid_t recorder)
{
    struct tr_attachment *attachment = (void *)(stored + TR_ATTACHMENT_OFFSET);
    attachment->thread_size = sizeof(struct tr_thread);
    attachment->signature = release_signature(image);
    attachment->recorder = recorder;
}

/* ---- finding the runtime ---- */

static bool read_attachment(int memory, uint64_t image, struct tr_attachment *attachment)
{
    return pread(memory, attachment, sizeof *attachment, (off_t)(image + TR_ATTACHMENT_OFFSET)) ==
               (ssize_t)sizeof *attachment &&
           attachment->magic == TR_ATTACHMENT_MAGIC && attachment->image == image;
}

/* Anonymous memory that is writable and executable, as the image's is. */
static bool find_attachment(pid_t pid, struct tr_attachment *attachment)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/maps", (int)pid);
    char *maps = file_read(path, NULL, NULL);
    snprintf(path, sizeof path, "/proc/%d/mem", (int)pid);
    int memory = maps ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    bool found = false;
    char *rest = maps;
    for (struct maps_line line; memory >= 0 && !found && maps_line_next(&rest, &line);)
        found = line.protection == (PROT_READ | PROT_WRITE | PROT_EXEC) && !line.shared &&
                read_attachment(memory, line.start, attachment);
    if (memory >= 0)
        close(memory);
    free(maps);
    return found;
}

/* ---- where the threads are ---- */

enum place {
    NATIVE,
    IN_CALL, /* of the program, which the runtime makes; `thread` is known */
    BUSY,    /* in the cache or the runtime: it leaves soon */
};

/* In the `size` bytes at `start`, or in a signal handler that returns there. */
static bool is_within(const struct releasing *releasing, const struct stopped_thread *stopped,
                      uint64_t start, uint64_t size)
{
    const struct user_regs_struct *registers = &stopped->registers;
    return registers->rip - start < size ||
           signal_frame_returns_to(releasing->stopped.memory, registers->rsp, start, size);
}

/* Handlers return there only when the recorder has left the carrier alone: it goes on by itself (attach.S). */
static bool is_within_image(const struct releasing *releasing, const struct stopped_thread *stopped)
{
    const struct tr_attachment *attachment = &releasing->attachment;
    uint64_t start = attachment->image, size = attachment->image_size;
    return atomic_load(&attachment->state) == TR_ATTACH_ABANDONED
               ? is_within(releasing, stopped, start, size)
               : stopped->registers.rip - start < size;
}

static enum place place_of(const struct releasing *releasing, const struct stopped_thread *stopped,
                           struct tr_thread *thread)
{
    const struct tr_attachment *attachment = &releasing->attachment;
    const struct user_regs_struct *registers = &stopped->registers;
    uint64_t made = attachment->image + TR_ATTACHMENT_OFFSET + (uint64_t)attachment->syscall_made;
    if (registers->gs_base == 0)
        return is_within_image(releasing, stopped) ? BUSY : NATIVE;
    if (!threads_read(&releasing->stopped, registers->gs_base, thread, sizeof *thread) ||
        (uint64_t)thread->hot.self != registers->gs_base)
        return NATIVE; /* the program's own use of it */
    bool asleep = registers->rip == made && stopped->calls && thread->in_syscall &&
                  thread->signals.pending == 0 && thread->signals.held == 0 && !thread->vforked;
    return asleep ? IN_CALL : BUSY;
}

/* ---- a thread that sleeps ---- */

/* At the program's SYSCALL instruction. A call with a restart block is one of restart_syscall then. */
static struct remote_return native_return(const struct stopped_thread *stopped,
                                          const struct tr_thread *thread)
{
    const struct tr_signals_of_thread *signals = &thread->signals;
    struct remote_return to = {
        .registers = stopped->registers,
        .mask = signals->restores_mask ? signals->saved_mask : signals->mask,
    };
    attached_state_set(&to.registers, &thread->app);
    to.registers.rip -= SYSCALL_SIZE;
    to.registers.rax = stopped->next.rax;
    to.registers.orig_rax = UINT64_MAX;
    to.registers.gs_base = 0;
    return to;
}

static bool restore_alt_stack(const struct releasing *releasing,
                              const struct stopped_thread *stopped, const struct tr_thread *thread,
                              const struct remote_return *to, struct error *error)
{
    const struct tr_signals_of_thread *signals = &thread->signals;
    uint64_t place = stopped->registers.gs_base + offsetof(struct tr_thread, signals.info);
    stack_t stack = {.ss_sp = (void *)signals->alt_start,
                     .ss_flags = signals->alt_size ? (int)signals->alt_flags : SS_DISABLE,
                     .ss_size = signals->alt_size};
    const uint64_t arguments[6] = {place};
    int64_t result;
    return threads_write(&releasing->stopped, place, &stack, sizeof stack) &&
           remote_call(&releasing->stub, stopped->tid, to, SYS_sigaltstack, arguments, &result,
                       error);
}

static bool restore_rseq(const struct releasing *releasing, const struct stopped_thread *stopped,
                         const struct tr_thread *thread, const struct remote_return *to,
                         struct error *error)
{
    const struct tr_rseq *rseq = &thread->rseq;
    const uint64_t arguments[6] = {rseq->address, rseq->size, 0, rseq->signature};
    int64_t result;
    if (rseq->address == 0)
        return true;
    return remote_call(&releasing->stub, stopped->tid, to, SYS_rseq, arguments, &result, error);
}

static void end_log(const struct releasing *releasing, const struct tr_thread *thread)
{
    const struct translator_arena *arena = releasing->arena;
    if (!arena || !thread->slot || thread->serial == UINT32_MAX)
        return;
    uint32_t runs = TR_SLOT_RUNS;
    struct tr_slot *slot =
        translator_arena_slot(arena, thread->serial % arena->geometry.slot_count, NULL);
    if (slot && slot->serial == thread->serial)
        atomic_compare_exchange_strong(&slot->ended, &runs, TR_SLOT_LET_GO);
}

static bool wake_natively(const struct releasing *releasing, struct stopped_thread *stopped,
                          const struct tr_thread *thread)
{
    struct remote_return to = native_return(stopped, thread);
    struct error unheard;
    if (!remote_begin(&releasing->stub, &to, &unheard) ||
        !restore_alt_stack(releasing, stopped, thread, &to, &unheard) ||
        !restore_rseq(releasing, stopped, thread, &to, &unheard) ||
        !remote_end(&releasing->stub, stopped->tid, &to, &unheard))
        return false;
    end_log(releasing, thread);
    stopped->registers = stopped->next = to.registers;
    stopped->mask = to.mask;
    stopped->calls = false; /* and `waits` stays */
    return true;
}

/* ---- a process ---- */

static bool any_is_busy(const struct releasing *releasing)
{
    struct tr_thread unused;
    for (size_t i = 0; i < releasing->stopped.threads.count; i++)
        if (place_of(releasing, array_at(&releasing->stopped.threads, i), &unused) == BUSY)
            return true;
    return false;
}

/* While others use the translator no thread is moved out: what it does natively, as writing to code, they would not notice. */
static bool move_sleepers(struct releasing *releasing)
{
    if (any_is_busy(releasing))
        return false;
    bool all = true;
    for (size_t i = 0; i < releasing->stopped.threads.count; i++) {
        struct stopped_thread *stopped = array_at(&releasing->stopped.threads, i);
        struct tr_thread thread;
        if (place_of(releasing, stopped, &thread) == IN_CALL)
            all &= wake_natively(releasing, stopped, &thread);
    }
    return all;
}

static bool refresh(struct releasing *releasing)
{
    return read_attachment(releasing->stopped.memory, releasing->attachment.image,
                           &releasing->attachment);
}

/* Has a thread undo the rest: it is stopped again after it. */
static bool clear_up(struct releasing *releasing, struct stopped_thread *carrier)
{
    enum { ROUNDS = 200000 };
    const struct timespec pause = {.tv_nsec = 50 * 1000};
    struct tr_attachment *attachment = &releasing->attachment;
    struct user_regs_struct registers = carrier->next;
    uint64_t place = attachment->image + TR_ATTACHMENT_OFFSET;
    registers.rip = place + (uint64_t)attachment->release_start;
    registers.orig_rax = UINT64_MAX;
    attachment->leaving_mask = carrier->mask;
    attached_state_get(&attachment->leaving, &carrier->next);
    atomic_store(&attachment->state, TR_ATTACH_BEGINS);
    if (!threads_write(&releasing->stopped, place, attachment, sizeof *attachment) ||
        !thread_set(carrier, &registers, UINT64_MAX) ||
        ptrace(PTRACE_CONT, carrier->tid, NULL, NULL) != 0)
        return false;
    carrier->stopped = false;
    for (int round = 0; round < ROUNDS && refresh(releasing) &&
                        atomic_load(&attachment->state) == TR_ATTACH_BEGINS;
         round++)
        nanosleep(&pause, NULL);
    return thread_stop_again(carrier) && refresh(releasing) &&
           atomic_load(&attachment->state) == TR_ATTACH_RELEASED;
}

/* All threads are native, and stopped. */
static bool remove_runtime(struct releasing *releasing)
{
    struct stopped_thread *carrier = array_at(&releasing->stopped.threads, 0);
    struct remote_return to = {carrier->next, carrier->mask};
    const uint64_t arguments[6] = {releasing->attachment.image, releasing->attachment.whole_size};
    struct error unheard;
    int64_t result;
    to.registers.orig_rax = UINT64_MAX;
    bool ok = clear_up(releasing, carrier) && remote_begin(&releasing->stub, &to, &unheard) &&
              remote_call(&releasing->stub, carrier->tid, &to, SYS_munmap, arguments, &result,
                          &unheard) &&
              remote_end(&releasing->stub, carrier->tid, &to, &unheard);
    if (carrier->stopped)
        thread_detach(carrier);
    return ok;
}

/* One stop. True: nothing of the runtime is left in the process, or it has ended. */
static bool release_stopped(struct releasing *releasing)
{
    struct error unheard;
    struct stopped_thread *first = array_at(&releasing->stopped.threads, 0);
    if (!find_attachment(releasing->stopped.pid, &releasing->attachment))
        return true; /* it has executed another program */
    if (!remote_stub_place(&releasing->stub, releasing->stopped.pid, first->tid,
                           releasing->stopped.memory, &unheard))
        return false;
    bool all = move_sleepers(releasing) && remove_runtime(releasing);
    remote_stub_remove(&releasing->stub);
    return all;
}

static bool release_once(const struct translator_arena *arena, pid_t pid)
{
    struct releasing releasing = {.arena = arena};
    struct error error = {0};
    if (!threads_stop(&releasing.stopped, pid, &error))
        return error.code == ERROR_NOT_FOUND;
    bool all = release_stopped(&releasing);
    threads_go_on(&releasing.stopped);
    return all;
}

typedef bool attempt(const struct translator_arena *arena, pid_t pid);

/* Until one succeeds. */
static bool try_for(unsigned patience_ms, attempt *once, const struct translator_arena *arena,
                    pid_t pid)
{
    enum { LONGEST_PAUSE = 50 };
    unsigned pause_ms = 1;
    uint64_t deadline = monotonic_ms() + patience_ms;
    while (!once(arena, pid)) {
        if (monotonic_ms() >= deadline)
            return false;
        const struct timespec pause = {.tv_nsec = pause_ms * 1000000L};
        nanosleep(&pause, NULL);
        pause_ms = pause_ms * 2 < LONGEST_PAUSE ? pause_ms * 2 : LONGEST_PAUSE;
    }
    return true;
}

/* Whether no thread is in the stub of a recorder that was killed: one that is leaves by itself. True also when the process cannot be
 * stopped for another reason than that it is being attached to, which the caller finds out. */
static bool has_left_stub(const struct translator_arena *arena, pid_t pid)
{
    struct releasing releasing = {.arena = arena};
    struct error error = {0};
    uint64_t stub = remote_stub_left(pid), size = remote_stub_size();
    bool inside = false;
    if (!stub)
        return true;
    if (!threads_stop(&releasing.stopped, pid, &error))
        return error.code != ERROR_IO;
    for (size_t i = 0; !inside && i < releasing.stopped.threads.count; i++)
        inside = is_within(&releasing, array_at(&releasing.stopped.threads, i), stub, size);
    threads_go_on(&releasing.stopped);
    return !inside;
}

static bool is_of_this_build(const struct tr_attachment *attachment,
                             const struct runtime_image *image)
{
    return attachment->thread_size == sizeof(struct tr_thread) &&
           attachment->signature == release_signature(image);
}

/* A child made by vfork is a process of its own, but its memory is its parent's, with whose release it goes; or its own, when the parent has
 * ended. */
static bool has_own_memory(const struct tr_attachment *attachment, pid_t pid)
{
    enum { ORDERED_AFTER = 2 };
    if (pid == attachment->outer_pid)
        return true;
    long order = syscall(SYS_kcmp, pid, attachment->outer_pid, KCMP_VM, 0, 0);
    return order < 0 ? errno == ESRCH : order > 0 && order <= ORDERED_AFTER;
}

struct sweep {
    unsigned found, failed;
};

static struct sweep sweep(const struct translator_arena *arena, const struct runtime_image *image,
                          unsigned patience_ms)
{
    struct tr_attachment attachment;
    struct sweep sweep = {0};
    DIR *processes = opendir("/proc");
    for (struct dirent *entry; processes && (entry = readdir(processes));) {
        pid_t pid = (pid_t)atoi(entry->d_name);
        if (pid <= 0 || pid == getpid() || !process_maps_file(pid, &arena->file) ||
            !find_attachment(pid, &attachment) || !is_of_this_build(&attachment, image) ||
            !has_own_memory(&attachment, pid))
            continue;
        sweep.found++;
        sweep.failed += !try_for(patience_ms, release_once, arena, pid);
    }
    if (processes)
        closedir(processes);
    return sweep;
}

/* Processes may have made others after the list of processes was read where these would be. */
unsigned release_all(const struct translator_arena *arena, const struct runtime_image *image,
                     unsigned patience_ms)
{
    enum { MOST_SWEEPS = 20 };
    struct sweep last = {.found = 1};
    for (int i = 0; i < MOST_SWEEPS && last.found > 0 && last.failed == 0; i++)
        last = sweep(arena, image, patience_ms);
    return last.failed;
}

bool release_leftovers(const struct runtime_image *image, pid_t pid, struct error *error)
{
    enum { PATIENCE_MS = 60000 };
    static const char still_let_go[] =
        "it is still being let go by a magic-trace that was killed. Try again later";
    struct tr_attachment attachment;
    char name[16];
    bool left = try_for(PATIENCE_MS, has_left_stub, NULL, pid);
    if (!left)
        return error_set(error, ERROR_UNSUPPORTED, "%s", still_let_go);
    if (!find_attachment(pid, &attachment))
        return true;
    process_name(attachment.recorder, name, sizeof name);
    if (kill(attachment.recorder, 0) == 0 && strncmp(name, "magic-trace", 11) == 0)
        return error_set(error, ERROR_UNSUPPORTED, "another magic-trace, %d, traces it already",
                         (int)attachment.recorder);
    if (!is_of_this_build(&attachment, image))
        return error_set(error, ERROR_UNSUPPORTED,
                         "a magic-trace of another version has traced it and was killed; attach "
                         "with that one once more");
    /* Its threads leave when they run, and on a busy machine wait for a processor before. */
    return try_for(PATIENCE_MS, release_once, NULL, pid) ||
           error_set(error, ERROR_UNSUPPORTED, "%s", still_let_go);
}
