/* alloca and variable-length arrays of changing sizes in deep recursion, with large frames that are
 * probed. */
/* truth: -O0 -g; -O2; -O2 -fstack-clash-protection; -O2 -fstack-protector-all; -O2 -static; strip -O2 */
#include <alloca.h>
#include <stdio.h>
#include <string.h>

__attribute__((noinline)) static int fill(char *bytes, int count, int value)
{
    memset(bytes, value, (size_t)count);
    return bytes[0] == (char)value && bytes[count - 1] == (char)value;
}

static int with_array(int depth);

__attribute__((noinline)) static int with_alloca(int depth)
{
    int right = 0;
    char *first = NULL;
    for (int i = 1; i < 4; i++) {
        char *bytes = alloca((size_t)(depth * 3 + i));
        right += fill(bytes, depth * 3 + i, depth);
        first = first ? first : bytes;
    }
    if (depth > 0)
        right += with_array(depth - 1);
    return right + (first[0] == (char)depth);
}

__attribute__((noinline)) static int with_array(int depth)
{
    int right = 0;
    for (int i = 1; i < 4; i++) {
        char bytes[depth * 17 + i];
        right += fill(bytes, depth * 17 + i, i);
        if (depth > 0 && i == 2)
            right += with_alloca(depth - 1);
        right += bytes[0] == i;
    }
    return right;
}

__attribute__((noinline)) static int with_pages(int depth)
{
    char bytes[20000];
    int right = fill(bytes, sizeof bytes, depth);
    if (depth > 0)
        right += with_pages(depth - 1);
    return right + (bytes[5000] == (char)depth);
}

int main(void)
{
    int right = 0;
    for (int depth = 0; depth < 60; depth++)
        right += with_alloca(depth) + with_array(depth);
    right += with_pages(30);
    printf("right %d\n", right);
    return right == 18362 ? 0 : 1;
}
