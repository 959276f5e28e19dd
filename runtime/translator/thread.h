/* A traced thread as the runtime knows it: what generated code keeps in memory, the program's registers while the
 * runtime works, and where the thread's log is.
 *
 * One per traced thread, in private memory (fork copies it); the gs base points to it. Generated code reaches the
 * fields of struct tr_hot as gs:[offset]. The program's gs is not supported while it is traced (let_go.c).
 *
 * While code from the cache runs, all general registers hold the program's values but r11, which is the log pointer;
 * the program's r11 is in `hot.r11`. In fragments that use r11 the two are exchanged for some instructions
 * (translate.c). While the runtime's C code runs, all of the program's registers are in `app`, the log pointer in
 * `hot.log`. Vector and x87 registers are the program's at all times: the runtime has no code that touches them.
 */
#ifndef MAGIC_TRACE_RUNTIME_TRANSLATOR_THREAD_H
#define MAGIC_TRACE_RUNTIME_TRANSLATOR_THREAD_H

#include "runtime/translator/layout.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum tr_register {
    TR_RAX,
    TR_RCX,
    TR_RDX,
    TR_RBX,
    TR_RSP,
    TR_RBP,
    TR_RSI,
    TR_RDI,
    TR_R8,
    TR_R9,
    TR_R10,
    TR_R11,
    TR_R12,
    TR_R13,
    TR_R14,
    TR_R15,
    TR_REGISTERS,
};

/* The program's state, complete but for vector and x87 registers. */
struct tr_state {
    uint64_t r[TR_REGISTERS]; /* by enum tr_register */
    uint64_t flags;
    uint64_t pc;
};

enum { TR_SEEN_PAGES = 256 };

/* What generated code and runtime/translator/code/enter.S use; offsets are checked in thread.c. */
struct tr_hot {
    struct tr_thread *self; /* 0x00 */
    /* 0x08 log address: a fragment's head leaves the cache when the log pointer is above; 0: at once */
    uint64_t limit;
    uint64_t run;     /* 0x10 0: ends of fragments that do not compare leave the cache, too */
    uint64_t r11;     /* 0x18 the program's r11 */
    uint64_t log;     /* 0x20 the log pointer while it is not in r11 */
    uint64_t rcx;     /* 0x28 the program's, while generated code has borrowed the register */
    uint64_t rdx;     /* 0x30 */
    uint64_t rax;     /* 0x38 */
    uint64_t scratch; /* 0x40 one more, for far RIP-relative operands */
    uint64_t target;  /* 0x48 cache address that enter.S continues at */
    uint64_t exit;    /* 0x50 which exit was taken (translation.h) */
    /* 0x58 log address from which on the limit leads to tr_log_check, not to a stamp alone */
    uint64_t check_at;
    /* Addresses in enter.S, for jumps from anywhere. */
    uint64_t leave_direct;   /* 0x60 */
    uint64_t leave_indirect; /* 0x68 rdx is the target, rcx and rdx are in memory */
    uint64_t leave_check;    /* 0x70 */
    uint64_t leave_syscall;  /* 0x78 */
    uint64_t leave_first;    /* 0x80 an indirect branch runs for the first time */
    uint64_t stack;          /* 0x88 top of the runtime's stack */
    uint64_t clock;          /* 0x90 address of tr_control.clock */
    uint64_t cleared;        /* 0x98 log address up to which the ring is cleared */
    uint64_t entered;        /* 0xa0 TSC when the runtime was entered, for the clock */
    uint64_t leave_run;      /* 0xa8 gs:[run] was 0, or the code has changed: hot.exit says which */
    uint64_t leave_trigger;  /* 0xb0 rax is where to go on, hot.rax the program's */
    /* 0xb8 bytes of log: follows the thread's pace, so that stamps are stamp_ticks apart */
    uint64_t stamp_interval;
    uint64_t stack_before; /* 0xc0 the stack pointer before it is loaded */
    /* 0xc8 as leave_run; rax is the program's address, hot.rax the program's rax */
    uint64_t leave_run_at;
    uint64_t stamp_ticks; /* 0xd0 TSC ticks between stamps, about */
    uint64_t stamped;     /* 0xd8 TSC at the newest stamp */
    uint64_t elapsed;     /* 0xe0 between the newest two stamps */
    /* 0xe8 address in enter.S: after a load of the stack pointer; rax is where to go on, hot.rax the program's */
    uint64_t stack_loaded;
    uint64_t reports_switches; /* 0xf0 bool: there is room for it (stack_switches.h) */
    uint64_t switched_at;      /* 0xf8 log address: of a switch that is to be reported; 0: none */
    uint32_t seen_pages[TR_SEEN_PAGES]; /* 0x100 of stacks that were reported, by a hash */
    uint64_t stack_copied; /* 0x500 as stack_loaded: after code has added to the stack pointer */
    uint64_t last_time;    /* 0x508 ticks, of the newest record with a time: none goes below */
    uint64_t
        calling_stack; /* 0x510 the runtime's stack pointer while a system call of the program is made */
    uint64_t
        watches_stacks; /* 0x518 bool: stacks that are changed may share memory (shared_stacks.h) */
};

