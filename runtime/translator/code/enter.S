/* Between the code cache and the runtime's C code.
 *
 * Every way out of the cache saves all of the program's general registers and flags in tr_thread.app, changes to the
 * runtime's stack and calls a function of dispatch.c, which returns where to go on in the cache. Vector registers are
 * never touched. Offsets are those of thread.h, checked in dispatch.c. All labels are hidden.
 */
#include "runtime/translator/log/stamp_interval.h"

#define SELF 0x00
#define LIMIT 0x08
#define RUN 0x10
#define R11 0x18
#define LOG 0x20
#define RCX 0x28
#define RDX 0x30
#define RAX 0x38
#define TARGET 0x48
#define STACK 0x88
#define CLOCK 0x90
#define CHECK_AT 0x58
#define CLEARED 0x98
#define STAMP_INTERVAL 0xb8
#define STAMP_TICKS 0xd0
#define STAMPED 0xd8
#define ELAPSED 0xe0
#define STACK_BEFORE 0xc0
#define REPORTS_SWITCHES 0xf0
#define SWITCHED_AT 0xf8
#define SEEN_PAGES 0x100
#define LAST_TIME 0x508
#define WATCHES_STACKS 0x518
#define APP 0x520 /* struct tr_state */
#define APP_FLAGS (APP + 16 * 8)
#define PAGE_SHIFT 12
#define PAGE_HASH 0x9e3779b1 /* 2^32 by the golden ratio */
#define PAGE_HASH_SHIFT 24   /* leaves an index into SEEN_PAGES */
#define PUSHED 8             /* bytes that are popped without a load */
#define UNWOUND (16 << 10)   /* bytes: most that are unwound at once of a stack that is reported after that */
#define FLAG_AC 0x40000
#define FLAGS_USUAL 0x202
#define STAMP_WORD 0xf0200000 /* TR_EVENT_WORD(TR_STAMP, 0) */
#define STAMP_SIZE 12         /* bytes of log: that word and the time */

.macro ENTRY name
    .globl \name
    .hidden \name
    .type \name, @function
    .align 16
\name:
.endm

    .text

/* The program's registers but r11 are in place, r11 is the log pointer. */
.macro SAVE
    mov %r11, %gs:LOG
    mov %rsp, %gs:APP + 4 * 8
    mov %gs:STACK, %rsp
    pushf
    pop %gs:APP_FLAGS
    cld
    testl $FLAG_AC, %gs:APP_FLAGS /* the program may want its unaligned accesses to fault, not ours */
    jz 9f
    pushq $FLAGS_USUAL
    popf
9:
    mov %rax, %gs:APP + 0 * 8
    mov %rcx, %gs:APP + 1 * 8
    mov %rdx, %gs:APP + 2 * 8
    mov %rbx, %gs:APP + 3 * 8
    mov %rbp, %gs:APP + 5 * 8
    mov %rsi, %gs:APP + 6 * 8
    mov %rdi, %gs:APP + 7 * 8
    mov %r8, %gs:APP + 8 * 8
    mov %r9, %gs:APP + 9 * 8
    mov %r10, %gs:APP + 10 * 8
    mov %gs:R11, %rdi
    mov %rdi, %gs:APP + 11 * 8
    mov %r12, %gs:APP + 12 * 8
    mov %r13, %gs:APP + 13 * 8
    mov %r14, %gs:APP + 14 * 8
    mov %r15, %gs:APP + 15 * 8
    mov %gs:SELF, %rdi
.endm

/* rax: where to go on in the cache. */
ENTRY tr_restore
    mov %rax, %gs:TARGET
    mov %gs:APP + 11 * 8, %rdi
    mov %rdi, %gs:R11
    mov %gs:LOG, %r11
.Lrestore_rest:
    mov %gs:APP + 1 * 8, %rcx
    mov %gs:APP + 2 * 8, %rdx
    mov %gs:APP + 3 * 8, %rbx
    mov %gs:APP + 5 * 8, %rbp
    mov %gs:APP + 6 * 8, %rsi
    mov %gs:APP + 7 * 8, %rdi
    mov %gs:APP + 8 * 8, %r8
    mov %gs:APP + 9 * 8, %r9
    mov %gs:APP + 10 * 8, %r10
    mov %gs:APP + 12 * 8, %r12
    mov %gs:APP + 13 * 8, %r13
    mov %gs:APP + 14 * 8, %r14
    mov %gs:APP + 15 * 8, %r15
    mov %gs:APP + 0 * 8, %rax
    push %gs:APP_FLAGS
    popf
    mov %gs:APP + 4 * 8, %rsp
ENTRY tr_jump_to_target
    jmp *%gs:TARGET

/* tr_escape(thread): goes to the program's code itself at app.pc, which is expected to fault there. */
ENTRY tr_escape
    mov %gs:STACK, %rsp
    mov %gs:APP + 17 * 8, %rax
    mov %rax, %gs:TARGET
    mov %gs:APP + 11 * 8, %r11
    jmp .Lrestore_rest

