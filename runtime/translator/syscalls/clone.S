/* Making threads and ending them: where the calling thread's stack cannot be used.
 *
 * A new thread begins with the registers of the one that made it, but on a stack of its own, and calls
 * tr_child_begin(thread) (processes.c). */
        .text
        .globl  tr_clone_raw, tr_clone3_raw, tr_exit_raw
        .hidden tr_clone_raw, tr_clone3_raw, tr_exit_raw, tr_child_begin
        .type   tr_clone_raw, @function
        .type   tr_clone3_raw, @function
        .type   tr_exit_raw, @function

/* int64_t tr_clone_raw(uint64_t flags, uint64_t stack, uint64_t parent_tid, uint64_t child_tid, uint64_t tls,
 *                      struct tr_thread *child) */
tr_clone_raw:
        push    %rbx
        mov     %r9, %rbx
        mov     %rcx, %r10
        mov     $56, %eax
        syscall
        test    %rax, %rax
        jz      child
        pop     %rbx
        ret
        .size   tr_clone_raw, . - tr_clone_raw

/* int64_t tr_clone3_raw(struct clone_args *arguments, size_t size, struct tr_thread *child) */
tr_clone3_raw:
        push    %rbx
        mov     %rdx, %rbx
        mov     $435, %eax
        syscall
        test    %rax, %rax
        jz      child
        pop     %rbx
        ret
        .size   tr_clone3_raw, . - tr_clone3_raw

child:
        xor     %ebp, %ebp
        mov     %rbx, %rdi
        call    tr_child_begin
        ud2

/* void tr_exit_raw(int status, uint32_t *state): stores 0, TR_THREAD_FREE, in *state and ends the calling thread.
 * Its memory, the stack too, may be another thread's at once. */
tr_exit_raw:
        movl    $0, (%rsi)
again:  mov     $60, %eax
        syscall
        jmp     again
        .size   tr_exit_raw, . - tr_exit_raw

        .section .note.GNU-stack, "", @progbits
