/* The program whose made-up execution the flow tests decode: never run, only mapped and read.
 *
 * Places inside functions that tests need to name are objects, so that no symbol table takes them for functions.
 */
    .macro function name
    .globl \name
    .type \name, @function
\name:
    .endm

    .macro end_function name
    .size \name, . - \name
    .endm

    .macro place name
    .globl \name
    .type \name, @object
\name:
    .endm

    .text
    .balign 64
function caller
place caller_call
    call leaf
place caller_after_call
    jz 1f
    nop
1:
place caller_jump
    jmp *%rax
end_function caller

function leaf
    nop
place leaf_return
    ret
end_function leaf

function tail
    call 1f /* reads its own address */
1:
    pop %rdx
place tail_syscall
    syscall
place tail_after_syscall
    ret
end_function tail

function recursive
    jz 1f
place recursive_call
    call recursive
place recursive_after_call
    nop
1:
place recursive_return
    ret
end_function recursive

function falls
    nop
place falls_last
    nop
end_function falls
function fallen_into
place fallen_return
    ret
end_function fallen_into

function spins
    jmp spins
end_function spins

function jumps_away
place jumps_away_jump
    jmp leaf
end_function jumps_away

function half
place half_jump
    jz half.cold
    ret
end_function half

function indirect
place indirect_call
    call *%rax
place indirect_after_call
    ret
end_function indirect

/* OCaml code, by its name and by what it does. */
function caml_start_program
1:  lea traps_handler(%rip), %r11
    push %r11
    push 0x10(%r14)
place traps_push
    mov %rsp, 0x10(%r14)
place traps_call
    call *%rax
place traps_pop
    pop 0x10(%r14)
    add $8, %rsp
place traps_return
    ret
place traps_handler
    mov 0x10(%r14), %rsp
    pop 0x10(%r14)
    pop %r11
place traps_raise
    jmp *%r11
end_function caml_start_program

/* A way to push and pop handlers that only the note below describes. */
function noted
    nop
place noted_push
2:  lea noted_handler(%rip), %r11
    mov %r11, 8(%r13)
place noted_pop
3:  nop
place noted_return
    ret
place noted_handler
    ret
end_function noted

    .section .stapsdt.base, "aG", "progbits", .stapsdt.base, comdat
4:  .space 1

/* As Jane Street's compiler writes it; the base has moved since, and the addresses with it. */
    .equ moved, 0x1000
    .section .note.ocaml_eh, "", "note"
    .balign 4
    .long 6f - 5f, 8f - 7f, 1
5:  .asciz "OCaml"
6:  .balign 4
7:  .quad 4b - moved
    .quad 3b - moved, 0
    .quad 2b - moved, 1b - moved, 0
    .quad 3b - moved, 0
8:  .balign 4

    .text
function stack_loader
    mov %r8, %rsp
place stack_loader_jump
    jmp *%rdx
place stack_loader_target
    ret
end_function stack_loader

/* A jump that needs a packet and is no event, after a call that is one and needs none. */

function calls_chooser
    call chooser
place calls_chooser_after_call
    ret
end_function calls_chooser

function chooser
    jmp *%rax
place chooser_choice
    ret
end_function chooser

function copier
    nop
place copier_add
    add %rax, %rsp
place copier_added
    add %rax, %rbp
place copier_call
    call leaf
place copier_after_call
    jz 1f
    add %rax, %rsp /* for its own frame: no call follows */
1:
place copier_return
    ret
end_function copier

    .balign 64
function handler
    nop
    ret
end_function handler

    .type half.cold, @function
half.cold:
place half_cold_return
    ret
    .size half.cold, . - half.cold

    .balign 4096
function patched /* a page of its own: another program replaces it, see patched.S */
place patched_jump
    jmp *%rax
end_function patched
    .balign 4096, 0x90

    .section .note.GNU-stack, "", @progbits
