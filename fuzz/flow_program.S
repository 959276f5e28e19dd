/* The program that flow_fuzz's packets belong to: an executable without a C library, at fixed addresses, so that packets
 * that were recorded of it (fuzz/make_seeds) decode against it wherever it is built.
 *
 * `_start` runs what the seeds show; its argc says how many rounds. What follows `never_run` is there for packets
 * that lead to it: code without packets that never ends, code that cannot be decoded, code cut off at the end of memory.
 */
    .macro function name
    .type \name, @function
\name:
    .endm

    .macro end_function name
    .size \name, . - \name
    .endm

    .text
    .globl _start
text_begin:

function _start
    mov (%rsp), %ebx
    shl $3, %ebx
    mov $88172645463325252, %r12
1:  call next_random
    test $1, %r12b
    jz 2f
    call leaf
2:  test $2, %r12b
    jz 3f
    mov %r12, %rdi
    shr $60, %rdi
    call recursive
3:  mov %r12, %rax
    shr $13, %rax
    and $3, %eax
    call *functions(, %rax, 8)
    test $4, %r12b
    jz 4f
    call switch_stack
4:  mov $39, %eax /* getpid */
    syscall
    call copies
    dec %ebx
    jnz 1b
    jmp ends
end_function _start

function next_random
    mov %r12, %rax
    shl $13, %rax
    xor %rax, %r12
    mov %r12, %rax
    shr $7, %rax
    xor %rax, %r12
    mov %r12, %rax
    shl $17, %rax
    xor %rax, %r12
    ret
end_function next_random

function leaf
    nop
    ret
end_function leaf

function recursive
    test %rdi, %rdi
    jz 1f
    dec %rdi
    call recursive
1:  ret
end_function recursive

function tail
    jmp leaf
end_function tail

function switches
    mov %r12, %rax
    shr $21, %rax
    and $3, %eax
    jmp *cases(, %rax, 8)
case_0:
    nop
case_1:
    nop
    ret
case_2:
    call 1f /* reads its own address */
1:  pop %rdx
case_3:
    ret
end_function switches

function loops
    mov %r12, %rcx
    and $15, %ecx
    jrcxz 2f
1:  loop 1b
2:  ret
end_function loops

/* Goes on in another stack and comes back, as fibers do. */
function switch_stack
    mov %rsp, %r8
    lea stack_end(%rip), %rsp
    lea 1f(%rip), %rdx
    jmp *%rdx
1:  call leaf
    mov %r8, %rsp
    ret
end_function switch_stack

function copies
    lea stack_end-64(%rip), %rsi
    lea stack_end-128(%rip), %rdi
    mov $5, %ecx
    rep movsb
    ret
end_function copies

function ends
    mov $60, %eax /* exit */
    xor %edi, %edi
    syscall
    hlt
end_function ends

function never_run
    jmp never_run
end_function never_run

function jumps_around
1:  jmp 2f
    nop
2:  nop
    jmp 1b
end_function jumps_around

function calls_for_ever
    call calls_for_ever
end_function calls_for_ever

function two_calls_for_ever
    call other_of_two
    ret
end_function two_calls_for_ever
function other_of_two
    nop
    jmp two_calls_for_ever
end_function other_of_two

function bits_for_ever
    jz bits_for_ever
    jmp bits_for_ever
end_function bits_for_ever

function transactions
    xbegin 1f
    nop
    xabort $1
    xend
1:  ret
end_function transactions

function kernel_and_back
    swapgs
    mov %rax, %cr3
    sysretq
    sysretl
    iretq
    int $0x80
    int3
    sysenter
    sysexitl
    vmcall
    vmlaunch
end_function kernel_and_back

function far_away
    lcall *(%rax)
    ljmp *(%rax)
    lretl
end_function far_away

function writes_packets
    .byte 0xf3, 0x48, 0x0f, 0xae, 0xe0 /* ptwrite %rax, which old assemblers lack */
    jmp writes_packets
end_function writes_packets

function prefixed
    .byte 0xf3, 0xc3 /* repz ret */
    .byte 0xf2, 0xff, 0xe0 /* bnd jmp *%rax */
    .byte 0x3e, 0xff, 0xe0 /* notrack jmp *%rax */
    .byte 0x66, 0x48, 0x8d, 0x7f, 0
    .byte 0x66, 0x48, 0xe8, 0, 0, 0, 0 /* data16 rex.w call, to the next instruction */
end_function prefixed

/* OCaml code, by its name and by what it does. */
function caml_start_program
    lea 1f(%rip), %r11
    push %r11
    push 0x10(%r14)
    mov %rsp, 0x10(%r14)
    call *%rax
    pop 0x10(%r14)
    add $8, %rsp
    ret
1:  mov 0x10(%r14), %rsp
    pop 0x10(%r14)
    pop %r11
    jmp *%r11
end_function caml_start_program

function undecodable
    .byte 0x06, 0xff, 0xff, 0x0f, 0x04, 0xc5
end_function undecodable

function falls_into_the_next
    nop
end_function falls_into_the_next

function no_branches
    .fill 600, 1, 0x90
end_function no_branches

/* The second page of code is all of the mapping: its last instruction is cut off. */
    .org text_begin + 0x1fec
function cut_off
    .fill 12, 1, 0x90
    jz no_branches
    .byte 0xe8, 0x00
end_function cut_off

    .section .rodata
    .balign 8
functions:
    .quad leaf, tail, switches, loops
cases:
    .quad case_0, case_1, case_2, case_3

    .bss
    .balign 16
    .skip 4096
stack_end:
    .section .note.GNU-stack, "", @progbits
