/* Signals of translated programs, judged by the kernel: each program runs once natively and once with the translator's
 * signal code around it, in a process of its own with the same addresses. Everything that its handlers find (registers,
 * the whole frame with the extended state, the state that they begin with), all results of its system calls and how it
 * ends must be the same. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "signal_program.h"

#include <cpuid.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

/* ---- what a run leaves ---- */

enum {
    STACK_SIZE = 256 << 10,
    FRAME_LIMIT = 6 << 10,
    STATE_LIMIT = 4 << 10,
    MOST_RECORDS = 24,
    MOST_NOTES = 250,
    STORM = 3000
};

struct record {
    struct noted noted;
    uint8_t state[STATE_LIMIT];
    uint64_t frame_size;
    uint8_t frame[FRAME_LIMIT];
};

struct results {
    unsigned record_count, note_count;
    struct record records[MOST_RECORDS];
    struct {
        char name[40];
        int64_t value;
    } notes[MOST_NOTES];
    struct stand_in_log log;
    int status; /* of waitpid */
    volatile int flag;
    volatile unsigned entered; /* calls of handlers */
    volatile unsigned faults, sent;
    volatile int ready, wanted;
    bool is_translated;
    uint64_t kept
        [2]; /* what the kernel kept while the runtime blocked signals: in fork, when it let go */
    unsigned kept_count;
};

static struct results *results;  /* of the run that this process is */
static uint8_t *program_stack;   /* STACK_SIZE bytes */
static uint8_t *alternate_stack; /* the same */
static uint8_t *no_memory;       /* a page without rights */
static uint8_t *read_only;
static uint8_t *after_file; /* a mapped page after the end of its file */
static void (*on_signal)(int signal, siginfo_t *info, ucontext_t *context);
static bool records_frames;

PROGRAM static void note(const char *name, int64_t value)
{
    unsigned i = results->note_count++;
    if (i >= MOST_NOTES)
        return;
    for (unsigned at = 0; at + 1 < sizeof results->notes[i].name && name[at]; at++)
        results->notes[i].name[at] = name[at];
    results->notes[i].value = value;
}

PROGRAM static void note_wrong(bool right, const char *what)
{
    if (!right)
        note(what, 0);
}

/* The numbers of the two runs' processes differ. */
PROGRAM static void hide_own_pid(siginfo_t *info)
{
    if ((info->si_code == SI_USER || info->si_code == SI_TKILL || info->si_code == SI_QUEUE) &&
        info->si_pid == getpid())
        info->si_pid = 1;
}

PROGRAM static void hide_own_pids(uint64_t *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (values[i] == (uint64_t)getpid())
            values[i] = 1;
}

/* Whether a component that has its initial value counts as being in use is up to the processor (SDM volume 1, 13.6); of
 * frames, x87 and SSE state always do. */
PROGRAM static void hide_use(uint8_t *xsave_area, uint64_t kept)
{
    uint64_t components;
    memcpy(&components, xsave_area + 512, sizeof components);
    components &= kept;
    memcpy(xsave_area + 512, &components, sizeof components);
}

/* Neither the processor nor the kernel writes to these bytes (SDM volume 1, 10.5.1): what was on the stack before is there. */
PROGRAM static void hide_reserved(uint8_t *xsave_area)
{
    enum { RESERVED = 416, RESERVED_END = 464 };
    for (unsigned i = RESERVED; i < RESERVED_END; i++)
        xsave_area[i] = 0;
}

PROGRAM static void record(siginfo_t *info, ucontext_t *context, uint8_t *frame)
{
    struct record *to = &results->records[results->record_count++];
    uint8_t *state = (uint8_t *)context->uc_mcontext.fpregs;
    uint32_t state_size;
    memcpy(&state_size, state + 464 + 4,
           sizeof state_size); /* extended_size of struct _fpx_sw_bytes */
    to->noted = program_noted;
    memcpy(to->state, program_noted_state, sizeof to->state);
    to->frame_size = (uint64_t)(state - frame) + state_size;
    if (to->frame_size > FRAME_LIMIT)
        to->frame_size = FRAME_LIMIT;
    memcpy(to->frame, frame, to->frame_size);
    hide_use(to->state, 0);
    hide_use(to->frame + (state - frame), 3);
    hide_reserved(to->frame + (state - frame));
    hide_own_pid((siginfo_t *)(void *)(to->frame + ((uint8_t *)info - frame)));
    hide_own_pids((uint64_t *)&to->noted, sizeof to->noted / 8);
    hide_own_pids((uint64_t *)(void *)(to->frame + ((uint8_t *)context->uc_mcontext.gregs - frame)),
                  NGREG);
}

__attribute__((section("program_text"), used)) void
program_handle(int signal, siginfo_t *info, ucontext_t *context, uint8_t *frame);
void program_handle(int signal, siginfo_t *info, ucontext_t *context, uint8_t *frame)
{
    results->entered++;
    if (records_frames && results->record_count < MOST_RECORDS)
        record(info, context, frame);
    if (on_signal)
        on_signal(signal, info, context);
}

/* ---- the program's system calls ---- */

struct kernel_action {
    void (*handler)(void);
    uint64_t flags;
    void (*restorer)(void);
    uint64_t mask;
};

enum { RESTORER_FLAG = 0x04000000 };

PROGRAM static int64_t set_action(int signal, void (*handler)(void), uint64_t flags, uint64_t mask)
{
    struct kernel_action action = {handler, flags | RESTORER_FLAG, program_restorer, mask};
    return program_syscall(SYS_rt_sigaction, signal, &action, NULL, 8);
}

PROGRAM static int64_t handle(int signal, uint64_t flags)
{
    return set_action(signal, program_handler, flags | SA_SIGINFO, 0);
}

static inline uint64_t bit(int signal)
{
    return UINT64_C(1) << (signal - 1);
}

PROGRAM static uint64_t change_mask(int how, uint64_t set)
{
    uint64_t before = 0xdead;
    note("rt_sigprocmask", program_syscall(SYS_rt_sigprocmask, how, &set, &before, 8));
    return before;
}

PROGRAM static uint64_t get_mask(void)
{
    uint64_t before = 0xdead;
    program_syscall(SYS_rt_sigprocmask, 0, NULL, &before, 8);
    return before;
}

PROGRAM static int64_t send_self(int signal)
{
    return program_syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), signal);
}

PROGRAM static int64_t queue_self(int signal, int value)
{
    siginfo_t info = {.si_signo = signal, .si_code = SI_QUEUE};
    info.si_pid = 1;
    info.si_value.sival_int = value;
    return program_syscall(SYS_rt_sigqueueinfo, getpid(), signal, &info);
}

PROGRAM static _Noreturn void leave(int status)
{
    for (;;)
        program_syscall(SYS_exit_group, status);
}

PROGRAM static void leave_3(int signal, siginfo_t *info, ucontext_t *context)
{
    leave(3);
}

static int keeps_actions;

/* ---- running ---- */

static void (*program)(void);

