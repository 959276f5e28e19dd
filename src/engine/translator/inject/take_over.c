#include "engine/translator/inject/take_over.h"

#include "base/log.h"
#include "base/memory.h"
#include "engine/translator/inject/attach_refusals.h"
#include "engine/translator/inject/attached_state.h"
#include "engine/translator/inject/inject.h"
#include "engine/translator/inject/installed_filters.h"
#include "engine/translator/inject/pass_descriptor.h"
#include "engine/translator/inject/release.h"
#include "engine/translator/inject/remote_call.h"
#include "engine/translator/inject/signal_state.h"
#include "engine/translator/inject/stopped_threads.h"
#include "process/processes.h"
#include "recording/flags.h"
#include "runtime/translator/attachment.h"
#include "runtime/translator/places.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { PAGE = 4096, HWCAP2_FSGSBASE = 1 << 1 };

struct taking {
    struct translator_arena *arena;
    const struct runtime_image *image;
    struct stopped_threads stopped;
    struct remote_stub stub;
    struct tr_attachment attachment;
    struct tr_attached_thread *threads; /* as many as are stopped; owned */
    uint32_t table;
    pid_t recorder, first;
    bool filtered;          /* its threads' seccomp filters are looked at */
    bool has_own_namespace; /* of process numbers */
    struct stopped_thread *carrier;
};

static struct stopped_thread *thread_at(const struct taking *taking, size_t index)
{
    return array_at(&taking->stopped.threads, index);
}

static struct remote_return native_return(const struct stopped_thread *thread)
{
    return (struct remote_return){thread->next, thread->mask};
}

static pid_t number_within(const struct taking *taking, pid_t tid)
{
    return taking->has_own_namespace ? process_number_within(tid) : tid;
}

/* ---- what the threads are doing ---- */

/* The area that the kernel looks at when it schedules the thread (include/uapi/linux/rseq.h). While it is registered, and the
 * thread is in one of its critical sections, being stopped has aborted that. False: it cannot be read. */
static bool describe_rseq(const struct taking *taking, struct stopped_thread *thread,
                          struct tr_attached_thread *attached)
{
    enum { CRITICAL_SECTION_OFFSET = 8 };
    struct __ptrace_rseq_configuration known = {0};
    struct {
        uint32_t version, flags;
        uint64_t start, size, abort;
    } section;
    if (ptrace(PTRACE_GET_RSEQ_CONFIGURATION, thread->tid, (void *)sizeof known, &known) < 0 ||
        known.rseq_abi_pointer == 0)
        return true;
    attached->rseq = (struct tr_rseq){known.rseq_abi_pointer, known.rseq_abi_size, known.signature};
    uint64_t place = known.rseq_abi_pointer + CRITICAL_SECTION_OFFSET, at, none = 0;
    if (!threads_read(&taking->stopped, place, &at, sizeof at))
        return false;
    if (at == 0)
        return true;
    if (!threads_read(&taking->stopped, at, &section, sizeof section))
        return false;
    if (thread->next.rip - section.start < section.size)
        thread->next.rip = section.abort;
    return threads_write(&taking->stopped, place, &none, sizeof none);
}

static bool is_at_syscall(const struct taking *taking, const struct stopped_thread *thread)
{
    static const uint8_t instruction[2] = {0x0f, 0x05};
    uint8_t code[2];
    return threads_read(&taking->stopped, thread->next.rip, code, sizeof code) &&
           memcmp(code, instruction, sizeof code) == 0;
}

/* A call that the kernel is about to restart is made first: any signal frame would make it end with EINTR. */
static bool describe_thread(const struct taking *taking, struct stopped_thread *thread,
                            struct tr_attached_thread *attached, struct error *error)
{
    const struct tr_options *options = &taking->arena->options;
    if (!attach_allows_state(thread->tid, &thread->registers, error) ||
        (taking->filtered && !installed_filters_allow(thread->tid, error)))
        return false;
    bool at_call = is_at_syscall(taking, thread);
    if (thread->calls && !at_call)
        return error_set(error, ERROR_UNSUPPORTED,
                         "a thread of it is in a system call that is not made by SYSCALL");
    attached->tid = number_within(taking, thread->tid);
    attached->calls = thread->calls || (at_call && thread->next.rax == SYS_restart_syscall);
    attached->recorded = options->multi_thread ||
                         thread->tid == (taking->first ? taking->first : taking->stopped.pid);
    attached->mask = thread->mask;
    process_name(thread->tid, attached->name, sizeof attached->name);
    if (!describe_rseq(taking, thread, attached))
        return error_set(error, ERROR_IO, "the rseq area of a thread cannot be read");
    attached_state_get(&attached->app, &thread->next);
    return true;
}

