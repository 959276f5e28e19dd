/* Copies that may touch memory of the program which is not there: code_pages.h.
 *
 * The master handler continues at tr_probe_fail when a fault's instruction pointer lies in
 * [tr_probe_start, tr_probe_end). */
        .text
        .globl  tr_probe_read, tr_probe_write, tr_probe_start, tr_probe_end, tr_probe_fail
        .hidden tr_probe_read, tr_probe_write, tr_probe_start, tr_probe_end, tr_probe_fail
        .type   tr_probe_read, @function
        .type   tr_probe_write, @function

/* bool tr_probe_read(void *to, uint64_t from, size_t size)
 * bool tr_probe_write(uint64_t to, const void *from, size_t size) */
tr_probe_read:
tr_probe_write:
        mov     %rdx, %rcx
tr_probe_start:
        rep movsb
tr_probe_end:
        mov     $1, %eax
        ret
tr_probe_fail:
        xor     %eax, %eax
        ret
        .size   tr_probe_read, . - tr_probe_read
        .size   tr_probe_write, . - tr_probe_write

        .section .note.GNU-stack, "", @progbits
