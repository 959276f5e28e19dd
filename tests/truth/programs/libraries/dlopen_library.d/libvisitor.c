/* The library of dlopen_library.c, loaded and unloaded by it. */
static volatile int started;

__attribute__((noinline)) static int work(int depth)
{
    volatile int here = depth;
    return depth == 0 ? 0 : work(depth - 1) + (here == depth);
}

__attribute__((constructor)) static void start(void)
{
    started = work(6);
}

__attribute__((destructor)) static void stop(void)
{
    started -= work(3);
}

int visitor_depth(int depth);
int visitor_depth(int depth)
{
    return work(depth);
}

int visitor_started(int add);
int visitor_started(int add)
{
    return started + add;
}
