/* What the programs of signal_test.c consist of where C cannot say it: system calls, instructions that fault with known
 * registers, a handler that notes what it began with. Section program_text is program code to the runtime, cache_text
 * its code cache.
 *
 * Each place where the translator would come between jumps through a variable: to the instruction itself in a native
 * run, to the stand-in of the runtime in a translated one. The jump changes no flags. */

#define RUN 0x10
#define R11 0x18
#define LOG 0x20
#define TARGET 0x48
#define STACK 0x88
#define APP 0x520

    .macro function name
    .globl \name
    .type \name, @function
    .balign 16
\name:
    .endm

    .macro variable name, value
    .globl \name
    .balign 8
\name:
    .quad \value
    .endm

    .data
variable program_syscall_entry, program_syscall_instruction
variable program_sigreturn_entry, program_sigreturn_instruction
variable program_touch_entry, program_touch_instruction
variable program_write_entry, program_write_instruction
variable program_divide_entry, program_divide_instruction
variable program_undefined_entry, program_undefined_instruction
variable program_halt_entry, program_halt_instruction
variable program_wait_entry, program_wait_begin

    .section program_text, "ax", @progbits

/* int64_t program_syscall(int64_t number, six arguments) */
function program_syscall
    mov %rdi, %rax
    mov %rsi, %rdi
    mov %rdx, %rsi
    mov %rcx, %rdx
    mov %r8, %r10
    mov %r9, %r8
    mov 8(%rsp), %r9
    jmp *program_syscall_entry(%rip)
    .globl program_syscall_instruction
program_syscall_instruction:
    syscall
    ret

function program_sigreturn_at
    mov %rdi, %rsp
function program_restorer
    mov $15, %eax
    jmp *program_sigreturn_entry(%rip)
    .globl program_sigreturn_instruction
program_sigreturn_instruction:
    syscall
    hlt

/* All registers have known values at the instruction; rdi, rsi are the arguments. The value of rax afterwards is
 * returned. */
    .macro faulting name, section, code:vararg
    .section program_text
function program_\name
    push %rbx
    push %rbp
    push %r12
    push %r13
    push %r14
    push %r15
    mov $0x7f001010, %eax
    mov $0, %ebx
    mov $0x7f001212, %ecx
    mov $0x7f001313, %edx
    mov $0x7f001414, %ebp
    mov $0x7f001515, %r8d
    mov $0x7f001616, %r9d
    mov $0x7f001717, %r10d
    mov $0x7f001818, %r11d
    mov $0x7f001919, %r12d
    mov $0x7f001a1a, %r13d
    mov $0x7f001b1b, %r14d
    mov $0x7f001c1c, %r15d
    xor $0, %ebx
    std
    jmp *program_\name\()_entry(%rip)
    .section \section, "ax", @progbits
    .globl program_\name\()_instruction, program_\name\()_after
program_\name\()_instruction:
    \code
program_\name\()_after:
    cld
    pop %r15
    pop %r14
    pop %r13
    pop %r12
    pop %rbp
    pop %rbx
    ret
    .endm

    faulting touch, cache_text, mov (%rdi), %rax
    faulting write, cache_text, mov %rsi, (%rdi)
    faulting divide, cache_text, div %ebx
    faulting undefined, cache_text, ud2
    faulting halt, program_text, int3

/* program_wait(volatile int *flag): until *flag is not 0. In the cache it looks whether to leave, as fragments do. */
    .section program_text
function program_wait
    jmp *program_wait_entry(%rip)
    .globl program_wait_begin
program_wait_begin:
    cmpl $0, (%rdi)
    pause
    je program_wait_begin
    ret

    .section cache_text
    .globl cache_wait_begin
cache_wait_begin:
    cmpq $0, %gs:RUN
    je stand_in_leave_wait
    cmpl $0, (%rdi)
    je cache_wait_begin
    ret

/* Notes the registers and the extended state that it began with in program_noted (struct noted), and calls
 * program_handle(signal, info, context, frame). */
    .section program_text