enum {
    TR_TABLE_OFFSET = 0x10000, /* of the table for indirect branches, from the gs base */
    TR_TABLE_ENTRIES = 1 << 16,
    TR_STACK_SIZE = 64 << 10, /* of the runtime, per thread */
    /* for the master handler; frames with AVX-512 and AMX state fit */
    TR_SIGNAL_STACK_SIZE = 64 << 10,
};

/* What the program set for a signal: the kernel's struct sigaction. */
struct tr_action {
    uint64_t handler, flags, restorer, mask;
};

enum {
    TR_SIGNALS = 64,
    TR_SAME_STACK = 1 << 20,    /* bytes: pointers further apart are those of two stacks */
    TR_SIGNAL_INFO = 128,       /* bytes of siginfo_t */
    TR_SYNCHRONOUS_SIGNALS = 6, /* SIGILL, SIGTRAP, SIGBUS, SIGFPE, SIGSEGV, SIGSYS */
    TR_PENDING_HELD = -1,
};

/* See signal.h. Sets of signals have bit N - 1 for signal N, as the kernel's. */
struct tr_signals_of_thread {
    uint64_t mask; /* the program's signal mask */
    /* with `restores_mask`: the program is in sigsuspend, ppoll ..., which set `mask` for as long as it waits;
     * this is what it returns to (the kernel's saved_sigmask) */
    uint64_t saved_mask;
    bool restores_mask;
    bool pending_is_fault; /* it was raised by the program's own instruction at app.pc */
    /* a synchronous signal was sent that does not interrupt the program's system call */
    bool ignored;
    bool forks; /* between tr_signal_before_clone and tr_signal_after_clone, without CLONE_VM */
    bool clears_actions; /* of the child: CLONE_CLEAR_SIGHAND */
    bool leaves;         /* since tr_signal_let_go: what comes now is for the native thread */
    uint32_t alt_flags;  /* the program's sigaltstack */
    uint64_t alt_start, alt_size;
    /* The newest handler that began on another stack than what it interrupted: its stack pointer then, how far down that
     * stack goes at most, and the stack pointer of what it interrupted; 0: none. */
    uint64_t other_stack_entry, other_stack_room, other_stack_from;
    /* not 0: tr_signal_deliver has something to do. The number of the signal in `info`, or TR_PENDING_HELD: only
     * some of `held` */
    volatile int pending;
    uint8_t info[TR_SIGNAL_INFO] __attribute__((aligned(8)));
    /* of the program's last fault: all later frames show them */
    uint64_t trap_number, error_code, fault_address;
    /* How large the extended state is, from the kernel's last frame: struct _fpx_sw_bytes, magic1 0 without XSAVE. */
    uint8_t extended_state[48] __attribute__((aligned(8)));
    bool extended_state_known;
    bool learns;              /* SIGTRAP was sent to learn it */
    uint32_t protection_keys; /* PKRU that handlers begin with */
    /* Synchronous signals that were sent, not raised: the kernel always hands them over, the program may block them. */
    volatile uint64_t held;
    /* those of `held` that cannot be blocked or ignored: the end comes instead (force_sig) */
    uint64_t forced;
    uint64_t awaited; /* sigtimedwait waits for these */
    uint8_t held_info[TR_SYNCHRONOUS_SIGNALS][TR_SIGNAL_INFO] __attribute__((aligned(8)));
    /* by signal number - 1: tr_process.actions, or `own_actions` of a thread that shares memory but not
     * dispositions (a vforked child) */
    struct tr_action *actions;
    struct tr_action own_actions[TR_SIGNALS];
};