/* An exit that is not linked: hot.exit names it. */
ENTRY tr_leave_direct
    SAVE
    call tr_dispatch_direct
    jmp tr_restore

/* An indirect branch whose target the table does not know; rcx and rdx are the program's in memory. */
ENTRY tr_leave_indirect
    mov %rdx, %gs:TARGET
    mov %gs:RDX, %rdx
    mov %gs:RCX, %rcx
    SAVE
    call tr_dispatch_indirect
    jmp tr_restore

/* An indirect branch that runs for the first time: hot.exit names its guard. */
ENTRY tr_leave_first
    mov %rdx, %gs:TARGET
    mov %gs:RDX, %rdx
    mov %gs:RCX, %rcx
    SAVE
    call tr_dispatch_first
    jmp tr_restore

ENTRY tr_leave_syscall
    SAVE
    call tr_dispatch_syscall
    jmp tr_restore

ENTRY tr_leave_run
    SAVE
    call tr_dispatch_run
    jmp tr_restore

ENTRY tr_leave_run_at
    mov %rax, %gs:TARGET
    mov %gs:RAX, %rax
    SAVE
    call tr_dispatch_run
    jmp tr_restore

ENTRY tr_leave_trigger
    mov %rax, %gs:TARGET
    mov %gs:RAX, %rax
    SAVE
    call tr_dispatch_trigger
    jmp tr_restore

/* A head found the log pointer above the limit; flags are dead. Nearly always a time stamp is all that is due. The
 * interval to the next one grows when this one came early, and shrinks when it came late. What comes after it in the
 * ring is cleared a little at a time, in whole cache lines. */
ENTRY tr_leave_check
    mov %rax, %gs:TARGET
    cmpq $0, %gs:LIMIT
    je 1f
    cmp %gs:CHECK_AT, %r11
    ja 1f
    lea STAMP_SIZE(%r11), %rax
    cmp %gs:CLEARED, %rax /* after a loop that did not compare: what it logged, and the stamp, must not be cleared */
    ja 1f
    mov %rdx, %gs:RDX
    rdtsc
    shl $32, %rdx
    or %rdx, %rax
    mov %rax, %rdx
    sub %gs:STAMPED, %rdx
    mov %rax, %gs:STAMPED
    mov %rdx, %gs:ELAPSED
    mov %gs:CLOCK, %rdx
    mov (%rdx), %rdx
    test %rdx, %rdx
    js 5f /* the clock stands still */
    sub %rdx, %rax
    /* Between the two readings this thread may have lost its processor, and the clock may have stood. */
    cmp %gs:LAST_TIME, %rax
    cmovb %gs:LAST_TIME, %rax
    mov %rax, %gs:LAST_TIME
    mov %eax, 4(%r11) /* in halves: the program may have unaligned accesses checked */
    shr $32, %rax
    mov %eax, 8(%r11)
    movl $STAMP_WORD, (%r11)
    add $STAMP_SIZE, %r11
    mov %gs:STAMP_INTERVAL, %rax
    mov %gs:ELAPSED, %rdx
    cmp %gs:STAMP_TICKS, %rdx
    jb 6f
    shr $2, %rdx
    cmp %gs:STAMP_TICKS, %rdx
    jae 7f
    mov %rax, %rdx /* late: less by a quarter */
    shr $2, %rdx
    sub %rdx, %rax
    jmp 8f
6:  add $TR_INTERVAL_STEP, %rax /* early */
    mov $TR_LARGEST_INTERVAL, %edx
    cmp %rdx, %rax
    cmova %rdx, %rax
    jmp 8f
7:  shr $2, %rax /* very late: to a quarter */
8:  mov %rax, %gs:STAMP_INTERVAL
    add %r11, %rax
    mov %rax, %gs:LIMIT
    lea TR_CLEARED_AHEAD(%r11), %rax
    mov %gs:CLEARED, %rdx
    jmp 4f
3:  movq $0, (%rdx)
    movq $0, 8(%rdx)
    movq $0, 16(%rdx)
    movq $0, 24(%rdx)
    movq $0, 32(%rdx)
    movq $0, 40(%rdx)
    movq $0, 48(%rdx)
    movq $0, 56(%rdx)
    add $64, %rdx
4:  cmp %rax, %rdx
    jb 3b
    mov %rdx, %gs:CLEARED
    mov %gs:RDX, %rdx
    /* A signal may have set the limit to 0 since it was looked at. */
    cmpq $0, %gs:RUN
    jne 2f
    movq $0, %gs:LIMIT
2:  mov %gs:RAX, %rax
    jmp *%gs:TARGET
