/* Loads a library and asks it the same question twice. The second answer is cheaper: the table is
 * built, the functions the library itself calls are bound. The trace shows where the time of the
 * first went. */
#include <dlfcn.h>
#include <stdio.h>

static unsigned ask(unsigned (*next_prime)(unsigned), unsigned after)
{
    return next_prime(after);
}

static void answer(unsigned prime)
{
    printf("the next prime is %u\n", prime);
}

int main(int argc, char **argv)
{
    void *library = argc > 1 ? dlopen(argv[1], RTLD_LAZY) : NULL;
    if (!library) {
        fprintf(stderr, "usage: program LIBRARY\n");
        return 2;
    }
    unsigned (*next_prime)(unsigned) = (unsigned (*)(unsigned))dlsym(library, "next_prime");
    if (!next_prime)
        return 1;
    answer(ask(next_prime, 4000));
    answer(ask(next_prime, 4000));
    dlclose(library);
    return 0;
}
