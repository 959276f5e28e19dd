#include "engine/qemu/qemu_arguments.h"

#include "engine/qemu/shared.h"

#include <sys/resource.h>

size_t qemu_arguments_quoted_size(const char *text)
{
    size_t size = 1;
    for (; *text; text++)
        size += *text == ',' ? 2 : 1;
    return size;
}

char *qemu_words_put_quoted(char *out, const char *text)
{
    for (; *text; text++) {
        *out++ = *text;
        if (*text == ',')
            *out++ = ',';
    }
    *out = 0;
    return out;
}

unsigned long long qemu_words_stack_size(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY ||
        limit.rlim_cur > QEMU_UNLIMITED_STACK)
        return QEMU_UNLIMITED_STACK;
    return limit.rlim_cur;
}
