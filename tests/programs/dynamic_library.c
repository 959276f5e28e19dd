/* Loads a library (its path is the argument), calls it, unloads it, and does it again. */
#include <dlfcn.h>
#include <stdio.h>

static int use(const char *path, int steps)
{
    void *library = dlopen(path, RTLD_NOW);
    if (!library)
        return -1;
    int (*run)(int) = (int (*)(int))dlsym(library, "library_run");
    int value = run ? run(steps) : -1;
    dlclose(library);
    return value;
}

int main(int argc, char **argv)
{
    if (argc < 2)
        return 2;
    printf("%d\n", use(argv[1], 10));
    printf("%d\n", use(argv[1], 20));
    printf("COUNT library_run 2\nCOUNT library_step 30\nCOUNT use 2\n");
    return 0;
}