static bool describe_threads(struct taking *taking, struct error *error)
{
    size_t count = taking->stopped.threads.count;
    taking->threads = memory_allocate_zeroed(count * sizeof *taking->threads);
    for (size_t i = 0; i < count; i++)
        if (!describe_thread(taking, thread_at(taking, i), &taking->threads[i], error))
            return false;
    return true;
}

/* ---- what the process gets ---- */

static uint64_t threads_size(const struct taking *taking)
{
    return taking->stopped.threads.count * sizeof *taking->threads;
}

static uint64_t whole_size(const struct taking *taking)
{
    uint64_t size = taking->image->memory + threads_size(taking) + strlen(taking->arena->path) + 1;
    return (size + PAGE - 1) / PAGE * PAGE;
}

/* The first place where the process has nothing; or the usual one, and the kernel chooses what is taken. */
static uint64_t choose_place(pid_t pid, uint64_t arena_size)
{
    for (unsigned i = 0; i < TR_PLACE_COUNT; i++) {
        uint64_t place = TR_PLACE - i * TR_PLACE_STEP;
        if (process_maps_nothing(pid, place, place + TR_PLACE_ARENA + arena_size))
            return place;
    }
    return TR_PLACE;
}

static bool map_image(struct taking *taking, struct error *error)
{
    struct remote_return to = native_return(taking->carrier);
    uint64_t place = choose_place(taking->stopped.pid, taking->arena->size);
    const uint64_t arguments[6] = {place,
                                   whole_size(taking),
                                   PROT_READ | PROT_WRITE | PROT_EXEC,
                                   MAP_PRIVATE | MAP_ANONYMOUS,
                                   UINT64_MAX,
                                   0};
    int64_t result;
    if (!remote_begin(&taking->stub, &to, error) ||
        !remote_call(&taking->stub, taking->carrier->tid, &to, SYS_mmap, arguments, &result, error))
        return false;
    if (result < 0 && result > -PAGE)
        return error_set_errno(error, ERROR_UNSUPPORTED, (int)-result,
                               "it may not have memory that is writable and executable");
    taking->attachment.image = (uint64_t)result;
    taking->attachment.place = place;
    return true;
}

/* By its path, or as a descriptor where it cannot open that. */
static bool give_arena(struct taking *taking, struct error *error)
{
    const struct translator_arena *arena = taking->arena;
    struct remote_return to = native_return(taking->carrier);
    const struct descriptor_passing passing = {.stub = &taking->stub,
                                               .tid = taking->carrier->tid,
                                               .to = &to,
                                               .memory = taking->attachment.image};
    taking->attachment.arena_file = -1;
    return inject_can_open(taking->stopped.pid, arena->path, NULL) ||
           pass_descriptor(&passing, arena->descriptor, &taking->attachment.arena_file, error);
}

static void fill_attachment(struct taking *taking)
{
    struct tr_attachment *attachment = &taking->attachment;
    const struct translator_arena *arena = taking->arena;
    uint64_t image = attachment->image, place = attachment->place;
    int32_t arena_file = attachment->arena_file;
    memcpy(attachment, taking->image->bytes + TR_ATTACHMENT_OFFSET, sizeof *attachment);
    attachment->thread_size = sizeof(struct tr_thread);
    attachment->signature = release_signature(taking->image);
    attachment->leaving_mask = taking->carrier->mask;
    attached_state_get(&attachment->leaving, &taking->carrier->next);
    attachment->image = image;
    attachment->place = place;
    attachment->arena_file = arena_file;
    attachment->image_size = taking->image->memory;
    attachment->whole_size = whole_size(taking);
    attachment->threads = image + taking->image->memory;
    attachment->path = attachment->threads + threads_size(taking);
    attachment->arena_size = arena->size;
    attachment->open_size = arena->geometry.log_offset + arena->geometry.log_size;
    attachment->thread_count = (uint32_t)taking->stopped.threads.count;
    attachment->carrier = 0;
    attachment->table = taking->table;
    attachment->pid = number_within(taking, taking->stopped.pid);
    attachment->outer_pid = taking->stopped.pid;
    attachment->recorder = taking->recorder;
    attachment->fsgsbase = (getauxval(AT_HWCAP2) & HWCAP2_FSGSBASE) != 0;
    attachment->supplies_pages =
        process_has_descriptor(taking->stopped.pid, "anon_inode:[userfaultfd]");
    signal_state_learn(attachment->extended_state, &attachment->protection_keys);
    process_name(taking->stopped.pid, attachment->name, sizeof attachment->name);
}

