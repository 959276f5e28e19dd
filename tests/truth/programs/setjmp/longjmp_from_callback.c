/* longjmp out of callbacks, over the frames of libc's qsort, bsearch and twalk. */
/* truth: -O0 -g; -O2; -O2 -static; strip -O2; compiler=clang -O2 */
#define _GNU_SOURCE
#include <search.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>

enum { COUNT = 64 };

static jmp_buf target;
static int numbers[COUNT];
static volatile int countdown;

static int compare(const void *left, const void *right)
{
    const int *a = left, *b = right;
    if (--countdown == 0)
        longjmp(target, 1);
    return (*a > *b) - (*a < *b);
}

static void visit(const void *node, VISIT which, int depth)
{
    (void)node;
    if (which != preorder && depth > 2 && --countdown < 0)
        longjmp(target, 1);
}

__attribute__((noinline)) static int left_sort(int after)
{
    countdown = after;
    for (int i = 0; i < COUNT; i++)
        numbers[i] = i * 29 % COUNT;
    if (setjmp(target) != 0)
        return 1;
    qsort(numbers, COUNT, sizeof *numbers, compare);
    return 0;
}

__attribute__((noinline)) static int left_search(int after)
{
    int key = COUNT - 1;
    countdown = after;
    if (setjmp(target) != 0)
        return 1;
    return bsearch(&key, numbers, COUNT, sizeof *numbers, compare) ? 0 : 100;
}

__attribute__((noinline)) static int left_walk(void *root, int after)
{
    countdown = after;
    if (setjmp(target) != 0)
        return 1;
    twalk(root, visit);
    return 0;
}

int main(void)
{
    int sorts = 0, searches = 0, walks = 0;
    for (int after = 10; after < 100; after += 10)
        sorts += left_sort(after);
    left_sort(0);
    for (int after = 1; after < 6; after++)
        searches += left_search(after);
    void *root = NULL;
    countdown = 0;
    for (int i = 0; i < COUNT; i++)
        tsearch(&numbers[i], &root, compare);
    for (int after = 0; after < 10; after++)
        walks += left_walk(root, after);
    printf("left sorts %d searches %d walks %d\n", sorts, searches, walks);
    return sorts == 9 && searches == 5 && walks == 10 ? 0 : 1;
}
