/* For tests that do something while a program runs: it says that it is ready, and goes on when it gets a byte or the end of its
 * input. */
#include <stdio.h>

static void wait_for_byte(void)
{
    puts("ready");
    fflush(stdout);
    getchar();
}
