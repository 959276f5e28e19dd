/* A Go program made by hand, as far as its table of functions and lines goes. VERSION is the version of Go of the table, in
 * hundredths: 102, 116, 118, 120. What is in it: pclntab_test.c.
 *
 * Source: as src/symbol/go/pclntab.h.
 */
        .section .go.buildinfo, "a", @progbits
        .quad 0
        .text
        .globl _start, handler
        .hidden handler
_start:
        .fill 32, 1, 0x90       /* no code of Go */
text:
handler:
        .fill 48, 1, 0x90
leaf:
        .fill 16, 1, 0x90
end:

#if VERSION == 102
#define MAGIC 0xfffffffb
#elif VERSION == 116
#define MAGIC 0xfffffffa
#elif VERSION == 118
#define MAGIC 0xfffffff0
#else
#define MAGIC 0xfffffff1
#endif

#ifdef __PIC__
        .section .data.rel.ro.gopclntab, "aw", @progbits
#else
        .section .gopclntab, "a", @progbits
#endif
        .balign 32
table:
        .long MAGIC
        .byte 0, 0, 1, 8
        .quad 2
#if VERSION == 102
        .quad handler, handler_record - table, leaf, leaf_record - table, end
        .long files - table
#else
        .quad 2
#if VERSION >= 118
        .quad text
#endif
        .quad names - table, units - table, files - table, values - table, functions - table
functions:
#if VERSION >= 118
        .long 0, handler_record - functions, leaf - text, leaf_record - functions, end - text
#else
        .quad handler, handler_record - functions, leaf, leaf_record - functions, end
#endif
#endif

#if VERSION == 102
#define NAME(name) name - table
#define VALUES(name) name - table
#else
#define NAME(name) name - names
#define VALUES(name) name - values
#endif

        .macro record entry, name, file, line, value_tables
#if VERSION >= 118
        .long \entry - text
#else
        .quad \entry
#endif
        .long NAME(\name), 0, 0, 0, VALUES(\file), VALUES(\line), \value_tables
#if VERSION >= 116
        .long 0                 /* the compilation unit */
#endif
#if VERSION >= 120
        .long 9                 /* the line of its declaration */
#endif
        .endm

        .balign 8
handler_record:
        record handler, handler_name, handler_file, handler_line, 3
        .byte 0, 0, 0, 4
        .long 0, 0, VALUES(handler_inlined)
#if VERSION >= 118
        .long -1, -1, -1, tree - function_data
#else
        .balign 8
        .quad 0, 0, 0, tree
#endif
        .balign 8
leaf_record:
        record leaf, leaf_name, leaf_file, leaf_line, 0
        .byte 0, 0, 0, 0

names:
        .byte 0
handler_name:
        .asciz "main.handler"
leaf_name:
        .asciz "main.Map[...].func1"
middle_name:
        .asciz "main.middle"
small_name:
        .asciz "main.small"

        .balign 4
units:
        .long 0, other_file - files
files:
#if VERSION == 102
        .long 3, main_file - table, other_file - table
#define FIRST_FILE 4
#else
#define FIRST_FILE 2
#endif
main_file:
        .asciz "/src/main.go"
other_file:
        .asciz "/src/other.go"

values:
        .byte 0
handler_file:
        .byte FIRST_FILE, 16, 2, 16, 1, 16, 0
handler_line:
        .byte 22, 16, 20, 16, 17, 16, 0
handler_inlined:
        .byte 0, 16, 2, 8, 2, 8, 3, 16, 0
leaf_file:
        .byte FIRST_FILE, 16, 0
leaf_line:
        .byte 62, 16, 0

        .section .rodata
        .balign 8
function_data:
        .quad 0
tree:
#if VERSION >= 120
        .long 0, NAME(middle_name), 0, 5
        .long 0, NAME(small_name), 16, 6
#else
        .short -1, 0
        .long 0, 10, NAME(middle_name), 0
        .short 0, 0
        .long 1, 20, NAME(small_name), 16
#endif

#if VERSION >= 116
        .data
        .balign 32
        .quad table
        .fill 19, 8, 0
        .quad handler, end      /* minpc, maxpc */
        .quad text, end
#if VERSION >= 120
        .fill 16, 8, 0
#else
        .fill 14, 8, 0
#endif
        .quad function_data
#endif
