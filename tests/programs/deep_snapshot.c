/* Works for so long in its innermost function that a small ring has forgotten how it got there.
 * Prints nothing. */
static volatile unsigned sink;

__attribute__((noinline)) static void step(unsigned i)
{
    if (i % 3)
        sink += i;
}

__attribute__((noinline)) static void work(void)
{
    for (unsigned i = 0; i < 2000000; i++)
        step(i);
}

__attribute__((noinline)) static int dig(int depth)
{
    if (depth == 0)
        work();
    else
        dig(depth - 1);
    return depth + (int)sink; /* no tail call */
}

__attribute__((noinline)) static int serve(void)
{
    return dig(20) != 0;
}

int main(void)
{
    return serve() - 1;
}