/* What the thread has registered by rseq(2), or believes to have: the kernel knows of it only while the thread runs natively.
 * It would look for program counters of ours in the program's tables. */
struct tr_rseq {
    uint64_t address; /* 0: nothing */
    uint32_t size, signature;
};

enum { TR_TIMED_CALLS = 64 }; /* within each other, of one thread; deeper ones are not timed */

/* timed_calls.h */
struct tr_timed_call {
    uint64_t function; /* its first instruction */
    uint64_t return_address;
    uint64_t stack_pointer;  /* where that lies */
    uint64_t began;          /* ticks of the recording's clock */
    uint64_t processor_time; /* then, in ticks, where it is asked for */
};

struct tr_timed_calls {
    unsigned count;
    uint64_t read_at,
        processor_time; /* the last reading of the thread's time on processors; ticks */
    struct tr_timed_call calls[TR_TIMED_CALLS];
};

/* The program's last mark_start in a thread, for -duration-thresh with -on-cpu. */
struct tr_noted_start {
    uint64_t tsc;            /* shortly before the program has read it; 0: it has not */
    uint64_t processor_time; /* of the thread; ticks */
};

/* selected_calls.h */
struct tr_selected_call {
    bool
        inside; /* a call of a selected function is in progress: the thread runs in the cache and is recorded */
    /* the program's own code runs, or is about to; until the runtime is entered */
    volatile bool native;
    bool arrives;    /* native code has come to a selected function: app.pc */
    bool makes_call; /* native code has come to a system call: app.pc is after SYSCALL */
    bool dispatches; /* the kernel hands system calls of native code to the runtime */
    uint64_t stack_pointer,
        return_address; /* at the function's first instruction; the first: 0 where they are not known */
    uint64_t log;       /* hot.log after the newest call's callers; 0: none has begun */
    bool
        has_call; /* it runs on the stack that runs, or on the one that the thread has come from: it is not suspended */
    /* The thread has changed to another stack, and may come back to the one that the call runs on. */
    bool away;
    uint64_t left, entered; /* the stack pointer before and after that */
    bool nested; /* what runs on the other stack has returned into nothing that lay there before */
    uint64_t
        own_stack; /* the lowest address that is known to be of the thread's own stack; 0: none is */
    uint32_t
        known_places; /* tr_breakpoint_changes() when the selected functions were made places that ask the runtime; 0: they were not */
};

enum {
    TR_VALUE_CALLS = 1024
}; /* within each other, of one thread; the results of outer ones are not recorded */

/* call_values.h: a call in progress whose result is wanted. */
struct tr_value_call {
    uint64_t return_address;
    uint64_t stack_pointer; /* where that lies; 0: it has returned */
    uint64_t place;         /* index of the struct tr_value_place */
};

/* The newest is at (count - 1) % TR_VALUE_CALLS. */
struct tr_value_calls {
    uint64_t count;
    struct tr_value_call *calls; /* TR_VALUE_CALLS of them; NULL: none was made yet */
};

/* A stack that was left by code which copies stacks (copied_stacks.h). */
enum { TR_COPIED_STACKS = 1023, TR_COPIED_LINES = 16 };
struct tr_copied_stack {
    uint64_t pointer; /* the stack pointer then; 0: none has this number */
    uint64_t left_at; /* which copy that was */
    uint64_t chunk;   /* tr_copied_stacks.chunk, if readers of that chunk knew the stack; else 0 */
    bool is_nameless; /* no log has its number */
    bool is_due;      /* as tr_copied_stacks.is_due, when it continues */
    uint32_t lines[TR_COPIED_LINES]; /* hashes of its innermost lines */
};

struct tr_copied_stacks {
    struct tr_copied_stack
        *left;        /* TR_COPIED_STACKS of them, number 1 first; NULL: none was made */
    uint32_t freed;   /* numbers from there on may be free */
    bool is_awaited;  /* a copy has begun, and is not over as far as is known */
    bool is_asked;    /* and every head asks whether it is */
    bool is_due;      /* readers are to learn the callers after it, even if there is no room */
    uint32_t leaving; /* number of the stack that it has left; 0: the log cannot have the numbers */
    uint64_t pointer; /* the stack pointer that it has set */
    uint64_t began;   /* stream position */
    uint64_t copies;  /* so far */
    uint64_t chunk;   /* of the log, from 1 on */
    bool is_known;    /* readers that begin with this chunk know the stack that runs */
    uint32_t before[TR_COPIED_LINES]; /* the lines that it replaces */
};

