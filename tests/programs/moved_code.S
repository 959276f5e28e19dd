/* A function with an inlined one in its loop, and debug information by hand: as gcc 14 does, an instruction of the
 * inlined function lies before the loop, followed by padding, and no statement begins there. Runs the loop 20 times. */
    .file "moved_code.S"
    .text
    .file 1 "moved_code.c"
    .globl main
    .type main, @function
main:
    .loc 1 10 0 is_stmt 1
    mov $20, %ecx
    xor %eax, %eax
    .loc 1 3 0 is_stmt 0
.Lmoved:
    mov $7, %esi
    .nops 20
.Lmoved_end:
    .loc 1 11 0 is_stmt 1
.Lloop:
    test %ecx, %ecx
    je .Lend
    dec %ecx
    .nops 20
    .loc 1 2 0 is_stmt 1
.Ldigits:
    mov %ecx, %edx
.Lnext:
    add %esi, %eax
    shr $1, %edx
    jne .Lnext
    .nops 20
.Ldigits_end:
    .loc 1 11 0 is_stmt 1
    jmp .Lloop
.Lend:
    .loc 1 12 0 is_stmt 1
    xor %eax, %eax
    ret
.Lmain_end:
    .size main, . - main

    .section .debug_ranges, "", @progbits
.Lranges:
    .quad .Lmoved - main, .Lmoved_end - main, .Ldigits - main, .Ldigits_end - main, 0, 0

    .section .debug_abbrev, "", @progbits
.Labbreviations:
    .uleb128 1, 0x11 /* DW_TAG_compile_unit */
    .byte 1
    .uleb128 0x03, 0x08, 0x10, 0x17, 0x11, 0x01, 0x12, 0x07, 0, 0 /* name, stmt_list, low_pc, high_pc */
    .uleb128 2, 0x2e /* DW_TAG_subprogram, abstract */
    .byte 0
    .uleb128 0x03, 0x08, 0x20, 0x0b, 0, 0 /* name, inline */
    .uleb128 3, 0x2e /* DW_TAG_subprogram */
    .byte 1
    .uleb128 0x03, 0x08, 0x11, 0x01, 0x12, 0x07, 0, 0
    .uleb128 4, 0x1d /* DW_TAG_inlined_subroutine */
    .byte 0
    .uleb128 0x31, 0x13, 0x52, 0x01, 0x55, 0x17, 0x59, 0x0b, 0, 0 /* .Lorigin, entry_pc, .Lranges, call_line */
    .byte 0

    .section .debug_info, "", @progbits
.Lunit:
    .long .Lunit_end - .Lunit_version
.Lunit_version:
    .value 4
    .long .Labbreviations
    .byte 8
    .uleb128 1
    .string "moved_code.c"
    .long .Llines
    .quad main
    .quad .Lmain_end - main
.Lorigin:
    .uleb128 2
    .string "digits"
    .byte 1
    .uleb128 3
    .string "main"
    .quad main
    .quad .Lmain_end - main
    .uleb128 4
    .long .Lorigin - .Lunit
    .quad .Ldigits
    .long .Lranges
    .byte 11
    .byte 0, 0
.Lunit_end:

    .section .debug_line, "", @progbits
.Llines:

    .section .note.GNU-stack, "", @progbits
