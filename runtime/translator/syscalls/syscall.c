
#include "runtime/translator/syscalls/syscall.h"
#include "engine/packets/sideband_layout.h"
#include "runtime/translator/code/code_pages.h"
#include "runtime/translator/fault_safe.h"
#include "runtime/translator/lock.h"
#include "runtime/translator/log/clock.h"
#include "runtime/translator/log/log.h"
#include "runtime/translator/log/sideband.h"
#include "runtime/translator/own_memory.h"
#include "runtime/translator/signals/signal.h"
#include "runtime/translator/signals/signal_actions.h"
#include "runtime/translator/syscalls/address_limit.h"
#include "runtime/translator/syscalls/code_files.h"
#include "runtime/translator/syscalls/held_inputs.h"
#include "runtime/translator/syscalls/memory_calls.h"
#include "runtime/translator/syscalls/memory_file.h"
#include "runtime/translator/syscalls/rseq.h"
#include "runtime/translator/syscalls/seccomp_filter.h"
#include "runtime/translator/syscalls/userfault.h"
#include "runtime/translator/system.h"

#include <asm/prctl.h>
#include <asm/unistd.h>
#include <linux/errno.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <linux/prctl.h>
#include <linux/ptrace.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <linux/uio.h>
#include <linux/wait.h>

enum {
    SYSCALL_SIZE = 2,  /* bytes of the instruction */
    PAYLOAD = 0xfffff, /* TR_EVENT_PAYLOAD */
    X32 = 0x40000000,  /* __X32_SYSCALL_BIT */
    NAME_SIZE = 16,    /* TASK_COMM_LEN */
    /* Newer than the headers of Debian 12: linux/prctl.h, asm/prctl.h, asm/unistd_64.h of Linux 6.6. */
    PR_SET_MDWE = 65,
    MDWE_REFUSE_EXEC_GAIN = 1,
    ARCH_SHSTK_FIRST = 0x5001,
    ARCH_SHSTK_LAST = 0x5005,
    MAP_SHADOW_STACK = 453,
};

/* include/linux/socket.h */
struct user_msghdr {
    uint64_t name;
    int32_t name_size, padding;
    uint64_t parts, part_count;
    uint64_t msg_control, msg_controllen;
    uint32_t flags;
};

static void log_time(struct tr_thread *thread, enum tr_event kind, uint32_t payload)
{
    uint64_t time = tr_time(thread);
    tr_log_event(thread, kind, payload, &time, 1);
}

/* ---- calls that are made as they are ---- */

/* Calls that write to memory to which their arguments point only indirectly. */
static bool writes_anywhere(int32_t number)
{
    switch (number) {
    case __NR_ioctl:
    case __NR_readv:
    case __NR_preadv:
    case __NR_preadv2:
    case __NR_recvmsg:
    case __NR_recvmmsg:
    case __NR_process_vm_readv:
    case __NR_process_vm_writev:
        return true;
    default:
        return false;
    }
}

/* The kernel cannot write to a page that the runtime has protected. Returns whether there is one where the call may
 * write, or was one since `times_given_back`. */
static bool unprotect_code(struct tr_thread *thread, int32_t number, const uint64_t arguments[6],
                           uint64_t times_given_back)
{
    enum {
        LARGEST_BUFFER = 1 << 20
    }; /* the kernel would have filled what lies before in a larger one */
    bool any = false;
    tr_lock(&thread->process->lock);
    if (writes_anywhere(number))
        any = tr_code_unprotect(thread, 0, UINT64_MAX);
    for (unsigned i = 0; i < 6; i++) {
        uint64_t start = arguments[i] & ~(uint64_t)(TR_PAGE - 1);
        if (start != 0 && start + LARGEST_BUFFER > start)
            any |= tr_code_unprotect(thread, start, start + LARGEST_BUFFER);
    }
    any |= times_given_back != tr_code_times_given_back();
    tr_unlock(&thread->process->lock);
    return any;
}

static int64_t call_kernel(struct tr_thread *thread)
{
    const uint64_t *r = thread->app.r;
    const uint64_t arguments[6] = {r[TR_RDI], r[TR_RSI], r[TR_RDX], r[TR_R10], r[TR_R8], r[TR_R9]};
    int32_t number = (int32_t)r[TR_RAX];
    enum { MOST_TRIES = 100 };
    int64_t result;
    uint64_t times_given_back;
    unsigned tries = 0;
    do {
        times_given_back = tr_code_times_given_back();
        if (!tr_safe_syscall(thread, number, arguments, &result))
            return TR_RESTART;
    } while (result == -EFAULT && ++tries < MOST_TRIES &&
             unprotect_code(thread, number, arguments, times_given_back));
    return result;
}