/* x87, SSE and AVX registers get values that distinguish them. */
PROGRAM static void load_vector_state(void)
{
    static uint8_t area[4096] __attribute__((aligned(64)));
    unsigned a, b, c, d;
    __cpuid_count(0xd, 0, a, b, c, d);
    for (unsigned i = 0; i < 4096; i++)
        area[i] = 0;
    uint16_t control = 0x37f;
    uint32_t mxcsr = 0x1fa0; /* a sticky flag too */
    uint64_t features = (a & 7) | (a & 0xe0);
    memcpy(area, &control, 2);
    memcpy(area + 24, &mxcsr, 4);
    for (unsigned i = 160; i < 416; i++)
        area[i] = (uint8_t)(i * 7);
    for (unsigned i = 576; i < 576 + 256; i++)
        area[i] = (uint8_t)(i * 11);
    memcpy(area + 512, &(uint64_t){7 & features}, 8);
    __asm__ volatile("xrstor64 %0" : : "m"(area), "a"((uint32_t)features), "d"(0));
}

PROGRAM static void program_main(void)
{
    load_vector_state();
    program();
    leave(0);
}

static bool is_traced; /* by ptrace */

static void begin_process(bool translated)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (const int *signals = (const int[]){SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGSYS, 0}; *signals;
         signals++)
        signal(*signals, SIG_DFL); /* cmocka handles them */
    if (is_traced) {
        ptrace(PTRACE_TRACEME, 0, NULL, NULL);
        raise(SIGSTOP);
    }
    results->is_translated = translated;
    stand_in_log = &results->log;
    void *stack = program_stack + STACK_SIZE - 264; /* as after a call */
    if (translated)
        stand_in_run_translated(stack, program_main);
    else
        stand_in_run_native(stack, program_main);
}

static void (*sender)(pid_t child); /* sends signals to the program while it runs */

/* Not what a register may hold for another reason (a small number, a part of an address, the flags of a fault): see
 * hide_own_pids. */
static bool is_distinct(pid_t pid)
{
    enum { FAULT_FLAGS = 0x10202 }; /* RF, IF and the one that is always set */
    return pid > 0x1000 && pid % 0x100 != 0 && (pid & FAULT_FLAGS) != FAULT_FLAGS;
}

/* The results are at the same address in all runs. */
static pid_t start(void (*function)(void), bool translated)
{
    memset(results, 0, sizeof *results);
    program = function;
    for (;;) {
        pid_t child = fork();
        if (child == 0 && is_distinct(getpid()))
            begin_process(translated);
        if (child == 0)
            _exit(0);
        if (is_distinct(child))
            return child;
        waitpid(child, NULL, 0);
    }
}

static struct results *run(void (*function)(void), bool translated)
{
    static struct results copies[2];
    pid_t child = start(function, translated);
    if (sender)
        sender(child);
    assert_int_equal(waitpid(child, &results->status, 0), child);
    copies[translated] = *results;
    return &copies[translated];
}

static void compare_bytes(const char *what, unsigned number, const void *native,
                          const void *translated, size_t size)
{
    unsigned shown = 0;
    for (size_t i = 0; i + 8 <= size && shown < 8; i += 8) {
        uint64_t expected, found;
        memcpy(&expected, (const uint8_t *)native + i, 8);
        memcpy(&found, (const uint8_t *)translated + i, 8);
        if (expected != found) {
            print_error("%s of signal %u at offset %zu: natively %#lx, translated %#lx\n", what,
                        number, i, expected, found);
            shown++;
        }
    }
    assert_int_equal(shown, 0);
}

static void compare(const struct results *native, const struct results *translated)
{
    for (unsigned i = 0; i < native->note_count && i < translated->note_count; i++)
        if (native->notes[i].value != translated->notes[i].value ||
            strcmp(native->notes[i].name, translated->notes[i].name) != 0)
            print_error("note %u: natively %s %#lx, translated %s %#lx\n", i, native->notes[i].name,
                        native->notes[i].value, translated->notes[i].name,
                        translated->notes[i].value);
    assert_int_equal(native->note_count, translated->note_count);
    assert_memory_equal(native->notes, translated->notes, sizeof native->notes);
    assert_int_equal(native->status, translated->status);
    assert_int_equal(native->record_count, translated->record_count);
    for (unsigned i = 0; i < native->record_count; i++) {
        const struct record *a = &native->records[i], *b = &translated->records[i];
        compare_bytes("registers", i, &a->noted, &b->noted, sizeof a->noted);
        compare_bytes("the state at the handler's entry", i, a->state, b->state, sizeof a->state);
        assert_int_equal(a->frame_size, b->frame_size);
        compare_bytes("the frame", i, a->frame, b->frame, a->frame_size);
    }
}

static struct results *native_results, *translated_results;

static void run_both(void (*function)(void))
{
    native_results = run(function, false);
    translated_results = run(function, true);
    compare(native_results, translated_results);
    assert_int_equal(translated_results->log.handlers, translated_results->entered);
}

/* ---- frames ---- */

PROGRAM static void signals_to_itself(void)
{
    records_frames = true;
    handle(SIGUSR1, 0);
    note("tgkill", send_self(SIGUSR1));
    note("kill", program_syscall(SYS_kill, getpid(), SIGUSR1));
    set_action(SIGUSR2, program_handler, 0, bit(SIGHUP) | bit(SIGKILL)); /* no SA_SIGINFO */
    note("tgkill", send_self(SIGUSR2));
    note("mask", (int64_t)get_mask());
}

static void the_frame_is_the_kernels(void **state)
{
    run_both(signals_to_itself);
    assert_int_equal(native_results->record_count, 3);
    assert_int_equal(translated_results->log.sigreturns, 3);
}

PROGRAM static void skip_instruction(int signal, siginfo_t *info, ucontext_t *context)
{
    greg_t *r = context->uc_mcontext.gregs;
    const char *next = NULL;
    switch (signal) {
    case SIGFPE:
        next = program_divide_after;
        break;
    case SIGILL:
        next = program_undefined_after;
        break;
    case SIGTRAP:
        return;
    default:
        next = r[REG_ERR] & 2 ? program_write_after : program_touch_after;
        if (info->si_code == SI_KERNEL) /* not canonical: no page fault */
            next = program_touch_after;
    }
    r[REG_RIP] = (greg_t)next;
    r[REG_RAX] = 0x51515151; /* no number of a process: see hide_own_pids */
    r[REG_EFL] |= 0x40;      /* ZF */
}

PROGRAM static void faults(void)
{
    records_frames = true;
    on_signal = skip_instruction;
    for (const int *signal = (const int[]){SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, 0}; *signal;
         signal++)
        handle(*signal, 0);
    note("none", (int64_t)program_touch(NULL));
    note("no rights", (int64_t)program_touch(no_memory + 8));
    note("read only", (int64_t)program_write(read_only + 16, 1));
    note("not canonical", (int64_t)program_touch((void *)0x8000000000000000));
    note("after the file", (int64_t)program_touch(after_file));
    note("division", (int64_t)program_divide());
    note("undefined", (int64_t)program_undefined());
    note("breakpoint", (int64_t)program_halt());
    note("an asynchronous one shows the last fault", send_self(SIGSEGV));
}