5:  mov %gs:RDX, %rdx
1:  mov %gs:RAX, %rax
    SAVE
    call tr_dispatch_check
    jmp tr_restore

/* The stack pointer was loaded; r11 is the log pointer. Where it points to another page than before, another stack may run:
 * the next head stamps the time, because what this stack has left for other threads they may take from then on, and what
 * follows was left by others before. If that page is not among those seen, the next head leaves the cache, to report it
 * (stack_switches.h). So it does where a part of the stack was unwound, for it is not known which calls that has ended.
 * Flags are kept; nothing is pushed on the program's stack. */
ENTRY tr_stack_loaded
    mov %rax, %gs:TARGET
    lahf
    seto %al
    mov %rcx, %gs:RCX
    mov %rsp, %rcx
    sub %gs:STACK_BEFORE, %rcx
    sub $(PUSHED + 1), %rcx
    cmp $UNWOUND, %rcx
    jb 5f
6:  mov %gs:STACK_BEFORE, %rcx
    xor %rsp, %rcx
    shr $PAGE_SHIFT, %rcx
    je 1f
    cmpq $0, %gs:WATCHES_STACKS
    jne 7f
8:  cmpq $0, %gs:LIMIT
    je 2f /* it leaves the cache anyway */
    mov %gs:STAMP_INTERVAL, %rcx /* this stamp says nothing of the thread's pace */
    sub $TR_INTERVAL_STEP, %rcx
    cmp $TR_INTERVAL_STEP, %rcx
    jb 4f
    mov %rcx, %gs:STAMP_INTERVAL
4:  movq $1, %gs:LIMIT
    /* A signal may have set it to 0 in between. */
    cmpq $0, %gs:RUN
    jne 2f
    movq $0, %gs:LIMIT
2:  cmpq $0, %gs:REPORTS_SWITCHES
    je 1f
    mov %rsp, %rcx
    shr $PAGE_SHIFT, %rcx
    mov %rdx, %gs:RDX
    imul $PAGE_HASH, %ecx, %edx
    shr $PAGE_HASH_SHIFT, %edx
    cmp %ecx, %gs:SEEN_PAGES(, %rdx, 4)
    je 3f
    mov %ecx, %gs:SEEN_PAGES(, %rdx, 4)
    mov %r11, %gs:SWITCHED_AT
    movq $0, %gs:LIMIT
3:  mov %gs:RDX, %rdx
1:  mov %gs:RCX, %rcx
    add $0x7f, %al
    sahf
    mov %gs:RAX, %rax
    jmp *%gs:TARGET

5:  cmpq $0, %gs:REPORTS_SWITCHES
    je 6b
    mov %r11, %gs:SWITCHED_AT
    movq $0, %gs:LIMIT
    jmp 6b

    /* The stacks may share memory (shared_stacks.h). */
7:  mov %gs:RCX, %rcx
    add $0x7f, %al
    sahf
    mov %gs:RAX, %rax
    SAVE
    call tr_dispatch_changed
    jmp tr_restore

/* tr_dispatch_changed goes on here, with rax as for tr_stack_loaded. */
ENTRY tr_stack_changed
    mov %rax, %gs:TARGET
    lahf
    seto %al
    mov %rcx, %gs:RCX
    jmp 8b

/* As tr_stack_loaded, where calls of selected functions alone are recorded: which stack runs is always looked at (selected_calls.h). */
ENTRY tr_stack_loaded_selected
    mov %rax, %gs:TARGET
    mov %gs:RAX, %rax
    SAVE
    call tr_dispatch_loaded
    jmp tr_restore

/* A register was added to the stack pointer: another stack may be copied to where that points (copied_stacks.h). */
ENTRY tr_stack_copied
    mov %rax, %gs:TARGET
    mov %gs:RAX, %rax
    SAVE
    call tr_dispatch_copied
    jmp tr_restore

/* tr_enter(thread) */
ENTRY tr_enter
    mov 0x88(%rdi), %rsp
    call tr_dispatch_enter
    jmp tr_restore

/* The master handler has changed its context so that this runs after it: the program's state is in tr_thread.app. */
ENTRY tr_resume_from_handler
    mov %gs:SELF, %rdi
    mov %gs:STACK, %rsp
    cld
    call tr_dispatch_resume
    jmp tr_restore

/* Where the recorder starts the runtime, at the program's first instruction; all registers but rsp are free
 * (execve sets them to 0). */
ENTRY tr_start
    lea tr_start_info(%rip), %rdi
    mov %rsp, %rsi
    lea tr_first_stack_end(%rip), %rsp
    call tr_begin
    ud2

    .data
    .globl tr_start_info
    .hidden tr_start_info
    .align 64
tr_start_info:
    .zero 128

    .bss
    .globl tr_first_stack_end
    .hidden tr_first_stack_end
    .align 64
    .zero 16384
tr_first_stack_end:

    .section .note.GNU-stack,"",@progbits