/* ---- what the translator does not support ---- */

/* The call is one that the program cannot make while it is traced: it goes on natively, beginning with the call. */
static _Noreturn void give_up(struct tr_thread *thread, const char *cause)
{
    log_time(thread, TR_RESUME, 0);
    thread->app.pc -= SYSCALL_SIZE;
    tr_give_up(thread, cause);
}

static int64_t call_arch_prctl(struct tr_thread *thread)
{
    const uint64_t *r = thread->app.r;
    static const uint64_t none = 0;
    uint64_t option = (uint32_t)r[TR_RDI];
    if (option >= ARCH_SHSTK_FIRST && option <= ARCH_SHSTK_LAST)
        return -EINVAL;
    switch (option) {
    case ARCH_SET_GS:
        if (r[TR_RSI] != 0)
            give_up(thread, "it sets its gs base (arch_prctl)");
        return 0;
    case ARCH_GET_GS:
        return tr_write_safely(r[TR_RSI], &none, sizeof none) ? 0 : -EFAULT;
    default:
        return call_kernel(thread);
    }
}

static void log_name(struct tr_thread *thread)
{
    char name[NAME_SIZE] = "";
    for (unsigned i = 0; i < NAME_SIZE - 1; i++)
        if (!tr_read_safely(&name[i], thread->app.r[TR_RSI] + i, 1) || !name[i])
            break;
    tr_sideband_name(thread, tr_time(thread), false, name);
    if (thread->tid == thread->process->pid)
        memcpy(thread->process->name, name, sizeof name);
}

/* The filter applies to the runtime's own calls, too. */
static int64_t install_filter(struct tr_thread *thread, uint64_t program)
{
    const struct tr_filter filter = {program, (uint64_t)tr_syscall_instruction + SYSCALL_SIZE,
                                     tr_read_safely};
    bool times = thread->process->control->options.on_cpu;
    /* It might forbid what ends the dispatch of system calls to the runtime. */
    bool dispatches = thread->process->control->options.selected_count > 0;
    if (!tr_filter_allows_translator(&filter) || dispatches ||
        (times && !tr_filter_allows_processor_time(&filter)))
        give_up(thread, "it installs a seccomp filter");
    if (!tr_filter_allows_limits(&filter))
        tr_own_fix_limit();
    if (!tr_filter_allows_populate(&filter))
        tr_own_forbid_populate();
    if (!tr_filter_allows_files(&filter)) {
        tr_lock(&thread->process->lock);
        tr_code_seal(thread);
        tr_unlock(&thread->process->lock);
        thread->process->files_forbidden = true;
    }
    return call_kernel(thread);
}

static bool is_own_thread(const struct tr_thread *thread, int32_t tid)
{
    const struct tr_thread *own = thread->process->threads;
    while (own && own->tid != tid)
        own = own->next;
    return tid == 0 || own;
}

/* A breakpoint for instructions is never reached: their copies run. */
static int64_t call_perf_event_open(struct tr_thread *thread)
{
    struct perf_event_attr attributes;
    uint64_t address = thread->app.r[TR_RDI];
    if (tr_read_safely(&attributes, address, PERF_ATTR_SIZE_VER1) &&
        attributes.type == PERF_TYPE_BREAKPOINT && (attributes.bp_type & HW_BREAKPOINT_X) &&
        is_own_thread(thread, (int32_t)thread->app.r[TR_RSI]))
        give_up(thread, "it sets a breakpoint in its own code (perf_event_open)");
    return call_kernel(thread);
}

static int64_t call_ioctl(struct tr_thread *thread)
{
    uint32_t request = (uint32_t)thread->app.r[TR_RSI];
    uint64_t argument = thread->app.r[TR_RDX];
    const char *cause = tr_note_userfault(thread, request, argument);
    if (cause)
        give_up(thread, cause);
    int64_t result = call_kernel(thread);
    tr_userfault_made(thread, request, argument);
    return result;
}

/* Its tracer is to find the program's own registers and instructions. A child made by vfork executes a program next. */
static int64_t call_ptrace(struct tr_thread *thread)
{
    if (thread->app.r[TR_RDI] == PTRACE_TRACEME && !thread->vforked)
        give_up(thread, "its parent traces it (PTRACE_TRACEME)");
    return call_kernel(thread);
}