static void faults_have_exact_frames(void **state)
{
    run_both(faults);
    assert_int_equal(native_results->record_count, 9);
    assert_int_equal(translated_results->log.partials, 7);
}

PROGRAM static void change_everything(int signal, siginfo_t *info, ucontext_t *context)
{
    greg_t *r = context->uc_mcontext.gregs;
    for (int i = REG_R8; i <= REG_R15; i++)
        r[i] = 0x100 + i;
    r[REG_RIP] = (greg_t)program_touch_after;
    r[REG_RBX] = 0x777;
    r[REG_RAX] = 0x999;
    r[REG_EFL] |= 0x8d5 | 0x3000 | 0x80000; /* IOPL and VIF are not the program's */
    context->uc_mcontext.fpregs->mxcsr = 0x1f80;
    memset(&context->uc_mcontext.fpregs->_xmm[3], 0x33, 16);
    context->uc_sigmask.__val[0] |= bit(SIGHUP) | bit(SIGKILL);
}

PROGRAM static void changed_contexts(void)
{
    records_frames = true;
    on_signal = change_everything;
    handle(SIGSEGV, 0);
    note("changed", (int64_t)program_touch(NULL));
    on_signal = NULL;
    handle(SIGUSR1, 0);
    send_self(SIGUSR1); /* shows the vector state */
    note("mask", (int64_t)get_mask());
}

static void what_a_handler_changes_counts(void **state)
{
    run_both(changed_contexts);
    assert_int_equal(native_results->record_count, 2);
}

/* ---- alternate stacks ---- */

PROGRAM static void note_alt_stack(void)
{
    stack_t stack = {0};
    note("sigaltstack", program_syscall(SYS_sigaltstack, NULL, &stack));
    note("start", (int64_t)stack.ss_sp);
    note("size", (int64_t)stack.ss_size);
    note("flags", stack.ss_flags);
}

PROGRAM static int64_t set_alt_stack(void *start, size_t size, int flags)
{
    stack_t stack = {.ss_sp = start, .ss_size = size, .ss_flags = flags}, before = {0};
    int64_t result = program_syscall(SYS_sigaltstack, &stack, &before);
    note("set", result);
    note("before", (int64_t)before.ss_sp);
    note("flags", before.ss_flags);
    return result;
}

PROGRAM static void use_alt_stack(int signal, siginfo_t *info, ucontext_t *context)
{
    note_alt_stack();
    set_alt_stack(alternate_stack, 8192, 0);
    if (signal == SIGUSR1)
        send_self(SIGUSR2);
}

enum { AUTODISARM = INT32_MIN };

PROGRAM static void alt_stacks(void)
{
    records_frames = true;
    on_signal = use_alt_stack;
    note_alt_stack();
    set_alt_stack(alternate_stack, 1000, 0);
    set_alt_stack(alternate_stack, 8192, 5);
    set_alt_stack(alternate_stack, STACK_SIZE, 0);
    note("fault", program_syscall(SYS_sigaltstack, 8, NULL));
    note("fault", program_syscall(SYS_sigaltstack, NULL, 8));
    handle(SIGUSR1, SA_ONSTACK);
    handle(SIGUSR2, SA_ONSTACK);
    send_self(SIGUSR1);
    handle(SIGUSR1, 0);
    send_self(SIGUSR1);
    set_alt_stack(alternate_stack, STACK_SIZE, AUTODISARM);
    handle(SIGUSR1, SA_ONSTACK);
    send_self(SIGUSR1);
    note_alt_stack();
    set_alt_stack(NULL, 0, SS_DISABLE | AUTODISARM);
    note_alt_stack();
    set_alt_stack(NULL, 0, SS_DISABLE);
    note_alt_stack();
}

static void alternate_stacks_are_the_programs(void **state)
{
    run_both(alt_stacks);
    assert_int_equal(native_results->record_count, 6);
}

PROGRAM static void set_other_stack(int signal, siginfo_t *info, ucontext_t *context)
{
    context->uc_stack.ss_sp = alternate_stack + 4096;
    context->uc_stack.ss_size = 16384;
}

PROGRAM static void alt_stack_by_return(void)
{
    on_signal = set_other_stack;
    set_alt_stack(alternate_stack, STACK_SIZE, 0);
    handle(SIGUSR1, 0);
    send_self(SIGUSR1);
    note_alt_stack();
}

static void a_handler_returns_to_the_stack_its_frame_names(void **state)
{
    run_both(alt_stack_by_return);
}

enum { MINIMUM_STACK = 2048 }; /* MINSIGSTKSZ of the kernel */

PROGRAM static void small_alt_stack(void)
{
    set_alt_stack(alternate_stack, MINIMUM_STACK, 0);
    handle(SIGUSR1, SA_ONSTACK);
    send_self(SIGUSR1);
}

PROGRAM static void unwritable_stack(void)
{
    set_alt_stack(read_only, 4096, 0);
    handle(SIGUSR1, SA_ONSTACK);
    handle(SIGSEGV, 0);
    records_frames = true;
    note("tgkill", send_self(SIGUSR1));
}

PROGRAM static void no_restorer(void)
{
    struct kernel_action action = {program_handler, SA_SIGINFO, NULL, 0};
    note("rt_sigaction", program_syscall(SYS_rt_sigaction, SIGUSR1, &action, NULL, 8));
    handle(SIGSEGV, 0);
    records_frames = true;
    note("tgkill", send_self(SIGUSR1));
}

static void a_frame_that_cannot_be_made_is_a_fault(void **state)
{
    bool fits = getauxval(AT_MINSIGSTKSZ) <= MINIMUM_STACK; /* without AVX-512 */
    run_both(small_alt_stack);
    assert_int_equal(WIFSIGNALED(native_results->status), !fits);
    assert_int_equal(translated_results->log.deaths, !fits);
    run_both(unwritable_stack);
    assert_int_equal(native_results->record_count, 1);
    run_both(no_restorer);
    assert_int_equal(native_results->record_count, 1);
}

/* ---- dispositions and masks ---- */

PROGRAM static void note_mask(int signal, siginfo_t *info, ucontext_t *context)
{
    note("signal", signal);
    note("mask in the handler", (int64_t)get_mask());
    note("saved mask", (int64_t)context->uc_sigmask.__val[0]);
    note("value", info->si_code == SI_QUEUE ? info->si_value.sival_int : -1);
}

PROGRAM static void note_action(int signal)
{
    struct kernel_action action = {0};
    note("rt_sigaction", program_syscall(SYS_rt_sigaction, signal, NULL, &action, 8));
    note("handler", (int64_t)action.handler);
    note("flags", (int64_t)action.flags);
    note("mask", (int64_t)action.mask);
}

