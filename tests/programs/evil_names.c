/* The thread's name is an escape sequence of terminals; the test renames the functions evil and formula to
 * such a sequence, and to what a spreadsheet would take for a formula. */
#include <stdio.h>
#include <sys/prctl.h>

__attribute__((noinline)) void evil(void)
{
    __asm__ volatile("");
}

__attribute__((noinline)) void formula(void)
{
    __asm__ volatile("");
}

int main(void)
{
    prctl(PR_SET_NAME, "\033[31mred");
    evil();
    formula();
    printf("COUNT main 1\n");
    return 0;
}