/* The code cache grows by executable memory. The call, which has succeeded where the kernel knows it, is made again natively. */
static int64_t call_set_mdwe(struct tr_thread *thread)
{
    static const char cause[] = "it forbids new executable memory (PR_SET_MDWE)";
    int64_t result = call_kernel(thread);
    if (result == 0 && (thread->app.r[TR_RSI] & MDWE_REFUSE_EXEC_GAIN))
        give_up(thread, cause);
    return result;
}

static int64_t call_prctl(struct tr_thread *thread)
{
    const uint64_t *r = thread->app.r;
    switch ((uint32_t)r[TR_RDI]) {
    case PR_SET_NAME: {
        int64_t result = call_kernel(thread);
        if (result == 0)
            log_name(thread);
        return result;
    }
    case PR_SET_SYSCALL_USER_DISPATCH:
        if (r[TR_RSI] == PR_SYS_DISPATCH_ON)
            give_up(thread,
                    "it dispatches its system calls to itself (PR_SET_SYSCALL_USER_DISPATCH)");
        return call_kernel(thread);
    case PR_SET_MDWE:
        return call_set_mdwe(thread);
    case PR_SET_TSC:
        if ((uint32_t)r[TR_RSI] == PR_TSC_SIGSEGV)
            give_up(thread, "it makes rdtsc fault (PR_SET_TSC)");
        return call_kernel(thread);
    case PR_SET_SECCOMP:
        if (r[TR_RSI] == SECCOMP_MODE_STRICT)
            give_up(thread, "it enters seccomp strict mode");
        return install_filter(thread, r[TR_RDX]);
    default:
        return call_kernel(thread);
    }
}

static int64_t call_seccomp(struct tr_thread *thread)
{
    const uint64_t *r = thread->app.r;
    uint32_t operation = (uint32_t)r[TR_RDI], flags = (uint32_t)r[TR_RSI];
    uint64_t program = r[TR_RDX];
    /* libseccomp finds out what the kernel knows by calls that fail. */
    if (operation == SECCOMP_SET_MODE_STRICT && flags == 0 && program == 0)
        give_up(thread, "it enters seccomp strict mode");
    if (operation == SECCOMP_SET_MODE_FILTER && program != 0)
        return install_filter(thread, program);
    return call_kernel(thread);
}

/* ---- children that have ended ---- */

static bool has_ended(int32_t status)
{
    return (status & 0xff) != 0x7f && status != 0xffff; /* stopped; continued */
}

static int64_t call_wait4(struct tr_thread *thread)
{
    uint64_t address = thread->app.r[TR_RSI], options = thread->app.r[TR_RDX];
    int64_t child = call_kernel(thread);
    if (child <= 0)
        return child;
    int32_t status;
    bool known = address && tr_read_safely(&status, address, sizeof status);
    if (known ? has_ended(status) : !(options & (WUNTRACED | WCONTINUED)))
        tr_sideband_reaped(thread, tr_time(thread), (int32_t)child);
    return child;
}

static int64_t call_waitid(struct tr_thread *thread)
{
    enum { EXITED = 1, DUMPED = 3 }; /* CLD_ in asm-generic/siginfo.h */
    struct {
        int32_t signal, error, code, pad, child;
    } info = {0};
    uint64_t address = thread->app.r[TR_RDX], options = thread->app.r[TR_R10];
    int64_t result = call_kernel(thread);
    if (result == 0 && !(options & WNOWAIT) && address &&
        tr_read_safely(&info, address, sizeof info) && info.code >= EXITED && info.code <= DUMPED)
        tr_sideband_reaped(thread, tr_time(thread), info.child);
    return result;
}

static void note_namespace(struct tr_thread *thread, uint64_t flags)
{
    if (flags & CLONE_NEWPID)
        atomic_store(&thread->process->control->has_namespaces, 1);
}

/* ---- what is another thing in every run ---- */

static bool holds_inputs(const struct tr_thread *thread)
{
    return thread->process->control->options.hold_inputs != 0;
}

static int64_t call_getrandom(struct tr_thread *thread)
{
    uint64_t address = thread->app.r[TR_RDI];
    int64_t count = call_kernel(thread);
    if (count > 0 && holds_inputs(thread))
        tr_hold_random(thread, address, (uint64_t)count);
    return count;
}

static int64_t call_read(struct tr_thread *thread)
{
    uint64_t descriptor = thread->app.r[TR_RDI], address = thread->app.r[TR_RSI];
    int64_t count = call_kernel(thread);
    if (count > 0 && holds_inputs(thread) && tr_reads_random(thread, descriptor))
        tr_hold_random(thread, address, (uint64_t)count);
    return count;
}