/* Stacks that fibers copy to memory which they share (shared_stacks.h). */
enum {
    TR_LEFT_POINTERS = 256,
    TR_LEFT_AT_ONE = 8,
    TR_STACK_REGIONS = 256,
    TR_SHARED_MEMORY = 4,
    TR_KNOWN_NUMBERS = 1024
};
struct tr_left_pointer {
    uint64_t pointer;              /* that stacks were left with */
    uint32_t sums[TR_LEFT_AT_ONE]; /* of what lay next to it, the newest first; 0: none */
};

struct tr_stack_region {
    uint64_t region,
        highest; /* a part of the memory, and the highest stack pointer there, so far */
};

struct tr_shared_memory {
    uint64_t lowest, highest; /* the stack pointers there, so far */
    uint64_t popped;          /* bytes by which a stack continues further in than it was left */
};

struct tr_known_number {
    uint32_t number, chunk;
};

struct tr_shared_stacks {
    struct tr_left_pointer left[TR_LEFT_POINTERS];
    struct tr_stack_region regions[TR_STACK_REGIONS];
    struct tr_shared_memory memory[TR_SHARED_MEMORY];
    unsigned memory_count;
    struct tr_known_number
        known[TR_KNOWN_NUMBERS]; /* of stacks that readers of a chunk know, by their number */
    uint32_t chunk;              /* of the log */
    unsigned watched;            /* changes of the stack, in this chunk */
    bool runs_known;             /* readers of it know the stack that runs */
    bool had_threads;            /* others than this one */
};

struct tr_thread {
    struct tr_hot hot; /* first */
    struct tr_state app;
    uint32_t partial_block; /* the next TR_PARTIAL's payload: of the block that app.pc is in */
    struct tr_process *process;
    struct tr_slot *slot; /* NULL: runs translated but unlogged (into a small private ring) */
    uint8_t *ring, *ring_end;
    uint64_t
        room_end; /* log address: how much of the ring is used; all of it, or what the disk had room for */
    uint64_t backed;       /* log address: pages before it are known to have their disk space */
    uint8_t *private_ring; /* of a thread that is not recorded; NULL before */
    uint64_t checked;      /* stream position at the last tr_log_check */
    /* log address: a record begins there, and from there on none has been overwritten */
    uint64_t boundary;
    uint64_t look_at;      /* TSC at which hot_path.c may look again */
    bool reports_switches; /* to other stacks, when there is room */
    uint64_t known_chunks; /* so many more chunks begin before stacks are reported again */
    struct tr_copied_stacks copied;
    struct tr_shared_stacks *shared; /* NULL: it has not changed its stack */
    bool has_unseen_stacks; /* some may have begun before the log, or while they were not watched */
    uint64_t
        switch_credit; /* bytes of log that copies of other stacks may take (stack_switches.h) */
    /* bytes of all complete rounds of the ring: stream position = wraps + (log - ring) */
    uint64_t wraps;
    uint32_t serial; /* of the slot, or UINT32_MAX */
    int32_t pid, tid;
    bool in_syscall;    /* in tr_safe_syscall: see signal.h */
    bool stops;         /* the log has ended */
    bool works;         /* between tr_clock_begin_work and tr_clock_end_work */
    bool new_code;      /* mapping records were written since the last stamp of a new moment */
    uint64_t code_seen; /* process->newest_code at that stamp */
    bool let_go;        /* go on natively at the next safe point */
    bool
        steps; /* the program has set its own trap flag: with let_go: it cannot be traced, and the message says so */
    /* the program's own code runs natively, to raise its fault, and no fragment was entered for it */
    bool escaped;
    /* a process that shares its parent's memory, until it calls exec or exits, but has signal dispositions of its
     * own */
    bool vforked;
    bool parent_waits; /* until it calls exec or exits; then the parent releases this structure */
    /* With options.on_cpu: the thread's time on processors when it began to translate, and how much of it all translations
     * took; ticks. */
    uint64_t translation_began, translated;
    uint64_t exec_cookie; /* struct tr_request */
    uint64_t random; /* state of what getrandom() gives, where inputs are held; 0: none was made */
    struct tr_signals_of_thread signals;
    uint64_t stack_top; /* the stack pointer with which the thread began; 0: not known */
    struct tr_selected_call selected;
    struct tr_timed_calls timed_calls;
    struct tr_noted_start noted_start;
    struct tr_value_calls value_calls;
    uint64_t
        given_back_seen; /* tr_code_times_given_back at its last fault that was not explained */
    struct tr_rseq rseq;
    const struct tr_attached_thread *attached; /* attachment.h; NULL: it began traced */
    uint64_t
        began_at; /* where it was taken over, until it runs; 0: it has run since, or began traced */
    struct tr_thread *next; /* in process->threads */
    uint32_t state;         /* atomic: TR_THREAD_ */
    uint64_t epoch;         /* of the cache, at the last safe point */
};

