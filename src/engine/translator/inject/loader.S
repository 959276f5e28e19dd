/* See loader.h. Registers: rbx the parameters, r12 descriptor, r13 arena, r14 image, r15 where to go on. */
#include "engine/translator/inject/loader.h"

#define SYS_CLOSE 3
#define SYS_MMAP 9
#define SYS_MPROTECT 10
#define SYS_MUNMAP 11
#define SYS_OPENAT 257
#define AT_FDCWD -100
#define O_RDWR_CLOEXEC 0x80002
#define PROT_READ_WRITE 3
#define PROT_READ_WRITE_EXEC 7
#define MAP_SHARED_NORESERVE 0x4001
#define MAP_PRIVATE_ANONYMOUS 0x22
#define MAX_ERRNO 4095
#define INITIAL_FLAGS 0x202

    .section .rodata
    .globl loader_code, loader_code_end
    .hidden loader_code, loader_code_end
    .type loader_code, @object
loader_code:
    xorl %r13d, %r13d
    xorl %r14d, %r14d
    movl LOADER_ARENA_FILE(%rbx), %eax
    testl %eax, %eax
    jns opened
    movl $SYS_OPENAT, %eax
    movl $AT_FDCWD, %edi
    leaq LOADER_PATH(%rbx), %rsi
    movl $O_RDWR_CLOEXEC, %edx
    syscall
    testl %eax, %eax
    js native
opened:
    movl %eax, %r12d

    movl $SYS_MMAP, %eax
    movq LOADER_ARENA_HINT(%rbx), %rdi
    movq LOADER_ARENA_SIZE(%rbx), %rsi
    xorl %edx, %edx
    movl $MAP_SHARED_NORESERVE, %r10d
    movl %r12d, %r8d
    xorl %r9d, %r9d
    syscall
    cmpq $-MAX_ERRNO, %rax
    jae fail
    movq %rax, %r13

    movl $SYS_MMAP, %eax
    movq LOADER_IMAGE_HINT(%rbx), %rdi
    movq LOADER_MEMORY_SIZE(%rbx), %rsi
    movl $PROT_READ_WRITE_EXEC, %edx
    movl $MAP_PRIVATE_ANONYMOUS, %r10d
    movl $-1, %r8d
    syscall
    cmpq $-MAX_ERRNO, %rax
    jae fail
    movq %rax, %r14

    movl $SYS_MPROTECT, %eax
    movq %r13, %rdi
    movq LOADER_OPEN_SIZE(%rbx), %rsi
    movl $PROT_READ_WRITE, %edx
    syscall
    testl %eax, %eax
    js fail

    movl $SYS_CLOSE, %eax
    movl %r12d, %edi
    syscall

    leaq LOADER_IMAGE_OFFSET(%r13), %rsi
    movq %r14, %rdi
    movq LOADER_FILE_SIZE(%rbx), %rcx
    rep movsb
    movq %r14, LOADER_START+TR_START_IMAGE(%rbx)
    movq %r13, LOADER_START+TR_START_ARENA(%rbx)
    leaq LOADER_START(%rbx), %rsi
    movq LOADER_START_INFO(%rbx), %rdi
    addq %r14, %rdi
    movl $LOADER_START_SIZE, %ecx
    rep movsb
    movq LOADER_ENTRY(%rbx), %r15
    addq %r14, %r15
    jmp leave

fail:
    testq %r14, %r14
    jz 1f
    movl $SYS_MUNMAP, %eax
    movq %r14, %rdi
    movq LOADER_MEMORY_SIZE(%rbx), %rsi
    syscall
1:  testq %r13, %r13
    jz 2f
    movl $SYS_MUNMAP, %eax
    movq %r13, %rdi
    movq LOADER_ARENA_SIZE(%rbx), %rsi
    syscall
2:  movl $SYS_CLOSE, %eax
    movl %r12d, %edi
    syscall
native:
    movq LOADER_START+TR_START_PC(%rbx), %r15

leave:
    movq %rbx, %rdi
    movq LOADER_SIZE(%rbx), %rcx
    xorl %eax, %eax
    rep stosb
    xorl %ebx, %ebx
    xorl %ecx, %ecx
    xorl %edx, %edx
    xorl %esi, %esi
    xorl %edi, %edi
    xorl %ebp, %ebp
    xorl %r8d, %r8d
    xorl %r9d, %r9d
    xorl %r10d, %r10d
    xorl %r11d, %r11d
    xorl %r12d, %r12d
    xorl %r13d, %r13d
    xorl %r14d, %r14d
    pushq $INITIAL_FLAGS
    popfq
    movq %r15, -8(%rsp)
    movl $0, %r15d
    jmp *-8(%rsp)
loader_code_end:
    .size loader_code, . - loader_code

    .section .note.GNU-stack, "", @progbits