/* readv, preadv */
static int64_t call_readv(struct tr_thread *thread)
{
    uint64_t descriptor = thread->app.r[TR_RDI], vector = thread->app.r[TR_RSI];
    int64_t count = call_kernel(thread);
    if (count <= 0 || !holds_inputs(thread) || !tr_reads_random(thread, descriptor))
        return count;
    uint64_t left = (uint64_t)count;
    struct iovec part;
    for (; left > 0 && tr_read_safely(&part, vector, sizeof part); vector += sizeof part) {
        uint64_t size = part.iov_len < left ? part.iov_len : left;
        tr_hold_random(thread, (uint64_t)part.iov_base, size);
        left -= size;
    }
    return count;
}

/* ---- writes to the program's own code ---- */

static int64_t call_open(struct tr_thread *thread, int32_t number)
{
    int64_t descriptor = call_kernel(thread);
    if (descriptor >= 0)
        tr_note_memory_file(thread, number);
    return descriptor;
}

static int64_t call_write(struct tr_thread *thread, int32_t number)
{
    int64_t count = call_kernel(thread);
    if (count > 0 && thread->process->writes_memory_file)
        tr_memory_file_written(thread, number, (uint64_t)count);
    if (count > 0)
        tr_code_file_changed(thread, number);
    return count;
}

static int64_t call_file_change(struct tr_thread *thread, int32_t number)
{
    int64_t result = call_kernel(thread);
    if (result >= 0)
        tr_code_file_changed(thread, number);
    return result;
}

/* ---- descriptors from other processes ---- */

static void note_shared(struct tr_thread *thread)
{
    tr_lock(&thread->process->lock);
    tr_code_shared(thread);
    tr_unlock(&thread->process->lock);
}

/* Descriptors may have come with the message (SCM_RIGHTS), in any of its control messages. */
static bool has_control(uint64_t message)
{
    struct user_msghdr header;
    return tr_read_safely(&header, message, sizeof header) && header.msg_controllen > 0;
}

static int64_t call_recvmsg(struct tr_thread *thread)
{
    uint64_t message = thread->app.r[TR_RSI];
    int64_t result = call_kernel(thread);
    if (result >= 0 && has_control(message))
        note_shared(thread);
    return result;
}

/* recvmmsg: of several messages, not looked at one by one; pidfd_getfd. */
static int64_t call_for_descriptors(struct tr_thread *thread)
{
    int64_t result = call_kernel(thread);
    if (result >= 0)
        note_shared(thread);
    return result;
}

/* ---- dispatch ---- */

static int64_t call_signals(struct tr_thread *thread, int32_t number)
{
    switch (number) {
    case __NR_rt_sigaction:
        return tr_sys_rt_sigaction(thread);
    case __NR_rt_sigprocmask:
        return tr_sys_rt_sigprocmask(thread);
    case __NR_rt_sigpending:
        return tr_sys_rt_sigpending(thread);
    case __NR_rt_sigtimedwait:
        return tr_sys_rt_sigtimedwait(thread);
    default:
        return tr_sys_sigaltstack(thread);
    }
}

