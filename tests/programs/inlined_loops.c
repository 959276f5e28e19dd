/* Inlined functions that are loops, of which the first instruction is the head of the loop for some: for tests of inlined functions. */
#include <stdio.h>
#include <stdlib.h>
static volatile int sink;
static int table[64];
static int find(const int *t, int n, int k)
{
    for (int i = 0; i < n; i++)
        if (t[i] == k)
            return i;
    return -1;
}
static int length(const char *s)
{
    int n = 0;
    while (s[n])
        n++;
    return n;
}
static unsigned gcd(unsigned a, unsigned b)
{
    while (b) {
        unsigned r = a % b;
        a = b;
        b = r;
    }
    return a;
}
static void fill(int *t, int n, int seed)
{
    for (int i = 0; i < n; i++) {
        t[i] = seed;
        seed = seed * 7 + 3;
        sink = seed;
    }
}
static int bits(unsigned x)
{
    int n = 0;
    do {
        n += x & 1;
        x >>= 1;
    } while (x);
    return n;
}
static int nested(int n)
{
    int s = 0;
    for (int i = 0; i < n; i++)
        for (int j = i; j < n; j++) {
            s += i ^ j;
            sink = s;
        }
    return s;
}
__attribute__((noinline)) static int round_of(int r, const char *w)
{
    fill(table, 64, r);
    int s = find(table, 64, table[r % 64]);
    if (r & 1)
        s += length(w);
    s += gcd(r + 100, r * 3 + 7);
    for (int i = 0; i < 4; i++)
        s += bits(s + i);
    return s + nested(r % 7);
}
static int parse(const char **p)
{
    int v = 0;
    while (**p == ' ')
        ++*p;
    while (**p >= '0' && **p <= '9')
        v = v * 10 + *(*p)++ - '0';
    return v;
}
__attribute__((noinline)) static int parse_all(const char *t)
{
    int s = 0;
    while (*t)
        s += parse(&t);
    return s;
}
int main(void)
{
    int s = 0;
    for (int r = 0; r < 50; r++)
        s += round_of(r, "some text");
    s += parse_all("1 22 333 4444 5 66 7");
    printf("%d\n", s);
}