PROGRAM static void dispositions(void)
{
    on_signal = note_mask;
    for (const int *signal = (const int[]){SIGUSR1, SIGSEGV, 0}; *signal; signal++) {
        note_action(*signal);
        set_action(*signal, program_handler, SA_SIGINFO | SA_NODEFER, ~UINT64_C(0));
        note_action(*signal);
        send_self(*signal);
        set_action(*signal, program_handler, SA_SIGINFO | SA_RESETHAND | 0x480400, bit(SIGHUP));
        note_action(*signal);
        send_self(*signal);
        note_action(*signal);
        set_action(*signal, program_handler, SA_SIGINFO | SA_NODEFER | SA_RESETHAND, bit(SIGHUP));
        send_self(*signal);
        set_action(*signal, (void (*)(void))SIG_IGN, 0, 0);
        note("ignored", send_self(*signal));
        note_action(*signal);
    }
    note("SIGKILL", set_action(SIGKILL, program_handler, 0, 0));
    note_action(SIGKILL);
    note("signal 0", set_action(0, program_handler, 0, 0));
    note("signal 65", set_action(65, program_handler, 0, 0));
    note("fault", program_syscall(SYS_rt_sigaction, SIGUSR1, 8, NULL, 8));
    note("fault", program_syscall(SYS_rt_sigaction, SIGUSR1, NULL, 8, 8));
    note("size", program_syscall(SYS_rt_sigaction, SIGUSR1, NULL, NULL, 16));
}

static void dispositions_are_the_programs(void **state)
{
    run_both(dispositions);
}

PROGRAM static void note_pending(void)
{
    uint64_t set = 0;
    note("rt_sigpending", program_syscall(SYS_rt_sigpending, &set, 8));
    note("pending", (int64_t)set);
}

PROGRAM static void pending_signals(void)
{
    on_signal = note_mask;
    for (const int *signal = (const int[]){SIGUSR1, SIGUSR2, SIGSEGV, SIGFPE, SIGTRAP, 40, 41, 0};
         *signal; signal++)
        handle(*signal, 0);
    change_mask(SIG_BLOCK, ~UINT64_C(0));
    send_self(SIGUSR2);
    send_self(SIGUSR1);
    send_self(SIGUSR1);
    for (int i = 0; i < 4; i++) {
        queue_self(41, i);
        queue_self(40, i);
    }
    note_pending();
    change_mask(SIG_UNBLOCK, bit(SIGUSR1) | bit(SIGUSR2));
    note_pending();
    change_mask(SIG_SETMASK, 0);
    note_pending();
    change_mask(SIG_BLOCK, ~UINT64_C(0));
    queue_self(SIGSEGV, 7);
    queue_self(SIGSEGV, 8);
    queue_self(SIGTRAP, 9);
    note_pending();
    change_mask(SIG_UNBLOCK, bit(SIGSEGV));
    note_pending();
    change_mask(SIG_SETMASK, 0);
    note_pending();
    note("how", program_syscall(SYS_rt_sigprocmask, 3, &(uint64_t){1}, NULL, 8));
    note("size", program_syscall(SYS_rt_sigprocmask, 0, NULL, NULL, 4));
    note("fault", program_syscall(SYS_rt_sigprocmask, 0, 8, NULL, 8));
    note("fault", program_syscall(SYS_rt_sigprocmask, SIG_BLOCK, &(uint64_t){bit(SIGHUP)}, 8, 8));
    note("mask", (int64_t)get_mask());
    note("size", program_syscall(SYS_rt_sigpending, NULL, 16));
}

static void pending_signals_come_in_the_kernels_order(void **state)
{
    run_both(pending_signals);
}

PROGRAM static void ignored_while_blocked(void)
{
    on_signal = note_mask;
    for (const int *signal = (const int[]){SIGSEGV, SIGUSR1, 0}; *signal; signal++) {
        handle(*signal, 0);
        change_mask(SIG_BLOCK, bit(*signal));
        send_self(*signal);
        set_action(*signal, (void (*)(void))SIG_IGN, 0, 0);
        note_pending();
        send_self(*signal); /* queued all the same: it is blocked */
        note_pending();
        handle(*signal, 0);
        change_mask(SIG_SETMASK, 0);
    }
}

static void ignoring_forgets_what_is_pending(void **state)
{
    run_both(ignored_while_blocked);
}

PROGRAM static void waits_for_signals(void)
{
    siginfo_t info;
    struct timespec none = {0}, moment = {.tv_nsec = 1000000};
    for (const int *signal = (const int[]){SIGUSR1, SIGSEGV, SIGBUS, 0}; *signal; signal++) {
        uint64_t set = bit(*signal) | bit(SIGHUP);
        change_mask(SIG_BLOCK, set);
        note("nothing", program_syscall(SYS_rt_sigtimedwait, &set, &info, &moment, 8));
        queue_self(*signal, 5);
        note("one", program_syscall(SYS_rt_sigtimedwait, &set, &info, &none, 8));
        note("value", info.si_value.sival_int);
        queue_self(*signal, 5);
        note("without siginfo", program_syscall(SYS_rt_sigtimedwait, &set, NULL, &none, 8));
        note("size", program_syscall(SYS_rt_sigtimedwait, &set, NULL, &none, 4));
        note("fault", program_syscall(SYS_rt_sigtimedwait, 8, NULL, &none, 8));
        note_pending();
    }
}

static void sigtimedwait_takes_pending_signals(void **state)
{
    run_both(waits_for_signals);
}

/* ---- system calls that wait ---- */

static int program_pipe[2];

/* SIGALRM, from the test's own process, when the program sleeps. */
PROGRAM static void send_asleep(void)
{
    results->wanted = SIGALRM;
}

static char process_state(pid_t pid)
{
    char path[64], line[256] = "";
    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    FILE *file = fopen(path, "r");
    char *read = file ? fgets(line, sizeof line, file) : NULL;
    if (file)
        fclose(file);
    const char *end = read ? strrchr(line, ')') : NULL;
    return end && end[1] ? end[2] : 'Z';
}

/* Stops the sleeper, and lets it go on sleeping: the kernel continues its call by restart_syscall. */
static void stop_and_continue(pid_t child)
{
    kill(child, SIGSTOP);
    while (process_state(child) != 'T')
        usleep(100);
    kill(child, SIGCONT);
    while (process_state(child) != 'S')
        usleep(100);
}

static void send_to_sleeper(pid_t child)
{
    for (char state = 'R'; state != 'Z'; state = process_state(child)) {
        if (results->wanted && state == 'S') {
            if (results->wanted == SIGSTOP)
                stop_and_continue(child);
            results->wanted = 0;
            kill(child, SIGALRM);
        }
        usleep(100);
    }
}

