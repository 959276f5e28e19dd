/* Frames that are aligned further than the caller's, that keep a frame pointer or not, with callees
 * that change. */
/* truth: -O0 -g; -O2 -mavx2; -O2 -mstackrealign; -O2 -fno-omit-frame-pointer; -O2 -static; compiler=clang -O2 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static int plain(int depth);

__attribute__((noinline)) static int is_aligned(const void *address, uintptr_t alignment)
{
    return (uintptr_t)address % alignment == 0;
}

__attribute__((noinline)) static int aligned_64(int depth)
{
    _Alignas(64) char bytes[64];
    memset(bytes, depth, sizeof bytes);
    int right = is_aligned(bytes, 64);
    right += plain(depth - 1);
    return right + (bytes[63] == (char)depth);
}

__attribute__((noinline)) static int aligned_4096(int depth)
{
    _Alignas(4096) char bytes[40];
    memset(bytes, depth, sizeof bytes);
    int right = is_aligned(bytes, 4096);
    right += plain(depth - 1);
    return right + (bytes[39] == (char)depth);
}

/* Seven arguments: the last one is found through the caller's frame. */
__attribute__((noinline)) static int aligned_arguments(int a, int b, int c, int d, int e, int f,
                                                       int depth)
{
    _Alignas(32) volatile int sums[8] = {a + b, c + d, e + f};
    int right = is_aligned((const void *)sums, 32);
    right += plain(depth - 1);
    return right + (sums[0] == 3 && sums[1] == 7 && sums[2] == 11);
}

__attribute__((noinline)) static int plain(int depth)
{
    if (depth <= 0)
        return 0;
    if (depth % 3 == 0)
        return aligned_64(depth) + 1;
    if (depth % 3 == 1)
        return aligned_4096(depth) + 1;
    return aligned_arguments(1, 2, 3, 4, 5, 6, depth) + 1;
}

int main(void)
{
    int right = 0;
    for (int depth = 0; depth < 60; depth++)
        right += plain(depth);
    printf("right %d\n", right);
    return right == 3 * 1770 ? 0 : 1;
}
