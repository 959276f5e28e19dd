/* Instructions that are hard on a tracer: across a page boundary, repeated, calls to the next
 * instruction, a block of a thousand instructions without a branch. */
#include <stdio.h>
#include <string.h>

static unsigned long across_calls;

static char source[10000], destination[10000];

/* The call's five bytes lie on two pages: two before the boundary, three after it. */
__asm__(".text\n"
        ".balign 4096\n"
        ".skip 4092, 0x90\n"
        ".globl across_pages\n"
        ".type across_pages, @function\n"
        "across_pages:\n"
        "    push %rbx\n"
        "    nop\n"
        "    call leaf\n"
        "    pop %rbx\n"
        "    ret\n"
        ".size across_pages, . - across_pages\n"
        ".globl leaf\n"
        ".type leaf, @function\n"
        "leaf:\n"
        "    mov %edi, %eax\n"
        "    add $1, %eax\n"
        "    ret\n"
        ".size leaf, . - leaf\n"
        ".globl next_instruction\n"
        ".type next_instruction, @function\n"
        "next_instruction:\n"
        "    call 1f\n"
        "1:  pop %rax\n"
        "    ret\n"
        ".size next_instruction, . - next_instruction\n"
        ".globl long_block\n"
        ".type long_block, @function\n"
        "long_block:\n"
        "    xor %eax, %eax\n"
        "    .rept 1000\n"
        "    add %edi, %eax\n"
        "    .endr\n"
        "    ret\n"
        ".size long_block, . - long_block\n");

int across_pages(int);
int leaf(int);
void *next_instruction(void);
int long_block(int);

static void copy(char *to, const char *from, size_t count)
{
    __asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(count) : : "memory");
}

int main(void)
{
    memset(source, 'x', sizeof source);
    int sum = 0;
    for (int i = 0; i < 50; i++) {
        across_calls++;
        sum += across_pages(i);
        sum += next_instruction() != NULL;
        sum += long_block(i);
    }
    for (size_t i = 0; i < 20; i++)
        copy(destination, source, i * 100);
    printf("sum %d, %c\n", sum, destination[1800]);
    printf("COUNT across_pages %lu\nCOUNT leaf %lu\n", across_calls, across_calls);
    printf("COUNT next_instruction 50\nCOUNT long_block 50\nCOUNT copy 20\n");
    return 0;
}