PROGRAM static void masked_waits(void)
{
    uint64_t all = ~UINT64_C(0), all_but = ~(bit(SIGALRM) | bit(SIGUSR2)),
             before = bit(SIGALRM) | bit(SIGUSR1);
    struct {
        const uint64_t *set;
        uint64_t size;
    } pair = {&all_but, 8};
    struct pollfd poll = {.fd = program_pipe[0], .events = POLLIN};
    struct epoll_event event;
    int epoll = epoll_create1(0);
    on_signal = note_mask;
    set_action(SIGALRM, program_handler, SA_SIGINFO | SA_RESTART, bit(SIGHUP));
    handle(SIGUSR1, 0);
    handle(SIGUSR2, 0);
    handle(SIGSEGV, 0);
    change_mask(SIG_SETMASK, before);
    send_asleep();
    note("sigsuspend", program_syscall(SYS_rt_sigsuspend, &all_but, 8));
    note("mask", (int64_t)get_mask());
    send_asleep();
    note("ppoll", program_syscall(SYS_ppoll, &poll, 1, NULL, &all_but, 8));
    note("mask", (int64_t)get_mask());
    send_asleep();
    note("pselect6", program_syscall(SYS_pselect6, 0, NULL, NULL, NULL, NULL, &pair));
    note("mask", (int64_t)get_mask());
    send_asleep();
    note("epoll_pwait", program_syscall(SYS_epoll_pwait, epoll, &event, 1, -1, &all_but, 8));
    note("mask", (int64_t)get_mask());
    /* Several at once: pending before. */
    change_mask(SIG_SETMASK, all);
    send_self(SIGUSR2);
    send_self(SIGALRM);
    note("sigsuspend", program_syscall(SYS_rt_sigsuspend, &all_but, 8));
    note("mask", (int64_t)get_mask());
    send_self(SIGSEGV);
    note("sigsuspend", program_syscall(SYS_rt_sigsuspend, &(uint64_t){~bit(SIGSEGV)}, 8));
    note("mask", (int64_t)get_mask());
    /* Nothing comes. */
    note("ppoll", program_syscall(SYS_ppoll, &poll, 1, &(struct timespec){0}, &all_but, 8));
    note("mask", (int64_t)get_mask());
    note("size", program_syscall(SYS_ppoll, &poll, 1, NULL, &all_but, 4));
    note("fault", program_syscall(SYS_rt_sigsuspend, 8, 8));
    note("mask", (int64_t)get_mask());
}

static void masks_of_waiting_calls_last_for_the_wait(void **state)
{
    sender = send_to_sleeper;
    run_both(masked_waits);
    sender = NULL;
}

PROGRAM static void write_to_pipe(int signal, siginfo_t *info, ucontext_t *context)
{
    note("rax", context->uc_mcontext.gregs[REG_RAX]);
    program_syscall(SYS_write, program_pipe[1], "x", 1);
}

PROGRAM static void waits(void)
{
    char byte;
    struct timespec remaining = {0};
    on_signal = write_to_pipe; /* which the first call then reads from: it restarts */
    handle(SIGALRM, SA_RESTART);
    send_asleep();
    note("read", program_syscall(SYS_read, program_pipe[0], &byte, 1));
    on_signal = NULL;
    handle(SIGALRM, 0);
    send_asleep();
    note("read", program_syscall(SYS_read, program_pipe[0], &byte, 1));
    send_asleep();
    note("nanosleep",
         program_syscall(SYS_nanosleep, &(struct timespec){.tv_sec = 1000}, &remaining));
    note("remaining", remaining.tv_sec > 0);
    results->wanted = SIGSTOP;
    note("nanosleep",
         program_syscall(SYS_nanosleep, &(struct timespec){.tv_sec = 1000}, &remaining));
    send_asleep();
    note("pause", program_syscall(SYS_pause));
    send_asleep();
    note("poll", program_syscall(SYS_poll, NULL, 0, -1));
    send_asleep();
    note("rt_sigtimedwait",
         program_syscall(SYS_rt_sigtimedwait, &(uint64_t){bit(SIGHUP)}, NULL, NULL, 8));
}

static void interrupted_calls_restart_or_end(void **state)
{
    sender = send_to_sleeper;
    run_both(waits);
    sender = NULL;
}

/* The thread's own timer sends a signal whenever it gets to run; each read restarts or is made: no byte is lost, none
 * comes twice. */
PROGRAM static void storm_of_restarts(void)
{
    enum { BYTES = 20000 };
    struct itimerval timer = {.it_value.tv_usec = 50, .it_interval.tv_usec = 50};
    unsigned long sum = 0;
    handle(SIGALRM, SA_RESTART);
    program_syscall(SYS_setitimer, ITIMER_REAL, &timer, NULL);
    for (unsigned i = 0; i < BYTES; i++) {
        uint8_t byte = (uint8_t)i, read = 0;
        if (program_syscall(SYS_write, program_pipe[1], &byte, 1) != 1 ||
            program_syscall(SYS_read, program_pipe[0], &read, 1) != 1 || read != byte)
            note("lost", i);
        sum += read;
    }
    note("sum", (int64_t)sum);
    note("signals came", results->entered > 0);
}

static void calls_are_made_exactly_once(void **state)
{
    run_both(storm_of_restarts);
}

/* ---- signals in the cache ---- */

PROGRAM static void check_order(int signal, siginfo_t *info, ucontext_t *context)
{
    static int expected;
    if (info->si_value.sival_int != expected)
        note("out of order", info->si_value.sival_int);
    expected = info->si_value.sival_int + 1;
    if (expected == STORM)
        results->flag = 1;
}

PROGRAM static void counts_a_storm(void)
{
    on_signal = check_order;
    handle(SIGRTMIN, 0);
    results->ready = 1;
    program_wait(&results->flag);
    note("handlers", results->entered);
}

/* All of them arrive: those that find the queue full are sent again. */
static void send_storm(pid_t child)
{
    while (!results->ready)
        usleep(100);
    for (int i = 0; i < STORM; i++)
        while (sigqueue(child, SIGRTMIN, (union sigval){.sival_int = i}) != 0 && errno == EAGAIN)
            usleep(100);
}

static void asynchronous_signals_leave_the_cache(void **state)
{
    sender = send_storm;
    run_both(counts_a_storm);
    sender = NULL;
    assert_int_equal(native_results->entered, STORM);
}

PROGRAM static void nest(int signal, siginfo_t *info, ucontext_t *context)
{
    if (signal != SIGSEGV)
        return;
    if (info->si_code <= 0) {
        results->sent++;
        return;
    }
    note_wrong(context->uc_mcontext.gregs[REG_RIP] == (greg_t)program_touch_instruction, "rip");
    note_wrong(context->uc_mcontext.gregs[REG_R11] == 0x7f001818, "r11");
    note_wrong(context->uc_mcontext.gregs[REG_CR2] == (greg_t)no_memory, "cr2");
    results->faults++;
    context->uc_mcontext.gregs[REG_RIP] = (greg_t)program_touch_after;
}

/* Signals that come while the program faults in the cache neither lose nor repeat a fault. */
PROGRAM static void faults_in_a_storm(void)
{
    enum { FAULTS = 20000 };
    on_signal = nest;
    handle(SIGSEGV, SA_NODEFER);
    handle(SIGUSR1, SA_NODEFER);
    handle(SIGUSR2, 0);
    handle(SIGALRM, 0);
    results->ready = 1;
    for (unsigned i = 0; i < FAULTS; i++)
        program_touch(no_memory);
    note("faults", results->faults);
    results->flag = 1;
    program_wait(&results->flag);
}