function program_handler
    push %r15
    push %r14
    lea program_noted(%rip), %r15
    pop 14 * 8(%r15)
    pop 15 * 8(%r15)
    mov %rax, 0 * 8(%r15)
    mov %rcx, 1 * 8(%r15)
    mov %rdx, 2 * 8(%r15)
    mov %rbx, 3 * 8(%r15)
    mov %rsp, 4 * 8(%r15)
    mov %rbp, 5 * 8(%r15)
    mov %rsi, 6 * 8(%r15)
    mov %rdi, 7 * 8(%r15)
    mov %r8, 8 * 8(%r15)
    mov %r9, 9 * 8(%r15)
    mov %r10, 10 * 8(%r15)
    mov %r11, 11 * 8(%r15)
    mov %r12, 12 * 8(%r15)
    mov %r13, 13 * 8(%r15)
    pushf
    pop 16 * 8(%r15)
    mov %rsp, %rcx
    lea program_noted_state(%rip), %rbx
    mov $-1, %eax
    mov %rdx, %r12
    mov $-1, %edx
    xsave64 (%rbx)
    mov %r12, %rdx
    mov $0x1234, %ebx
    movq %rbx, %xmm7 /* the handler's own use of it is not to survive */
    jmp program_handle

    .bss
    .globl program_noted, program_noted_state
    .balign 64
program_noted_state:
    .zero 16384
program_noted:
    .zero 17 * 8

/* ---- the stand-in of enter.S ---- */

    .text

    .macro SAVE
    mov %rsp, %gs:APP + 4 * 8
    mov %gs:STACK, %rsp
    pushf
    pop %gs:APP + 16 * 8
    cld
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
    mov %r11, %gs:APP + 11 * 8
    mov %r12, %gs:APP + 12 * 8
    mov %r13, %gs:APP + 13 * 8
    mov %r14, %gs:APP + 14 * 8
    mov %r15, %gs:APP + 15 * 8
    mov %gs:0, %rdi
    .endm

    .macro leave_at name, place
function \name
    SAVE
    lea \place(%rip), %rax
    mov %rax, %gs:APP + 17 * 8
    call stand_in_go_on
    .endm

    leave_at stand_in_syscall, program_syscall_instruction
    leave_at stand_in_sigreturn, program_sigreturn_instruction

/* Out of the cache: r11 is the log pointer. */
function stand_in_leave_wait
    mov %r11, %gs:LOG
    mov %gs:R11, %r11
    SAVE
    lea cache_wait_begin(%rip), %rax
    mov %rax, %gs:APP + 17 * 8
    call stand_in_go_on

/* Into the cache. */
    .macro enter_at name, place
function \name
    mov %r11, %gs:R11
    mov %gs:LOG, %r11
    jmp \place
    .endm

    enter_at stand_in_wait, cache_wait_begin
    enter_at stand_in_touch, program_touch_instruction
    enter_at stand_in_write, program_write_instruction
    enter_at stand_in_divide, program_divide_instruction
    enter_at stand_in_undefined, program_undefined_instruction

/* As tr_escape of enter.S: thread->app is the state before the instruction, which runs where it stands. */
    leave_at stand_in_halt, program_halt_instruction

/* stand_in_restore(thread, in_cache): goes on at thread->app. */
function stand_in_restore
    mov %gs:STACK, %rsp
    mov %gs:APP + 17 * 8, %rax
    mov %rax, %gs:TARGET
    mov %gs:APP + 11 * 8, %r11
    test %esi, %esi
    jz 1f
    mov %r11, %gs:R11
    mov %gs:LOG, %r11
1:  mov %gs:APP + 1 * 8, %rcx
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
    pushq %gs:APP + 16 * 8
    popf
    mov %gs:APP + 4 * 8, %rsp
function tr_jump_to_target
    jmp *%gs:TARGET

function tr_resume_from_handler
    mov %gs:0, %rdi
    mov %gs:STACK, %rsp
    cld
    call stand_in_go_on

/* stand_in_call(stack, function): how a native run begins, all registers 0. */
function stand_in_call
    mov %rdi, %rsp
    mov %rsi, stand_in_target(%rip)
    xor %eax, %eax
    xor %ecx, %ecx
    xor %edx, %edx
    xor %ebx, %ebx
    xor %ebp, %ebp
    xor %esi, %esi
    xor %edi, %edi
    xor %r8d, %r8d
    xor %r9d, %r9d
    xor %r10d, %r10d
    xor %r11d, %r11d
    xor %r12d, %r12d
    xor %r13d, %r13d
    xor %r14d, %r14d
    xor %r15d, %r15d
    jmp *stand_in_target(%rip)

    .local stand_in_target
    .comm stand_in_target, 8

    .section .note.GNU-stack, "", @progbits
