/* setjmp-protected calls as interpreters make them: one function calls setjmp for all, errors go to
 * the innermost, which cleans up and passes some of them on to the next one. */
/* truth: -O0 -g; -O2; -O2 -static; strip -O2; compiler=clang -O2 */
#include <setjmp.h>
#include <stdio.h>

struct protection {
    jmp_buf target;
    struct protection *outer;
};

static struct protection *volatile innermost;
static volatile int cleaned, caught;

__attribute__((noinline)) static int work(int depth)
{
    volatile int here = depth;
    return depth == 0 ? 0 : work(depth - 1) + (here == depth);
}

__attribute__((noinline, noreturn)) static void fail(int code)
{
    longjmp(innermost->target, code);
}

typedef int action(int depth, int code);

__attribute__((noinline)) static int protect(action *body, int depth, int code)
{
    struct protection here = {.outer = innermost};
    volatile int result = 0;
    innermost = &here;
    int error = setjmp(here.target);
    if (error == 0)
        result = body(depth, code);
    innermost = here.outer;
    if (error == 0)
        return result;
    cleaned += work(3) == 3;
    if (error > 1)
        fail(error - 1);
    caught++;
    return depth;
}

__attribute__((noinline)) static int run(int depth, int code)
{
    volatile int here = depth;
    if (depth == 0)
        fail(code);
    if (depth % 3 == 0)
        return protect(run, depth - 1, code) + (here == depth);
    return run(depth - 1, code) + (here == depth);
}

int main(void)
{
    int sum = 0;
    for (int i = 0; i < 40; i++)
        sum += protect(run, 30, i % 10 + 1);
    printf("sum %d caught %d cleaned %d\n", sum, caught, cleaned);
    /* An error of code n is caught by the n-th protection from within, of run at depth 3n - 1, and
     * 31 - 3n levels of run return. */
    return sum == 40 * 30 && caught == 40 && cleaned == 4 * 55 ? 0 : 1;
}
