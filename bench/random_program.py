#!/usr/bin/python3
"""A C program whose branches cannot be foreseen: what a decoder costs when nothing repeats.

    bench/random_program.py [FUNCTIONS] > random.c

FUNCTIONS functions (default 3000) call each other and branch on a xorshift generator: short loops, switches by jump
tables, direct and indirect calls, one conditional jump in six instructions. The text is the same each time; so is what the
program does: `random CALLS` makes CALLS calls (default 3,000,000), about 18 branches each.
"""
import random
import sys

HEAD = """#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

typedef uint64_t (*function)(uint64_t value, int depth);
static const function functions[{count}];
static uint64_t state = 88172645463325252u;
static long calls_left = 3000000;

/* Marsaglia's xorshift64. */
static inline uint64_t next_random(void)
{{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}}
"""

TAIL = """
int main(int argc, char **argv)
{{
    uint64_t value = 0;
    if (argc > 1)
        calls_left = atol(argv[1]);
    while (calls_left > 0)
        value += functions[next_random() % {count}](value, 0);
    printf("%llu\\n", (unsigned long long)value);
    return 0;
}}
"""


def choice(chance):
    """Some bits of one random number, each an unforeseeable branch."""
    lines = ["    bits = next_random();"]
    for bit in range(chance.randint(2, 5)):
        operation = chance.choice(["value += bits >> %d;", "value ^= value >> %d;", "value -= %d;", "value *= %d | 1;"])
        lines += [f"    if (bits & {1 << bit})", "        " + operation % chance.randint(1, 63)]
        if chance.random() < 0.3:
            lines += ["    else", f"        value += {chance.randint(1, 99)};"]
    return lines


def loop(chance):
    mask = chance.choice([1, 3, 3, 7])
    return [f"    for (int i = next_random() & {mask}; i > 0; i--)",
            f"        value = (value >> {chance.randint(1, 9)}) + (uint64_t)i;"]


def jump_table(chance):
    lines = ["    switch (next_random() & 7) {"]
    for case in range(8):
        lines += [f"    case {case}:", f"        value ^= value << {chance.randint(1, 20)} | {chance.randint(1, 999)};",
                  "        break;"]
    return lines + ["    }"]


def call(chance, count):
    bound = chance.choice([1, 1, 3])
    callee = (f"function_{chance.randrange(count)}" if chance.random() < 0.8
              else f"functions[value % {count}]")
    return [f"    if (depth < 24 && (bits >> 40 & {bound}) == 0)",
            f"        value += {callee}(value, depth + 1);"]


def body(chance, count):
    lines = choice(chance)
    for _ in range(chance.randint(2, 4)):
        kind = chance.random()
        lines += (choice(chance) if kind < 0.45 else loop(chance) if kind < 0.7 else
                  jump_table(chance) if kind < 0.8 else [])
        lines += call(chance, count) if chance.random() < 0.6 else []
    return lines


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 3000
    chance = random.Random(1)
    prototype = "__attribute__((noinline)) static uint64_t function_{}(uint64_t value, int depth)"
    print(HEAD.format(count=count))
    for number in range(count):
        print(prototype.format(number) + ";")
    print(f"static const function functions[{count}] = {{")
    print("\n".join(f"    function_{number}," for number in range(count)) + "\n};\n")
    for number in range(count):
        print(prototype.format(number), "{", "    uint64_t bits;", "    calls_left--;", *body(chance, count),
              "    return value;", "}\n", sep="\n")
    print(TAIL.format(count=count))


if __name__ == "__main__":
    main()
