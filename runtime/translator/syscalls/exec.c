/* execve and execveat.
 *
 * The kernel replaces the runtime together with the program. For the new program to be traced, too, the recorder has to
 * be the process's tracer when that begins: the process asks for it and waits (struct tr_request). */
#include "engine/packets/sideband_layout.h"
#include "runtime/translator/fault_safe.h"
#include "runtime/translator/log/clock.h"
#include "runtime/translator/log/log.h"
#include "runtime/translator/log/recorder.h"
#include "runtime/translator/log/sideband.h"
#include "runtime/translator/signals/signal.h"
#include "runtime/translator/syscalls/address_limit.h"
#include "runtime/translator/syscalls/syscall.h"
#include "runtime/translator/system.h"

#include <asm/stat.h>
#include <asm/unistd.h>
#include <linux/errno.h>
#include <linux/fcntl.h>
#include <linux/futex.h>
#include <linux/prctl.h>
#include <linux/stat.h>
#include <linux/time_types.h>

enum {
    NAME_SIZE = 16, /* TASK_COMM_LEN */
    LONGEST_PATH = 4096,
    WAIT = 50 * 1000 * 1000,  /* nanoseconds */
    SHORT_WAIT = 1000 * 1000, /* for another process's request to end */
    ATTEMPTS = 1000,
    PATIENCE = 20, /* waits without a heartbeat of the recorder */
};

/* --- The file --- */

struct exec_call {
    int32_t number;
    uint64_t directory, path, flags; /* as execveat has them */
};

static struct exec_call read_call(const struct tr_thread *thread)
{
    const uint64_t *r = thread->app.r;
    int32_t number = (int32_t)r[TR_RAX];
    if (number == __NR_execveat)
        return (struct exec_call){number, r[TR_RDI], r[TR_RSI], r[TR_R8]};
    return (struct exec_call){number, (uint64_t)AT_FDCWD, r[TR_RDI], 0};
}

/* Whether the descriptor alone names the file. */
static bool has_empty_path(const struct exec_call *call)
{
    char first;
    return (call->flags & AT_EMPTY_PATH) && tr_read_safely(&first, call->path, 1) && first == 0;
}

static bool has_capabilities(const struct exec_call *call)
{
    static const char attribute[] = "security.capability";
    int64_t result = -ENODATA;
    if (has_empty_path(call)) {
        result = tr_syscall6(__NR_fgetxattr, call->directory, (uint64_t)attribute, 0, 0, 0, 0);
    } else if ((int32_t)call->directory == AT_FDCWD) {
        result = tr_syscall6(__NR_getxattr, call->path, (uint64_t)attribute, 0, 0, 0, 0);
    } else {
        int64_t file = tr_syscall6(__NR_openat, call->directory, call->path,
                                   O_RDONLY | O_CLOEXEC | O_NONBLOCK, 0, 0, 0);
        if (file < 0)
            return false;
        result = tr_syscall6(__NR_fgetxattr, (uint64_t)file, (uint64_t)attribute, 0, 0, 0, 0);
        tr_syscall(__NR_close, (uint64_t)file, 0, 0);
    }
    return result > 0;
}

enum file_kind {
    FILE_MISSING, /* the call will fail */
    FILE_USUAL,
    FILE_PRIVILEGED, /* loses its privileges when it is traced */
    FILE_UNKNOWN,    /* perhaps one of these */
};

static enum file_kind kind_of(const struct exec_call *call)
{
    struct stat status;
    uint64_t flags = call->flags & (AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW);
    if (tr_syscall6(__NR_newfstatat, call->directory, call->path, (uint64_t)&status, flags, 0, 0) !=
            0 ||
        (status.st_mode & S_IFMT) != S_IFREG || !(status.st_mode & (S_IXUSR | S_IXGRP | S_IXOTH)))
        return FILE_MISSING;
    /* Root gains nothing; its tracer is root, too, or it would not be traced. */
    bool privileged = tr_syscall(__NR_geteuid, 0, 0, 0) != 0 &&
                      ((status.st_mode & (S_ISUID | S_ISGID)) || has_capabilities(call));
    return privileged ? FILE_PRIVILEGED : FILE_USUAL;
}

/* The last part of the path, as the kernel will call the process. */
static void read_name(const struct exec_call *call, char name[NAME_SIZE])
{
    size_t used = 0;
    char c = 0;
    for (unsigned i = 0; i < LONGEST_PATH && tr_read_safely(&c, call->path + i, 1) && c; i++) {
        if (c == '/')
            used = 0;
        else if (used < NAME_SIZE - 1)
            name[used++] = c;
    }
    name[used] = 0;
}

/* --- The request --- */

static bool recorder_is_there(const struct tr_control *control)
{
    return !atomic_load(&control->frozen) && tr_recorder_lives(control);
}

static void wake_recorder(struct tr_control *control)
{
    atomic_fetch_add(&control->requested, 1);
    tr_syscall(__NR_futex, (uint64_t)&control->requested, FUTEX_WAKE, INT32_MAX);
}

static void wait_while(struct tr_request *request, uint32_t state, int64_t nanoseconds)
{
    struct __kernel_timespec timeout = {.tv_nsec = nanoseconds};
    tr_syscall6(__NR_futex, (uint64_t)&request->state, FUTEX_WAIT, state, (uint64_t)&timeout, 0, 0);
}