static void send_all_kinds(pid_t child)
{
    while (!results->ready)
        usleep(100);
    for (unsigned i = 0; !results->flag; i++) {
        kill(child, ((int[]){SIGUSR1, SIGUSR2, SIGALRM, SIGSEGV})[i % 4]);
        if (i % 64 == 0)
            usleep(10);
    }
}

static void faults_are_exact_in_a_storm(void **state)
{
    sender = send_all_kinds;
    native_results = run(faults_in_a_storm, false);
    translated_results = run(faults_in_a_storm, true);
    sender = NULL;
    assert_int_equal(native_results->status, 0);
    assert_int_equal(native_results->note_count, 1);
    compare(native_results, translated_results);
    assert_true(translated_results->entered > translated_results->faults);
    assert_true(translated_results->sent > 0);
}

/* ---- deaths ---- */

PROGRAM static void filter_getppid(void)
{
    struct sock_filter instructions[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getppid, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog filter = {4, instructions};
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    note("prctl", program_syscall(SYS_prctl, PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter));
}

PROGRAM static void dies_of_filter(void)
{
    filter_getppid();
    program_syscall(SYS_getppid);
}

PROGRAM static void dies_of_blocked_filter(void)
{
    handle(SIGSYS, 0);
    change_mask(SIG_BLOCK, bit(SIGSYS));
    dies_of_filter();
}

PROGRAM static void dies_of_fault(void)
{
    program_touch(no_memory + 24);
}

PROGRAM static void dies_of_division(void)
{
    program_divide();
}

PROGRAM static void dies_of_breakpoint(void)
{
    program_halt();
}

PROGRAM static void dies_of_blocked_fault(void)
{
    handle(SIGSEGV, 0);
    change_mask(SIG_BLOCK, bit(SIGSEGV));
    program_touch(no_memory + 24);
}

PROGRAM static void dies_of_ignored_fault(void)
{
    set_action(SIGILL, (void (*)(void))SIG_IGN, 0, 0);
    program_undefined();
}

PROGRAM static void dies_of_sent_fault(void)
{
    send_self(SIGBUS);
}

PROGRAM static void dies_of_termination(void)
{
    send_self(SIGTERM);
}

PROGRAM static void fault_again(int signal, siginfo_t *info, ucontext_t *context)
{
    dies_of_fault();
}

PROGRAM static void dies_of_fault_in_handler(void)
{
    handle(SIGSEGV, 0);
    on_signal = fault_again;
    program_touch(no_memory + 24);
}

/* What a debugger, or a core dump, would see: the registers at the last signal before the end. */
struct last_words {
    int status;
    siginfo_t info;
    struct user_regs_struct registers;
    struct user_fpregs_struct vector;
};

static void trace(pid_t child, struct last_words *words)
{
    int status;
    while (waitpid(child, &status, 0) == child && WIFSTOPPED(status)) {
        int signal = WSTOPSIG(status) == SIGSTOP ? 0 : WSTOPSIG(status);
        if (signal) {
            ptrace(PTRACE_GETSIGINFO, child, NULL, &words->info);
            ptrace(PTRACE_GETREGS, child, NULL, &words->registers);
            ptrace(PTRACE_GETFPREGS, child, NULL, &words->vector);
        }
        ptrace(PTRACE_CONT, child, NULL, signal);
    }
    words->status = status;
}

static struct last_words run_to_death(void (*function)(void), bool translated)
{
    struct last_words words = {0};
    is_traced = true;
    pid_t child = start(function, translated);
    is_traced = false;
    trace(child, &words);
    if (words.info.si_code <= 0 && words.info.si_pid == child)
        words.info.si_pid = 1;
    for (size_t i = 0; i < sizeof words.registers / 8; i++)
        if (((uint64_t *)&words.registers)[i] == (uint64_t)child)
            ((uint64_t *)&words.registers)[i] = 1;
    words.registers.orig_rax = 0; /* the translated one comes out of a system call */
    return words;
}

static void deaths_are_the_programs_own(void **state)
{
    static void (*const programs[])(void) = {dies_of_fault,
                                             dies_of_division,
                                             dies_of_breakpoint,
                                             dies_of_blocked_fault,
                                             dies_of_sent_fault,
                                             dies_of_ignored_fault,
                                             dies_of_fault_in_handler,
                                             dies_of_filter,
                                             dies_of_blocked_filter};
    for (unsigned i = 0; i < sizeof programs / sizeof *programs; i++) {
        struct last_words native = run_to_death(programs[i], false),
                          translated = run_to_death(programs[i], true);
        assert_true(WIFSIGNALED(native.status));
        assert_int_equal(native.status, translated.status);
        compare_bytes("siginfo at the end", i, &native.info, &translated.info, sizeof native.info);
        compare_bytes("registers at the end", i, &native.registers, &translated.registers,
                      sizeof native.registers);
        compare_bytes("vector state at the end", i, &native.vector, &translated.vector,
                      sizeof native.vector);
        assert_int_equal(results->log.deaths, 1);
        assert_int_equal(results->log.stops, 1);
        assert_int_equal(results->log.death_signal, WTERMSIG(native.status));
        assert_int_equal(results->log.death_pc, native.registers.rip);
    }
    run_both(dies_of_termination);
    assert_int_equal(translated_results->log.deaths, 0); /* the kernel's own business */
}

/* ---- frames that a program has damaged ---- */

enum { NOT_ALIGNED = 7, LAST_DAMAGE = 10 };
static unsigned damage;

PROGRAM static void damage_frame(int signal, siginfo_t *info, ucontext_t *context)
{
    uint8_t *state = (uint8_t *)context->uc_mcontext.fpregs;
    uint32_t size;
    if (signal == SIGSEGV) {
        note("si_code", info->si_code);
        note("rip", context->uc_mcontext.gregs[REG_RIP]);
        note("rax", context->uc_mcontext.gregs[REG_RAX]);
        leave(3);
    }
    memcpy(&size, state + 464 + 16, sizeof size);
    switch (damage) {
    case 0: /* reserved bits of MXCSR */
        context->uc_mcontext.fpregs->mxcsr = 0xffff0000;
        break;
    case 1: /* second magic number: x87 and SSE state only */
        memset(state + size, 0, 4);
        break;
    case 2: /* first magic number */
        memset(state + 464, 0, 4);
        break;
    case 3: /* a component that does not exist */
        state[512 + 7] = 0x40;
        break;
    case 4: /* a reserved field of the header */
        state[512 + 32] = 1;
        break;
    case 5:
        context->uc_mcontext.fpregs = NULL;
        break;
    case 6:
        context->uc_mcontext.fpregs = (void *)no_memory;
        break;
    case NOT_ALIGNED:
        context->uc_mcontext.fpregs = (void *)(state + 8);
        break;
    case 8: /* only what the frame's first words name */
        state[464 + 8] &= 2;
        break;
    case 9: /* not canonical */
        context->uc_mcontext.fpregs = (void *)0x8000000000000000;
        break;
    case 10:
        context->uc_mcontext.gregs[REG_RIP] = (greg_t)no_memory;
        break;
    }
}

PROGRAM static void damaged_frame(void)
{
    handle(SIGSEGV, 0);
    handle(SIGUSR1, 0);
    on_signal = damage_frame;
    note("tgkill", send_self(SIGUSR1));
    on_signal = NULL;
    records_frames = true;
    handle(SIGUSR2, 0);
    send_self(SIGUSR2); /* shows the vector state */
}

/* Some hypervisors emulate the kernel's FXRSTOR when it faults, and do not look at the alignment (seen on Linux 6.18 under
 * PVM): then the kernel takes such a frame. */
static bool alignment_matters(void)
{
    return run(damaged_frame, false)->note_count > 1;
}

static void damaged_frames_are_refused_as_by_the_kernel(void **state)
{
    for (damage = 0; damage <= LAST_DAMAGE; damage++)
        if (damage != NOT_ALIGNED || alignment_matters())
            run_both(damaged_frame);
}

PROGRAM static void return_without_frame(void)
{
    handle(SIGSEGV, SA_ONSTACK);
    set_alt_stack(alternate_stack, STACK_SIZE, 0);
    records_frames = true;
    on_signal = leave_3;
    program_sigreturn_at(no_memory);
}

static void returning_without_a_frame_is_a_fault(void **state)
{
    run_both(return_without_frame);
    assert_int_equal(native_results->record_count, 1);
}

/* ---- processes ---- */

PROGRAM static void forks(void)
{
    on_signal = note_mask;
    handle(SIGUSR1, 0);
    handle(SIGSEGV, 0);
    set_alt_stack(alternate_stack, 8192, 0);
    change_mask(SIG_BLOCK, bit(SIGUSR1) | bit(SIGSEGV) | bit(SIGHUP));
    send_self(SIGUSR1);
    send_self(SIGSEGV);
    int64_t child = program_syscall(SYS_fork);
    if (child == 0) {
        note_pending(); /* nothing */
        note_alt_stack();
        change_mask(SIG_SETMASK, 0);
        send_self(SIGSEGV);
        set_action(SIGSEGV, (void (*)(void))SIG_IGN, 0, 0);
        send_self(SIGSEGV);
        leave(5);
    }
    int status = 0;
    program_syscall(SYS_wait4, child, &status, 0, NULL);
    note("forked", child > 0);
    note("status", status);
    note_pending();
    change_mask(SIG_SETMASK, 0);
    note_action(SIGSEGV);
}

static void forked_children_have_their_own(void **state)
{
    run_both(forks);
}

static const char *own_path;

/* Mask and ignored signals of a program, as an exit status. */
static int report_inherited(void)
{
    struct kernel_action action[2];
    uint64_t mask;
    syscall(SYS_rt_sigaction, SIGSEGV, NULL, &action[0], 8);
    syscall(SYS_rt_sigaction, SIGBUS, NULL, &action[1], 8);
    syscall(SYS_rt_sigprocmask, 0, NULL, &mask, 8);
    return (action[0].handler == (void (*)(void))SIG_IGN) |
           (action[1].handler == (void (*)(void))SIG_DFL) << 1 | ((mask & bit(SIGFPE)) != 0) << 2 |
           ((mask & bit(SIGHUP)) != 0) << 3 | ((mask & ~bit(SIGHUP) & ~bit(SIGFPE)) != 0) << 4;
}

PROGRAM static void executes(void)
{
    const char *const arguments[] = {own_path, "--report-inherited", NULL};
    set_action(SIGSEGV, (void (*)(void))SIG_IGN, 0, 0);
    handle(SIGBUS, 0);
    change_mask(SIG_BLOCK, bit(SIGFPE) | bit(SIGHUP));
    note("execve", program_syscall(SYS_execve, "/nowhere", arguments, NULL));
    note("ignored", send_self(SIGSEGV));
    note("handled", send_self(SIGBUS));
    note("execve", program_syscall(SYS_execve, own_path, arguments, NULL));
}

static void executed_programs_inherit(void **state)
{
    run_both(executes);
    assert_int_equal(WEXITSTATUS(native_results->status), 15);
    assert_int_equal(native_results->entered, 1);
}

enum { SYS_SECCOMP_CODE = 1 };

PROGRAM static void use_system_call_numbers(int signal, siginfo_t *info, ucontext_t *context)
{
    if (info->si_code != SYS_SECCOMP_CODE)
        return;
    note("si_syscall", info->si_syscall);
    note("si_call_addr", (int64_t)info->si_call_addr);
    note("rip", context->uc_mcontext.gregs[REG_RIP]);
    context->uc_mcontext.gregs[REG_RAX] = 4711;
}

PROGRAM static void filters(void)
{
    on_signal = use_system_call_numbers;
    records_frames = true;
    handle(SIGSYS, 0);
    filter_getppid();
    note("getppid", program_syscall(SYS_getppid));
    note("sent", send_self(SIGSYS));
}

static void filtered_calls_raise_signals(void **state)
{
    run_both(filters);
    assert_int_equal(native_results->record_count, 2);
}

/* ---- code pages and going natively ---- */

PROGRAM static void frame_on_code(void)
{
    handle(SIGUSR1, SA_ONSTACK);
    set_alt_stack(alternate_stack, STACK_SIZE, 0);
    program_syscall(SYS_mprotect, alternate_stack + STACK_SIZE - 4096, 4096, PROT_READ);
    send_self(SIGUSR1);
    leave((int)results->entered);
}

static void a_frame_may_lie_on_protected_code(void **state)
{
    stand_in_protected_page = alternate_stack + STACK_SIZE - 4096;
    translated_results = run(frame_on_code, true);
    stand_in_protected_page = NULL;
    assert_int_equal(translated_results->status, 1 << 8);
}

/* From here on all is native. */
PROGRAM static void go_natively(int others_keep_actions)
{
    program_sigreturn_entry = (uint64_t)program_sigreturn_instruction; /* a signal may wait */
    program_syscall(stand_in_let_go_call, others_keep_actions);
    program_syscall_entry = (uint64_t)program_syscall_instruction;
}

PROGRAM static void lets_go(void)
{
    on_signal = note_mask;
    handle(SIGUSR1, SA_ONSTACK);
    handle(SIGSEGV, SA_ONSTACK);
    set_action(SIGBUS, (void (*)(void))SIG_IGN, 0, 0);
    set_alt_stack(alternate_stack, STACK_SIZE, 0);
    change_mask(SIG_BLOCK, bit(SIGUSR1) | bit(SIGSEGV));
    queue_self(SIGUSR1, 3);
    queue_self(SIGSEGV, 4);
    go_natively(keeps_actions);
    records_frames = true;
    note("mask", (int64_t)get_mask());
    note_pending();
    note_alt_stack();
    change_mask(SIG_SETMASK, 0);
    send_self(SIGUSR1);
    note("ignored", send_self(SIGBUS));
    if (!keeps_actions) {
        note_action(SIGUSR1);
        note_action(SIGSEGV);
    }
    set_action(SIGSEGV, (void (*)(void))SIG_DFL, 0, 0);
    *(volatile char *)no_memory = 1;
}

static void threads_go_on_natively(void **state)
{
    for (keeps_actions = 0; keeps_actions <= 1; keeps_actions++) {
        native_results = run(lets_go, false);
        translated_results = run(lets_go, true);
        compare(native_results, translated_results);
        assert_int_equal(WTERMSIG(native_results->status), SIGSEGV);
        assert_int_equal(native_results->record_count, 3);
    }
}

/* ---- while the runtime blocks signals ---- */

static void send_here(int signal)
{
    syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), signal);
}

