/* Calls twelve functions by one call instruction of run(): the first once, the second twice, and so on, and each returns to it. */
#include <stdio.h>

enum { FUNCTIONS = 12 };

static volatile int sum;

#define FUNCTION(number)                                                                           \
    __attribute__((noinline)) void target_##number(void)                                           \
    {                                                                                              \
        sum += number;                                                                             \
    }

FUNCTION(1)
FUNCTION(2)
FUNCTION(3)
FUNCTION(4)
FUNCTION(5)
FUNCTION(6)
FUNCTION(7)
FUNCTION(8)
FUNCTION(9)
FUNCTION(10)
FUNCTION(11)
FUNCTION(12)

static void (*const targets[FUNCTIONS])(void) = {target_1, target_2,  target_3,  target_4,
                                                 target_5, target_6,  target_7,  target_8,
                                                 target_9, target_10, target_11, target_12};

__attribute__((noinline)) void run(int number)
{
    targets[number - 1]();
    sum++;
}

/* From many places. */
#define SOME(number)                                                                               \
    for (int i = 0; i < (number); i++)                                                             \
    run(number)

int main(void)
{
    SOME(1);
    SOME(2);
    SOME(3);
    SOME(4);
    SOME(5);
    SOME(6);
    SOME(7);
    SOME(8);
    SOME(9);
    SOME(10);
    SOME(11);
    SOME(12);
    printf("%d\n", sum);
    return 0;
}
