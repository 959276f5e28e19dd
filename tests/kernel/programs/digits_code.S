/* The code that the program `digits` runs and describes. digits_packets.c knows every block of it: labels that begin
 * with `at_` are where blocks begin and end.
 *
 * play_rounds(struct play *): a loop of system calls. In each turn it calls `one_round`, which calls the functions of a list one
 * after the other, and then writes the packets of that turn: from after the system call before to this system call.
 * Offsets are those of struct play and struct played_round (digits_packets.h).
 */
        .text
        .set    PLAY_REMAINING, 0
        .set    PLAY_NEXT, 8
        .set    PLAY_END, 16
        .set    PLAY_AGAIN, 24
        .set    PLAY_FILE, 32
        .set    PLAY_PACE, 40
        .set    PLAY_STOP, 48
        .set    ROUND_FUNCTIONS, 0
        .set    ROUND_PACKETS, 8
        .set    ROUND_LENGTH, 16
        .set    ROUND_SIZE, 24
        .set    SYSTEM_CALL_WRITE, 1
        .set    SYSTEM_CALL_NANOSLEEP, 35

        .macro  function name
        .globl  \name
        .type   \name, @function
        .p2align 4
\name:
        .endm

        .macro  at name
        .globl  at_\name
        .hidden at_\name
        .type   at_\name, @notype
at_\name:
        .endm

        function play_rounds
        push    %rbx
        push    %rbp
        mov     %rdi, %rbx
        at      next
        mov     PLAY_NEXT(%rbx), %rbp
        mov     ROUND_FUNCTIONS(%rbp), %rdi
        call    one_round
        at      round_done
        mov     PLAY_FILE(%rbx), %rdi
        mov     ROUND_PACKETS(%rbp), %rsi
        mov     ROUND_LENGTH(%rbp), %rdx
        mov     $SYSTEM_CALL_WRITE, %eax
        syscall
        at      written
        mov     PLAY_STOP(%rbx), %rax
        cmpl    $0, (%rax)
        jne     at_over
        at      not_stopped
        decq    PLAY_REMAINING(%rbx)
        je      at_over
        at      advance
        add     $ROUND_SIZE, %rbp
        cmp     PLAY_END(%rbx), %rbp
        cmove   PLAY_AGAIN(%rbx), %rbp
        mov     %rbp, PLAY_NEXT(%rbx)
        mov     PLAY_PACE(%rbx), %rdi
        test    %rdi, %rdi
        je      at_next
        at      pace
        xor     %esi, %esi
        mov     $SYSTEM_CALL_NANOSLEEP, %eax
        syscall
        at      paced
        jmp     at_next
        at      over
        pop     %rbp
        pop     %rbx
        ret
        .size   play_rounds, . - play_rounds

        function one_round
        push    %rbx
        mov     %rdi, %rbx
        at      function
        mov     (%rbx), %rax
        test    %rax, %rax
        je      at_no_more
        at      call_function
        call    *%rax
        at      function_done
        add     $8, %rbx
        jmp     at_function
        at      no_more
        pop     %rbx
        ret
        at      round_end
        .size   one_round, . - one_round

        /* digit_N goes N + 1 times around its loop. */
        .macro  digit n
        function digit_\n
        mov     $(\n + 1), %ecx
        at      loop_\n
        dec     %ecx
        jne     at_loop_\n
        at      loop_end_\n
        ret
        at      digit_end_\n
        .size   digit_\n, . - digit_\n
        .endm

        digit   0
        digit   1
        digit   2
        digit   3
        digit   4
        digit   5
        digit   6
        digit   7
        digit   8
        digit   9

        /* In some rounds: places to set breakpoints at. */
        .macro  mark name
        function \name
        nop
        ret
        at      \name\()_end
        .size   \name, . - \name
        .endm

        mark    hundred
        mark    fifty

        .section .note.GNU-stack, "", @progbits