static bool write_image(struct taking *taking, struct error *error)
{
    fill_attachment(taking);
    const struct tr_attachment *attachment = &taking->attachment;
    const struct stopped_threads *stopped = &taking->stopped;
    return (threads_write(stopped, attachment->image, taking->image->bytes, taking->image->size) &&
            threads_write(stopped, attachment->image + TR_ATTACHMENT_OFFSET, attachment,
                          sizeof *attachment) &&
            threads_write(stopped, attachment->threads, taking->threads, threads_size(taking)) &&
            threads_write(stopped, attachment->path, taking->arena->path,
                          strlen(taking->arena->path) + 1)) ||
           error_set_errno(error, ERROR_IO, errno, "its memory cannot be written");
}

/* ---- the carrier ---- */

static bool refresh(struct taking *taking)
{
    return threads_read(&taking->stopped, taking->attachment.image + TR_ATTACHMENT_OFFSET,
                        &taking->attachment, sizeof taking->attachment);
}

static bool explain_failure(const struct tr_attachment *attachment, struct error *error)
{
    int reason = attachment->problem_number;
    switch ((enum tr_attach_problem)attachment->problem) {
    case TR_ATTACH_CANNOT_OPEN:
        return error_set_errno(error, ERROR_UNSUPPORTED, reason, "it cannot open the recording");
    case TR_ATTACH_NO_SPACE:
        return error_set_errno(error, ERROR_UNSUPPORTED, reason,
                               "it has no address space for the recording (see ulimit -v)");
    case TR_ATTACH_TSC_FORBIDDEN:
        return error_set(error, ERROR_UNSUPPORTED, "it may not read the time-stamp counter");
    case TR_ATTACH_NO_MAPS:
        return error_set(error, ERROR_UNSUPPORTED,
                         "it cannot open its /proc/self/maps (%s). Mount a proc file system in its "
                         "root directory",
                         strerror(reason));
    case TR_ATTACH_NO_MEMORY:
        break;
    }
    return error_set(error, ERROR_UNSUPPORTED, "it has no memory for the translator");
}

/* Has the carrier make all ready; it is stopped again after it. */
static bool prepare(struct taking *taking, struct error *error)
{
    enum { ROUNDS = 200000 };
    const struct timespec pause = {.tv_nsec = 50 * 1000};
    struct user_regs_struct registers = taking->carrier->next;
    registers.rip =
        taking->attachment.image + TR_ATTACHMENT_OFFSET + (uint64_t)taking->attachment.start;
    registers.orig_rax = UINT64_MAX;
    if (!thread_set(taking->carrier, &registers, UINT64_MAX) ||
        ptrace(PTRACE_CONT, taking->carrier->tid, NULL, NULL) != 0)
        return error_set_errno(error, ERROR_IO, errno, "its first thread cannot be continued");
    taking->carrier->stopped = false;
    bool read = true;
    for (int round = 0; round < ROUNDS && (read = refresh(taking)) &&
                        atomic_load(&taking->attachment.state) == TR_ATTACH_BEGINS;
         round++)
        nanosleep(&pause, NULL);
    if (!thread_stop_again(taking->carrier) || !read || !refresh(taking))
        return error_set(error, ERROR_NOT_FOUND, "it has ended, or does not answer");
    switch ((enum tr_attach_state)atomic_load(&taking->attachment.state)) {
    case TR_ATTACH_READY:
        return true;
    case TR_ATTACH_FAILED:
        return explain_failure(&taking->attachment, error);
    default:
        return error_set(error, ERROR_IO, "it took too long");
    }
}

/* Nothing of ours runs in it. Its threads are where they stopped, but for the carrier. */
static void undo(struct taking *taking)
{
    struct remote_return to = native_return(taking->carrier);
    const uint64_t arguments[6] = {taking->attachment.image, whole_size(taking)};
    struct error unheard;
    int64_t result;
    bool goes_by_itself = atomic_load(&taking->attachment.state) == TR_ATTACH_ABANDONED;
    if (!taking->carrier->stopped || goes_by_itself)
        return;
    remote_begin(&taking->stub, &to, &unheard);
    if (taking->attachment.image)
        remote_call(&taking->stub, taking->carrier->tid, &to, SYS_munmap, arguments, &result,
                    &unheard);
    remote_end(&taking->stub, taking->carrier->tid, &to, &unheard);
    remote_stub_remove(&taking->stub);
    thread_detach(taking->carrier);
}