static void send_many(void)
{
    static const int signals[] = {SIGCHLD, SIGWINCH, SIGURG, SIGCONT, SIGHUP, SIGUSR1};
    for (unsigned i = 0; i < sizeof signals / sizeof *signals; i++)
        send_here(signals[i]);
    syscall(SYS_rt_sigpending, &results->kept[results->kept_count++], 8);
}

/* SIGHUP is ignored, SIGURG blocked, SIGWINCH and SIGUSR1 have handlers. */
PROGRAM static void works_in_which_signals_are_blocked(void)
{
    handle(SIGUSR1, 0);
    handle(SIGWINCH, 0);
    set_action(SIGHUP, (void (*)(void))SIG_IGN, 0, 0);
    change_mask(SIG_BLOCK, bit(SIGURG));
    if (program_syscall(SYS_fork) == 0)
        leave(0);
    program_syscall(SYS_wait4, -1, NULL, 0, NULL);
    change_mask(SIG_UNBLOCK, bit(SIGURG));
    results->sent = results->entered;
    change_mask(SIG_BLOCK, bit(SIGURG));
    go_natively(1);
    leave((int)results->entered);
}

static void ignored_signals_are_never_kept(void **state)
{
    stand_in_while_blocked = send_many;
    translated_results = run(works_in_which_signals_are_blocked, true);
    stand_in_while_blocked = NULL;
    assert_int_equal(translated_results->kept_count, 2);
    for (unsigned i = 0; i < 2; i++)
        assert_int_equal(translated_results->kept[i], bit(SIGURG) | bit(SIGWINCH) | bit(SIGUSR1));
    assert_int_equal(translated_results->sent, 2);
    assert_int_equal(translated_results->status, 4 << 8);
}

