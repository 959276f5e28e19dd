/* Puts versionN.so in the place of library.so, for N from 0 to the argument; loads it, calls it,
 * and deletes it. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int copy(const char *from, const char *to)
{
    static char bytes[1 << 20];
    FILE *in = fopen(from, "r"), *out = fopen(to, "w");
    if (!in || !out)
        return 0;
    size_t size = fread(bytes, 1, sizeof bytes, in);
    size = fwrite(bytes, 1, size, out);
    fclose(in);
    return fclose(out) == 0 && size > 0;
}

static int use(int version)
{
    char name[32];
    snprintf(name, sizeof name, "version%d.so", version);
    if (!copy(name, "library.so"))
        return -1;
    void *library = dlopen("./library.so", RTLD_NOW);
    int (*run)(int) = library ? (int (*)(int))dlsym(library, "library_run") : NULL;
    int value = run ? run(10) : -1;
    if (library)
        dlclose(library);
    unlink("library.so");
    return value;
}

int main(int argc, char **argv)
{
    int versions = argc > 1 ? atoi(argv[1]) : 0;
    for (int version = 0; version < versions; version++) {
        printf("%d\n", use(version));
        printf("COUNT version%d_step 10\n", version);
    }
    printf("COUNT library_run %d\nCOUNT use %d\n", versions, versions);
    return 0;
}
