/* See fault_safe.h. Each instruction that may fault stands between tr_fault_safe_begin and tr_fault_safe_end; none of
 * the functions has anything on the stack then, so that tr_fault_safe_failed can return for all of them. */

    .macro function name
    .globl \name
    .hidden \name
    .type \name, @function
    .balign 16
\name:
    endbr64
    .endm

    .text

/* REP MOVSB takes long to begin: the bytes of instructions are copied by words. */
function tr_copy_safely
    lea -8(%rdx), %rcx
    cmp $8, %rcx
    jbe safe_copy_words
    mov %rdx, %rcx
    jmp safe_copy

function tr_load_safely
    jmp safe_load

function tr_xsave_safely
    mov %esi, %eax
    mov %rsi, %rdx
    shr $32, %rdx
    jmp safe_xsave

function tr_xrstor_safely
    mov %esi, %eax
    mov %rsi, %rdx
    shr $32, %rdx
    jmp safe_xrstor

function tr_fxsave_safely
    jmp safe_fxsave

function tr_fxrstor_safely
    jmp safe_fxrstor

function tr_fault_safe_begin
safe_copy:
    rep movsb
    jmp succeeded
safe_copy_words: /* 8 to 16 bytes */
    mov (%rsi), %rax
    mov (%rsi,%rcx), %r8
    mov %rax, (%rdi)
    mov %r8, (%rdi,%rcx)
    jmp succeeded
safe_load:
    mov (%rsi), %rax
    mov %rax, (%rdi)
    jmp succeeded
safe_xsave:
    xsave64 (%rdi)
    jmp succeeded
safe_xrstor:
    xrstor64 (%rdi)
    jmp succeeded
safe_fxsave:
    fxsave64 (%rdi)
    jmp succeeded
safe_fxrstor:
    fxrstor64 (%rdi)
    jmp succeeded
function tr_fault_safe_end

succeeded:
    mov $1, %eax
    ret

function tr_fault_safe_failed
    xor %eax, %eax
    ret

/* bool tr_is_fault_safe(uint64_t pc) */
function tr_is_fault_safe
    lea tr_fault_safe_begin(%rip), %rax
    lea tr_fault_safe_end(%rip), %rcx
    cmp %rax, %rdi
    setae %al
    cmp %rcx, %rdi
    setb %cl
    and %cl, %al
    movzbl %al, %eax
    ret

    .section .note.GNU-stack, "", @progbits