enum { TR_THREAD_FREE, TR_THREAD_USED };

/* The traced address space: one per runtime image; fork copies it. Writable, shared by all threads. */
struct tr_process {
    struct tr_control *control;
    uint8_t *arena;
    struct tr_table *table;     /* fragments are described there */
    uint32_t next_fragment;     /* identifier of the next one; under `lock` */
    uint64_t image, image_size; /* the runtime */
    int32_t pid;
    uint32_t lock;             /* of code cache, fragments and code map: tr_lock */
    uint64_t newest_code;      /* ticks: code has taken the place of other code; under `lock` */
    uint32_t newest_code_by;   /* the serial of the thread that noted it */
    struct tr_thread *threads; /* all that were ever made; reused */
    uint32_t thread_lock;
    bool steals_time; /* what the runtime uses up is taken off the clock */
    uint32_t running; /* atomic: threads that run in the cache, vforked ones not counted */
    /* of `actions`, and of changing the kernel's dispositions together with them */
    uint32_t action_lock;
    /* The dispositions of a process that had begun natively: by its first thread. */
    bool taken_over;
    struct tr_action actions[TR_SIGNALS]; /* what the program set, by signal number - 1 */
    uint64_t fsgsbase;                    /* bool: the kernel allows WRGSBASE */
    bool leaves_code;        /* threads go on natively: no code is write-protected any more */
    bool files_forbidden;    /* the program's seccomp filter may kill it for looking at files */
    bool writes_memory_file; /* it may write through /proc/self/mem (memory_file.h) */
    bool
        is_alone; /* a forked child that is not traced: its only thread is about to go on natively */
    bool shares_memory;  /* other processes may write to its shared memory (tr_code_shared) */
    bool supplies_pages; /* some of its pages may be made by its other threads (supplied_pages.h) */
    char name[16];
};

/* Hidden: there is no dynamic linker that would fill in a global offset table. */
extern struct tr_process tr_process __attribute__((visibility("hidden")));

/* selected_calls.h: whether the thread runs natively, and its log is to stay as it is. */
static inline bool tr_is_outside(const struct tr_thread *thread)
{
    return thread->process->control->options.selected_count && !thread->selected.inside;
}

/* The stack pointer of what a handler on another stack, which runs, has interrupted; 0: none. */
static inline uint64_t tr_interrupted_stack(const struct tr_thread *thread)
{
    const struct tr_signals_of_thread *signals = &thread->signals;
    bool runs = signals->other_stack_entry - thread->app.r[TR_RSP] < signals->other_stack_room;
    return runs ? signals->other_stack_from : 0;
}

static inline struct tr_thread *tr_current(void)
{
    struct tr_thread *thread;
    __asm__("mov %%gs:0, %0" : "=r"(thread));
    return thread;
}

/* Memory for a thread (struct tr_thread, its table, its stacks), new or used before, with all fields 0 but
 * hot.self, hot.stack, process, state. NULL: none. */
struct tr_thread *tr_thread_allocate(struct tr_process *process);
/* The same, but tr_thread_empty_table is left to be called, by the thread itself before it enters the cache: half a
 * megabyte that a thread which sleeps for long does without. */
struct tr_thread *tr_thread_reserve(struct tr_process *process);
void tr_thread_empty_table(struct tr_thread *thread);
/* Its memory can be used for another one. */
void tr_thread_release(struct tr_thread *thread);
/* Its stack for the master handler: TR_SIGNAL_STACK_SIZE bytes. */
void *tr_thread_signal_stack(const struct tr_thread *thread);
/* Sets the gs base of the calling thread; NULL: to 0. */
void tr_thread_set_base(struct tr_thread *thread);
/* The calling thread, NULL when the gs base is not ours (it went on natively): for the master handler. */
struct tr_thread *tr_thread_here(void);

#endif
