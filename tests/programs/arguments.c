/* Functions with arguments and results of many types, called with many values; what they do is of no interest.
 * Addresses are the same in each run when it is linked at a fixed place. argv[1]: how many turns. */
#include <setjmp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef __clang__
#define KEPT __attribute__((noinline))
#else
#define KEPT __attribute__((noinline, noclone))
#endif

enum colour { RED, GREEN = 5, BLUE };
enum level { LOW = -3, HIGH = 7 };
enum flags { FLAG_A = 1, FLAG_B = 2, FLAG_C = 8 };

struct point {
    int x;
    double y;
};
struct pair {
    short first, second;
};
struct floats {
    float a, b;
};
struct packed_bits {
    unsigned low : 3, middle : 7;
    int high : 5;
};
struct box {
    long values[4];
    char name[8];
};
struct word {
    char text[3];
    bool is_last;
};

typedef unsigned long size_type;
typedef const char *text_type;

static int numbers[16];
static jmp_buf place;

KEPT int of_integers(signed char a, unsigned char b, short c, unsigned short d, int e, unsigned f,
                     long g, size_type h, bool i)
{
    return a + b + c + d + e + (int)f + (int)g + (int)h + i;
}

KEPT double of_reals(float single, double real, int times, float other)
{
    return single * real + times - other;
}

KEPT float of_single(float single)
{
    return single / 4;
}

KEPT text_type of_texts(const char *name, text_type rest, char *none, const unsigned char *bytes)
{
    return name && *name ? rest : "";
}

KEPT enum level of_enums(enum colour colour, enum level level, enum flags flags)
{
    return colour == GREEN ? level : HIGH;
}

KEPT struct point of_point(struct point point, int by)
{
    point.x += by;
    point.y *= by;
    return point;
}

KEPT struct pair of_small(struct pair pair, struct floats floats, struct word word,
                          struct packed_bits bits)
{
    pair.first = (short)(pair.second + (short)floats.a + word.text[0] + bits.high);
    return pair;
}

KEPT struct box of_box(int before, struct box box, int after)
{
    box.values[1] += before + after;
    return box;
}

KEPT void *of_pointers(void *memory, int *number, struct point *point, int (*function)(int))
{
    return number + 1;
}

KEPT unsigned long of_many(int a, int b, int c, int d, int e, int f, char g, struct pair h,
                           double i, double j, double k, double l, double m, double n, double o,
                           double p, double q, short r)
{
    return (unsigned long)(a + g + h.first + (int)q + r);
}

KEPT int callee(int n)
{
    return n * 2;
}

KEPT int tail_caller(int n)
{
    return callee(n + 1);
}

KEPT int factorial(int n)
{
    return n < 2 ? 1 : n * factorial(n - 1);
}

KEPT int jumps(int n)
{
    if (n % 2)
        longjmp(place, 1);
    return n;
}

KEPT void returns_nothing(int n)
{
    numbers[n & 15] = n;
}

int main(int argc, char **argv)
{
    static const char *const words[] = {
        "", "a", "hello, \"world\"\n", "tab\there \\", NULL, "twenty-six characters long"};
    static const unsigned char bytes[] = "\001\177bytes";
    int turns = argc > 1 ? atoi(argv[1]) : 10;
    double sum = 0;
    for (int i = 0; i < turns; i++) {
        int odd = i % 2 ? -i : i;
        sum += of_integers((signed char)(i - 5), (unsigned char)(i * 7), (short)-i,
                           (unsigned short)(i * 999), odd * 100003, (unsigned)odd,
                           -(1L << (i % 63)), 1UL << (i % 64), i % 3);
        sum += of_reals((float)i / 4, i * 1.1e10, odd, -0.5f) + of_single((float)i / 8);
        const char *text = of_texts(words[i % 6], words[(i + 1) % 6], NULL, bytes);
        sum += text ? (double)strlen(text) : 0;
        sum += of_enums((enum colour)(i % 7), i % 2 ? LOW : (enum level)i, (enum flags)(i % 12));
        sum += of_point((struct point){i, i / 3.}, odd).y;
        sum += of_small((struct pair){(short)i, (short)-i}, (struct floats){i / 2.f, -1},
                        (struct word){{(char)('a' + i % 26), 'b'}, i % 2},
                        (struct packed_bits){i & 7, i & 127, i % 16 - 8})
                   .first;
        sum += (double)of_box(i, (struct box){{i, 2, 3, -4}, "box"}, -i).values[1];
        sum += of_pointers(numbers, numbers + i % 16, NULL, callee) == numbers;
        sum += (double)of_many(i, 2, 3, 4, 5, 6, 'x', (struct pair){1, (short)i}, .1, .2, .3, .4,
                               .5, .6, .7, .8, i + .9, (short)i);
        sum += tail_caller(i) + factorial(i % 6);
        if (setjmp(place) == 0)
            sum += jumps(i);
        returns_nothing(i);
    }
    printf("%.17g\n", sum);
    return 0;
}
