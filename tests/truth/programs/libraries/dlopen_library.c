/* dlopen, dlsym and dlclose, over and over: a library with a constructor and a destructor comes and
 * goes. */
/* truth: -O0 -g; -O2; -O2 -Wl,-z,now; strip -O2 */
/* truth-link: -ldl */
#include <dlfcn.h>
#include <stdio.h>

typedef int function(int);

__attribute__((noinline)) static int use(void *library, const char *name, int value)
{
    union {
        void *object;
        function *function;
    } symbol = {dlsym(library, name)};
    return symbol.object ? symbol.function(value) : -1000;
}

__attribute__((noinline)) static int visit(int i)
{
    void *library = dlopen("libvisitor.so", i % 2 ? RTLD_NOW : RTLD_LAZY);
    if (!library)
        return -1000;
    int value = use(library, "visitor_depth", i) + use(library, "visitor_started", 0);
    return dlclose(library) == 0 ? value : -1000;
}

int main(void)
{
    int sum = 0;
    for (int i = 0; i < 12; i++)
        sum += visit(i);
    printf("sum %d\n", sum);
    return sum == 66 + 12 * 6 ? 0 : 1;
}