/* Waits while the request is in that state. False: the recorder is gone, or does not answer. */
static bool wait_for_recorder(struct tr_control *control, struct tr_request *request,
                              uint32_t state)
{
    uint32_t heartbeat = atomic_load(&control->heartbeat);
    for (unsigned still = 0; atomic_load(&request->state) == state; still++) {
        if (still >= PATIENCE)
            atomic_store(&control->unanswered, heartbeat + 1);
        if (still >= PATIENCE || !recorder_is_there(control))
            return atomic_load(&request->state) != state;
        wait_while(request, state, WAIT);
        uint32_t now = atomic_load(&control->heartbeat);
        if (now != heartbeat)
            still = 0;
        heartbeat = now;
    }
    return true;
}

/* NULL: the recorder is not there, or more processes wait than it can serve. */
static struct tr_request *take_request(struct tr_control *control)
{
    for (unsigned attempt = 0;
         attempt < ATTEMPTS && recorder_is_there(control) &&
         atomic_load(&control->unanswered) != atomic_load(&control->heartbeat) + 1;
         attempt++) {
        for (unsigned i = 0; i < TR_REQUESTS; i++) {
            uint32_t state = TR_REQUEST_FREE;
            if (atomic_compare_exchange_strong(&control->requests[i].state, &state,
                                               TR_REQUEST_TAKEN))
                return &control->requests[i];
        }
        wait_while(&control->requests[0], atomic_load(&control->requests[0].state), SHORT_WAIT);
    }
    return NULL;
}

/* Frees a request that was not granted, unless the recorder has freed it before. */
static void drop_request(struct tr_request *request, uint32_t state)
{
    atomic_compare_exchange_strong(&request->state, &state, TR_REQUEST_FREE);
}

/* Where Yama lets only ancestors trace a process, it may name another one (Documentation/admin-guide/LSM/Yama.rst): a
 * daemon's ancestors are gone. Fails where there is no Yama. 0: all are gone. */
static void allow_tracer(uint32_t tid)
{
    tr_syscall(__NR_prctl, PR_SET_PTRACER, tid, 0);
}

/* Asks the recorder to trace the process when the new program begins. NULL: it will not. */
static struct tr_request *ask(struct tr_thread *thread)
{
    struct tr_control *control = thread->process->control;
    struct tr_request *request = take_request(control);
    if (!request)
        return NULL;
    allow_tracer(atomic_load(&control->recorder) & FUTEX_TID_MASK);
    thread->exec_cookie = tr_rdtsc();
    request->pid = (uint32_t)thread->pid;
    request->tid = (uint32_t)thread->tid;
    request->time = thread->exec_cookie;
    request->cookie_address = (uint64_t)&thread->exec_cookie;
    request->nonce_address = (uint64_t)&request->nonce;
    atomic_store(&request->state, TR_REQUEST_MADE);
    wake_recorder(control);
    if (!wait_for_recorder(control, request, TR_REQUEST_MADE))
        drop_request(request, TR_REQUEST_MADE);
    if (atomic_load(&request->state) == TR_REQUEST_GRANTED)
        return request;
    drop_request(request, TR_REQUEST_REFUSED);
    return NULL;
}

/* The recorder stops the thread for a moment, and detaches. */
static void take_back(struct tr_thread *thread, struct tr_request *request)
{
    struct tr_control *control = thread->process->control;
    atomic_store(&request->state, TR_REQUEST_FAILED);
    wake_recorder(control);
    wait_for_recorder(control, request, TR_REQUEST_FAILED);
    allow_tracer(0);
}

/* --- The call --- */

/* The log ends before the call: a successful one does not return. */
static int64_t execute(struct tr_thread *thread, const struct exec_call *call)
{
    const uint64_t *r = thread->app.r;
    const uint64_t arguments[6] = {r[TR_RDI], r[TR_RSI], r[TR_RDX], r[TR_R10], r[TR_R8], r[TR_R9]};
    int64_t result;
    tr_process_end_log(thread, TR_SLOT_EXECUTES);
    if (!thread->vforked)
        tr_process_end_other_logs(thread, TR_SLOT_RUNS, TR_SLOT_EXECUTES);
    tr_signal_before_exec(thread);
    tr_address_limit_before_exec();
    if (!tr_safe_syscall(thread, call->number, arguments, &result))
        result = TR_RESTART;
    tr_address_limit_after_failed_exec();
    tr_signal_after_failed_exec(thread);
    tr_process_end_other_logs(thread, TR_SLOT_EXECUTES, TR_SLOT_RUNS);
    tr_process_end_log(thread, TR_SLOT_RUNS);
    return result;
}

static void log_untraced(struct tr_thread *thread, const struct exec_call *call,
                         enum file_kind kind)
{
    char name[NAME_SIZE];
    const char *cause = kind == FILE_PRIVILEGED
                            ? "traced, it would lose the privileges that its file gives"
                            : "magic-trace could not become its tracer";
    bool follow = thread->process->control->options.follow;
    read_name(call, name);
    tr_sideband_untraced(thread, tr_time(thread), thread->pid,
                         follow ? UNTRACED_FOREIGN : UNTRACED_PROCESS, name, follow ? cause : "");
}

int64_t tr_sys_exec(struct tr_thread *thread)
{
    struct exec_call call = read_call(thread);
    bool follow = thread->process->control->options.follow;
    enum file_kind kind = thread->process->files_forbidden ? FILE_UNKNOWN : kind_of(&call);
    if (kind == FILE_MISSING)
        return execute(thread, &call);
    struct tr_request *request = follow && kind == FILE_USUAL ? ask(thread) : NULL;
    if (!request)
        log_untraced(thread, &call, kind);
    int64_t result = execute(thread, &call);
    if (request)
        take_back(thread, request);
    return result;
}