static void set_handler_and_send(void)
{
    const struct kernel_action action = {program_handler, SA_SIGINFO | RESTORER_FLAG,
                                         program_restorer, 0};
    stand_in_change_action(SIGURG, &action);
    send_here(SIGURG);
    results->kept[0] = results->entered;
}

PROGRAM static void goes_on_natively(void)
{
    go_natively(1);
    leave((int)results->entered);
}

static void a_signal_that_gets_a_handler_waits_for_the_native_thread(void **state)
{
    stand_in_while_blocked = set_handler_and_send;
    translated_results = run(goes_on_natively, true);
    stand_in_while_blocked = NULL;
    assert_int_equal(translated_results->kept[0], 0);
    assert_int_equal(translated_results->log.handlers, 0);
    assert_int_equal(translated_results->status, 1 << 8);
}

/* ---- memory functions ---- */

static void memory_functions_are_right(void **state)
{
    uint8_t bytes[64], expected[64];
    for (unsigned from = 0; from < 20; from++)
        for (unsigned to = 0; to < 20; to++)
            for (unsigned size = 0; size < 40; size++) {
                for (unsigned i = 0; i < 64; i++)
                    bytes[i] = expected[i] = (uint8_t)i;
                for (unsigned i = 0; i < size; i++)
                    expected[to + i] = (uint8_t)(from + i);
                memmove(bytes + to, bytes + from, size);
                for (unsigned i = 0; i < 64; i++)
                    assert_int_equal(bytes[i], expected[i]);
            }
    assert_true(memcmp("abc", "abd", 3) < 0);
    assert_true(memcmp("ab\xff", "abd", 3) > 0);
    assert_int_equal(memcmp("abc", "abd", 2), 0);
    assert_int_equal(strlen("abc"), 3);
}

static uint8_t *map(size_t size, int protection)
{
    uint8_t *at = mmap(NULL, size, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(at, MAP_FAILED);
    return at;
}

static int make_memory(void **state)
{
    results =
        mmap(NULL, sizeof *results, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(results, MAP_FAILED);
    program_stack = map(STACK_SIZE, PROT_READ | PROT_WRITE);
    alternate_stack = map(STACK_SIZE, PROT_READ | PROT_WRITE);
    no_memory = map(4096, PROT_NONE);
    read_only = map(4096, PROT_READ);
    FILE *file = tmpfile();
    after_file = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fileno(file), 0);
    return after_file == MAP_FAILED || pipe(program_pipe) != 0;
}

int main(int count, char **arguments)
{
    if (count == 2 && strcmp(arguments[1], "--report-inherited") == 0)
        return report_inherited();
    own_path = arguments[0];
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_frame_is_the_kernels),
        cmocka_unit_test(faults_have_exact_frames),
        cmocka_unit_test(what_a_handler_changes_counts),
        cmocka_unit_test(alternate_stacks_are_the_programs),
        cmocka_unit_test(a_handler_returns_to_the_stack_its_frame_names),
        cmocka_unit_test(a_frame_that_cannot_be_made_is_a_fault),
        cmocka_unit_test(dispositions_are_the_programs),
        cmocka_unit_test(pending_signals_come_in_the_kernels_order),
        cmocka_unit_test(ignoring_forgets_what_is_pending),
        cmocka_unit_test(sigtimedwait_takes_pending_signals),
        cmocka_unit_test(masks_of_waiting_calls_last_for_the_wait),
        cmocka_unit_test(interrupted_calls_restart_or_end),
        cmocka_unit_test(calls_are_made_exactly_once),
        cmocka_unit_test(asynchronous_signals_leave_the_cache),
        cmocka_unit_test(faults_are_exact_in_a_storm),
        cmocka_unit_test(deaths_are_the_programs_own),
        cmocka_unit_test(damaged_frames_are_refused_as_by_the_kernel),
        cmocka_unit_test(returning_without_a_frame_is_a_fault),
        cmocka_unit_test(forked_children_have_their_own),
        cmocka_unit_test(executed_programs_inherit),
        cmocka_unit_test(filtered_calls_raise_signals),
        cmocka_unit_test(a_frame_may_lie_on_protected_code),
        cmocka_unit_test(threads_go_on_natively),
        cmocka_unit_test(ignored_signals_are_never_kept),
        cmocka_unit_test(a_signal_that_gets_a_handler_waits_for_the_native_thread),
        cmocka_unit_test(memory_functions_are_right),
    };
    return cmocka_run_group_tests(tests, make_memory, NULL);
}
