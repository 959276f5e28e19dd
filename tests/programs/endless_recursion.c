/* Recursions that end only with the stack: without a branch that a processor's trace has a packet for.
 *
 *     endless_recursion        prints how often each function was called
 */
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>

enum { STACK = 128 << 10, OWN = 16 << 10 };

static volatile long self_calls, even_calls, odd_calls;
static sigjmp_buf before;

static void overflowed(int number)
{
    siglongjmp(before, number);
}

int self(int depth)
{
    self_calls++;
    return self(depth + 1) + 1;
}

int odd(int depth);

int even(int depth)
{
    even_calls++;
    return odd(depth + 1) + 1;
}

int odd(int depth)
{
    odd_calls++;
    return even(depth + 1) + 1;
}

static void run(int (*function)(int))
{
    if (sigsetjmp(before, 1) == 0)
        function(0);
}

int main(void)
{
    static char handler_stack[OWN];
    stack_t stack = {.ss_sp = handler_stack, .ss_size = sizeof handler_stack};
    struct rlimit limit = {STACK, STACK};
    struct sigaction action = {.sa_handler = overflowed, .sa_flags = SA_ONSTACK};
    setrlimit(RLIMIT_STACK, &limit);
    sigaltstack(&stack, NULL);
    sigaction(SIGSEGV, &action, NULL);
    run(self);
    run(even);
    run(self);
    printf("self was called %ld times\neven was called %ld times\nodd was called %ld times\n",
           self_calls, even_calls, odd_calls);
    return 0;
}
