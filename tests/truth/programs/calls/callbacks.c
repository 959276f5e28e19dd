/* Callbacks out of libc (qsort, bsearch, twalk, lfind) and through a table of function pointers. */
/* truth: -O0 -g; -O2; -O2 -static; strip -O2; compiler=clang -O2 */
#define _GNU_SOURCE
#include <search.h>
#include <stdio.h>
#include <stdlib.h>

enum { COUNT = 300 };

static int numbers[COUNT];
static int walked;

static int compare(const void *left, const void *right)
{
    const int *a = left, *b = right;
    return (*a > *b) - (*a < *b);
}

static void visit(const void *node, VISIT which, int depth)
{
    (void)node;
    if (which == postorder || which == leaf)
        walked += depth < 64;
}

static int add(int a, int b)
{
    return a + b;
}

static int subtract(int a, int b)
{
    return a - b;
}

static int multiply(int a, int b)
{
    return a * b % 1009;
}

static int (*const operations[])(int, int) = {add, subtract, multiply};

static int tree_nodes(void)
{
    void *root = NULL;
    for (int i = 0; i < COUNT; i++)
        tsearch(&numbers[i], &root, compare);
    twalk(root, visit);
    for (int i = 0; i < COUNT; i++)
        tdelete(&numbers[i], &root, compare);
    return root == NULL ? walked : -1;
}

static int found(void)
{
    int hits = 0;
    for (int i = 0; i < COUNT; i++) {
        size_t count = COUNT;
        hits += bsearch(&i, numbers, COUNT, sizeof *numbers, compare) != NULL;
        if (i % 50 == 0)
            hits += lfind(&i, numbers, &count, sizeof *numbers, compare) != NULL;
    }
    return hits;
}

int main(void)
{
    for (int i = 0; i < COUNT; i++)
        numbers[i] = i * 7 % COUNT;
    int nodes = tree_nodes();
    qsort(numbers, COUNT, sizeof *numbers, compare);
    int hits = found();
    int value = 1;
    for (int i = 0; i < 1000; i++)
        value = operations[i % 3](value, i);
    printf("nodes %d hits %d value %d\n", nodes, hits, value);
    return nodes == COUNT && hits == COUNT + 6 ? 0 : 1;
}
