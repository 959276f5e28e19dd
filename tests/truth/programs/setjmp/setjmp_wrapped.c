/* setjmp reached in other ways than by a call of it: through a wrapper that jumps to it, through a
 * pointer, through an ifunc. Every level of a recursion has its own buffer. */
/* truth: -O0 -g; -O2; -O2 -fno-plt; -O2 -static; strip -O2 */
#include <setjmp.h>
#include <stdio.h>

enum { LEVELS = 20 };

int jump_to_setjmp(jmp_buf) __attribute__((returns_twice));
__asm__(".pushsection .text\n"
        ".type jump_to_setjmp, @function\n"
        "jump_to_setjmp:\n"
        "    jmp _setjmp@PLT\n"
        ".size jump_to_setjmp, . - jump_to_setjmp\n"
        ".popsection\n");

typedef int setjmp_function(jmp_buf);
static setjmp_function *volatile by_pointer = _setjmp;

int chosen_setjmp(jmp_buf) __attribute__((returns_twice));
__attribute__((used)) static setjmp_function *choose_setjmp(void)
{
    return jump_to_setjmp;
}
__asm__(".globl chosen_setjmp\n"
        ".type chosen_setjmp, @gnu_indirect_function\n"
        ".set chosen_setjmp, choose_setjmp\n");

static jmp_buf targets[LEVELS + 1];
static volatile int landed;

__attribute__((noinline)) static int descend(int level, int up)
{
    volatile int here = level, goes_up = up;
    int came;
    if (level == LEVELS)
        longjmp(targets[level - up], 1);
    if (level % 3 == 0)
        came = jump_to_setjmp(targets[level]);
    else if (level % 3 == 1)
        came = by_pointer(targets[level]);
    else
        came = chosen_setjmp(targets[level]);
    if (came != 0) {
        landed++;
        return here;
    }
    return descend(here + 1, goes_up);
}

int main(void)
{
    int sum = 0;
    for (int i = 0; i < 60; i++)
        sum += descend(0, i % LEVELS + 1);
    printf("sum %d landed %d\n", sum, landed);
    return sum == 3 * (LEVELS - 1) * LEVELS / 2 && landed == 60 ? 0 : 1;
}