/* ---- the others ---- */

/* From here on it is traced: whatever happens to the recorder. */
static bool move_thread(const struct taking *taking, struct stopped_thread *thread,
                        const struct tr_attached_thread *attached)
{
    struct user_regs_struct registers = thread->next;
    uint64_t stack;
    if (!threads_read(&taking->stopped,
                      (uint64_t)attached->thread + offsetof(struct tr_thread, hot.stack), &stack,
                      sizeof stack))
        return false;
    registers.rip =
        taking->attachment.image + TR_ATTACHMENT_OFFSET + (uint64_t)taking->attachment.thread_start;
    registers.rsp = stack;
    registers.rdi = (uint64_t)attached->thread;
    registers.gs_base = (uint64_t)attached->thread;
    registers.orig_rax = UINT64_MAX;
    if (!thread_set(thread, &registers, UINT64_MAX))
        return false;
    thread_detach(thread);
    return true;
}

static bool move_all(struct taking *taking)
{
    bool any = false;
    threads_read(&taking->stopped, taking->attachment.threads, taking->threads,
                 threads_size(taking));
    remote_stub_remove(&taking->stub);
    for (size_t i = 0; i < taking->stopped.threads.count; i++)
        any |= move_thread(taking, thread_at(taking, i), &taking->threads[i]);
    return any;
}

/* ---- taking over ---- */

static bool take_stopped(struct taking *taking, struct error *error)
{
    taking->carrier = thread_at(taking, 0);
    taking->has_own_namespace = !process_namespaces_are_same(getpid(), taking->stopped.pid);
    if (taking->has_own_namespace)
        atomic_store(&taking->arena->control->has_namespaces, 1);
    if (!describe_threads(taking, error) ||
        !remote_stub_place(&taking->stub, taking->stopped.pid, taking->carrier->tid,
                           taking->stopped.memory, error))
        return false;
    if (map_image(taking, error) && give_arena(taking, error) && write_image(taking, error) &&
        prepare(taking, error))
        return move_all(taking) || error_set(error, ERROR_NOT_FOUND, "it has ended");
    undo(taking);
    return false;
}

/* Threads that do not stop, as those that wait for a child made by vfork, often do a moment later. */
static bool stop_patiently(struct stopped_threads *stopped, pid_t pid, struct error *error)
{
    enum { TRIES = 20 };
    const struct timespec pause = {.tv_nsec = 20 * 1000 * 1000};
    for (int i = 1; i < TRIES; i++) {
        if (threads_stop(stopped, pid, error))
            return true;
        if (error->code != ERROR_IO)
            return false;
        nanosleep(&pause, NULL);
    }
    return threads_stop(stopped, pid, error);
}

static bool take(struct taking *taking, pid_t pid, struct error *error)
{
    if (!translator_arena_reserve_table(taking->arena, &taking->table))
        return error_set(error, ERROR_IO, "the recording has no place for another process");
    bool ok = taking->first ? threads_stop_at(&taking->stopped, pid, taking->first, error)
                            : stop_patiently(&taking->stopped, pid, error);
    if (ok) {
        ok = take_stopped(taking, error);
        threads_go_on(&taking->stopped);
        free(taking->threads);
    }
    if (!ok)
        translator_arena_release_table(taking->arena, taking->table);
    return ok;
}

bool take_over(struct translator_arena *arena, const struct runtime_image *image, pid_t pid,
               pid_t first, pid_t recorder, struct error *error)
{
    struct taking taking = {.arena = arena, .image = image, .recorder = recorder, .first = first};
    struct error reason = {0};
    if (attach_allows_process(arena, pid, &taking.filtered, &reason) &&
        release_leftovers(image, pid, &reason) && take(&taking, pid, &reason))
        return true;
    bool others_can = reason.code != ERROR_NOT_FOUND && reason.code != ERROR_PERMISSION;
    const char *advice =
        others_can ? " " FLAG_ENGINE " ptrace and " FLAG_SAMPLING " need less of a process." : "";
    return error_set(error, reason.code, "cannot attach to process %d: %s.%s", (int)pid,
                     reason.text, advice);
}