static int64_t call(struct tr_thread *thread, int32_t number)
{
    switch (number) {
    case __NR_rt_sigaction:
    case __NR_rt_sigprocmask:
    case __NR_rt_sigpending:
    case __NR_rt_sigtimedwait:
    case __NR_sigaltstack:
        return call_signals(thread, number);
    case __NR_mmap:
    case __NR_mprotect:
    case __NR_pkey_mprotect:
    case __NR_munmap:
    case __NR_mremap:
    case __NR_madvise:
    case __NR_brk:
    case __NR_shmat:
    case __NR_shmdt:
    case __NR_remap_file_pages:
        return tr_sys_memory(thread, number);
    case __NR_clone:
    case __NR_clone3:
    case __NR_fork:
    case __NR_vfork:
        return tr_sys_clone(thread);
    case __NR_execve:
    case __NR_execveat:
        return tr_sys_exec(thread);
    case __NR_exit:
        return tr_sys_exit(thread);
    case __NR_exit_group:
        return tr_sys_exit_group(thread);
    case __NR_wait4:
        return call_wait4(thread);
    case __NR_waitid:
        return call_waitid(thread);
    case __NR_read:
    case __NR_pread64:
        return call_read(thread);
    case __NR_readv:
    case __NR_preadv:
    case __NR_preadv2:
        return call_readv(thread);
    case __NR_getrandom:
        return call_getrandom(thread);
    case __NR_time:
        return holds_inputs(thread) ? tr_held_time(thread) : call_kernel(thread);
    case __NR_open:
    case __NR_openat:
    case __NR_openat2:
        return call_open(thread, number);
    case __NR_write:
    case __NR_writev:
    case __NR_pwrite64:
    case __NR_pwritev:
    case __NR_pwritev2:
        return call_write(thread, number);
    case __NR_sendfile:
    case __NR_copy_file_range:
    case __NR_splice:
    case __NR_ftruncate:
    case __NR_fallocate:
        return call_file_change(thread, number);
    case __NR_getrlimit:
    case __NR_setrlimit:
    case __NR_prlimit64:
        return tr_is_address_limit(thread, number) ? tr_sys_address_limit(thread, number)
                                                   : call_kernel(thread);
    case __NR_recvmsg:
        return call_recvmsg(thread);
    case __NR_recvmmsg:
    case __NR_pidfd_getfd:
        return call_for_descriptors(thread);
    case __NR_ioctl:
        return call_ioctl(thread);
    case __NR_perf_event_open:
        return call_perf_event_open(thread);
    case __NR_ptrace:
        return call_ptrace(thread);
    case __NR_prctl:
        return call_prctl(thread);
    case __NR_arch_prctl:
        return call_arch_prctl(thread);
    case __NR_seccomp:
        return call_seccomp(thread);
    case __NR_unshare:
        note_namespace(thread, thread->app.r[TR_RDI]);
        return call_kernel(thread);
    case __NR_setns: /* 0: of any kind */
        note_namespace(thread, thread->app.r[TR_RSI] ? thread->app.r[TR_RSI] : CLONE_NEWPID);
        return call_kernel(thread);
    case __NR_rseq:
        return tr_sys_rseq(thread);
    case MAP_SHADOW_STACK:
        return -ENOSYS;
    default:
        return number & X32 ? -ENOSYS : call_kernel(thread);
    }
}

/* The program's SYSCALL instruction runs again after the handler: -ERESTARTNOINTR, without the kernel. */
static void make_again(struct tr_thread *thread)
{
    uint64_t *r = thread->app.r;
    r[TR_RCX] = thread->app.pc;
    r[TR_R11] = thread->app.flags;
    thread->app.pc -= SYSCALL_SIZE;
}

void tr_syscall_run(struct tr_thread *thread)
{
    uint64_t *r = thread->app.r;
    int32_t number = (int32_t)r[TR_RAX]; /* the kernel reads no more, either */
    if (number == __NR_rt_sigreturn)
        tr_log_restored(thread);
    log_time(thread, TR_SYSCALL, (uint32_t)number & PAYLOAD);
    tr_log_publish(thread);
    if (number == __NR_rt_sigreturn) {
        tr_sys_rt_sigreturn(thread);
        log_time(thread, TR_RESUME, 0);
        return;
    }
    int64_t result = call(thread, number);
    if (result == TR_RESTART) {
        make_again(thread);
    } else {
        r[TR_RAX] = (uint64_t)result;
        r[TR_RCX] = thread->app.pc;
        r[TR_R11] = thread->app.flags;
    }
    log_time(thread, TR_RESUME, 0);
    tr_log_resume(thread);
}

/* ---- the vsyscall page ---- */

bool tr_sys_vsyscall(struct tr_thread *thread, uint64_t pc)
{
    enum { ENTRY_SIZE = 1024 };
    static const uint64_t page = UINT64_C(0xffffffffff600000);
    uint64_t *r = thread->app.r, back;
    uint64_t entry = (pc - page) / ENTRY_SIZE;
    if ((pc - page) % ENTRY_SIZE != 0 || entry > 2 ||
        !tr_read_safely(&back, r[TR_RSP], sizeof back))
        return false;
    int32_t number = entry == 0 ? __NR_gettimeofday : entry == 1 ? __NR_time : __NR_getcpu;
    int64_t result = number == __NR_time && holds_inputs(thread)
                         ? tr_held_time(thread)
                         : tr_syscall6(number, r[TR_RDI], r[TR_RSI], r[TR_RDX], 0, 0, 0);
    if (result == -EFAULT)
        return false;
    r[TR_RAX] = (uint64_t)result;
    r[TR_RSP] += sizeof back;
    thread->app.pc = back;
    return true;
}
