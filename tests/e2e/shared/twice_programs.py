"""Programs of 200 functions that are called twice with the same work, one program per kind of work: under the
emulator an instruction takes from about its usual time to a hundred times as much."""
import statistics

FUNCTIONS = 200

# What a function may use beside its `value`.
SHARED = """
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <immintrin.h>
static volatile unsigned sink;
static unsigned char bytes[8192];
static struct link { struct link *next; unsigned number; } links[512];
static void prepare(void)
{
    for (unsigned i = 0; i < sizeof bytes; i++)
        bytes[i] = i * 7 % 251;
    for (unsigned i = 0; i < 512; i++)
        links[i] = (struct link){&links[(i * 5 + 1) % 512], i};
}
static __attribute__((noinline)) unsigned twist(unsigned value) { return value * 3 ^ value >> 5; }
static __attribute__((noinline)) unsigned turn(unsigned value) { return value + (value << 3); }
static unsigned (*volatile steps[])(unsigned) = {twist, turn};
"""

# With -DTIMED a program measures its calls itself, and prints the ticks of both calls of each function.
TIMED = f"""
#ifdef TIMED
static unsigned long long lengths[2][{FUNCTIONS}];
static unsigned calls_before;
#define CALL(i) {{ unsigned long long begin = __rdtsc(); f##i(7); lengths[calls_before][i] = __rdtsc() - begin; }}
#define NEXT_TURN calls_before = 1;
#define PRINT_LENGTHS \\
    for (int i = 0; i < {FUNCTIONS}; i++) printf("%llu %llu\\n", lengths[0][i], lengths[1][i]);
#else
#define CALL(i) f##i(7);
#define NEXT_TURN
#define PRINT_LENGTHS
#endif
"""


def loop(i, body, rounds=13):
    """`body`, run 1 to `rounds` times."""
    return f"    for (int round = 0; round < {1 + i % rounds}; round++) {{\n{body}\n    }}"


def multiply(i):
    """long straight code, a loop and a branch"""
    body = "\n".join(f"    value = value * {1103515245 + 2 * i}u + {j}u; value ^= value >> {1 + j % 15};"
                     for j in range(3 + i % 20))
    return loop(i, f"{body}\n        if (value & {1 << i % 8}) value += round;")


def branches(i):
    """short blocks"""
    body = "\n".join(f"    if (value & {1 << j % 12}) value += {i + j}; else value ^= {3 * j + 1};"
                     for j in range(2 + i % 9))
    return loop(i, body + "\n    value = value << 1 | value >> 31;")


def lists(i):
    """pointers and arrays in memory"""
    return (f"    struct link *link = &links[{i}];\n"
            + loop(i, f"    link = link->next; link->number += value;\n    value += link->number;\n"
                   f"    bytes[{i} + round] = bytes[{2 * i} + round] + value; bytes[{3 * i}] ^= value;", 23))


def copies(i):
    """memcpy and strings of the C library"""
    return loop(i, f"    memcpy(bytes + {i}, bytes + {4000 + i}, {1 + 3 * i % 200});\n"
                   f"    value += strlen((char *)bytes + {i});", 3)


def doubles(i):
    """floating point, one number at a time"""
    body = "\n".join(f"    x = x * {1 + i / 1000} + {j + 0.5}; y = (x - y) / {j + 3}.0;" for j in range(1 + i % 7))
    return f"    double x = value, y = {i};\n{loop(i, body)}\n    value = x + y;"


def vector_floats(i):
    """floating point, four numbers at a time"""
    body = "\n".join(f"    x = _mm_add_ps(_mm_mul_ps(x, y), _mm_set1_ps({j + 1}));" for j in range(1 + i % 7))
    return (f"    __m128 x = _mm_set1_ps(value), y = _mm_set1_ps({1 + i / 1000}f);\n{loop(i, body)}\n"
            "    value = _mm_cvttss_si32(x);")


def vectors(i):
    """AVX integers"""
    body = "\n".join(f"    x = _mm256_add_epi32(_mm256_xor_si256(x, y), _mm256_slli_epi32(x, {1 + j}));"
                     f" y = _mm256_max_epu8(y, _mm256_sub_epi16(x, y));" for j in range(1 + i % 5))
    return (f"    __m256i x = _mm256_set1_epi32(value), y = _mm256_loadu_si256((void *)(bytes + {i}));\n"
            f"{loop(i, body)}\n    value = _mm256_movemask_epi8(x);")


def divisions(i):
    """division and remainder"""
    body = "\n".join(f"    value = value / ((value & {15 + j}) + 1) + value % (round + {j + 2});"
                     for j in range(1 + i % 6))
    return loop(i, body + f"\n    value += {40000 + i}u;")


def repeats(i):
    """string instructions"""
    return loop(i, f"    void *to = bytes + {i}, *from = bytes + {3000 + i}; long count = {1 + i % 60};\n"
                   '    __asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(count) : : "memory");\n'
                   "    value += bytes[round];", 4)


def pointers(i):
    """calls through function pointers"""
    return loop(i, f"    value = steps[{i % 2}](value);\n    value = steps[round & 1](value) + {i};", 9)


def recursion(i):
    """a call of itself, and another function's on the way back"""
    return (f"    static int depth;\n    if (depth < {1 + i % 12}) {{\n        depth++; inner{i}(value + {i});\n"
            "        depth--;\n    }\n    value = twist(sink + value);")


def mixed(i):
    """a bit of everything, another kind in every function; not what uses AVX, which slows qemu's own floating point
    down from then on"""
    kinds = (multiply, branches, lists, doubles, divisions, repeats, pointers)
    return kinds[i % len(kinds)](i)


KINDS = (multiply, branches, lists, copies, doubles, vector_floats, vectors, divisions, repeats, pointers,
         recursion, mixed)


def write(kind, path):
    """The source of the program of one kind."""
    lines = [SHARED]
    for i in range(FUNCTIONS):
        # What calls itself has another name inside: one span per call of f.
        inner = kind is recursion
        name = f"inner{i}" if inner else f"f{i}"
        target = ', target("avx2")' if kind is vectors else ""
        lines.append(f"static __attribute__((noinline{target})) void {name}(unsigned value)\n{{\n{kind(i)}\n"
                     "    sink = value;\n}")
        if inner:
            lines.append(f"static __attribute__((noinline)) void f{i}(unsigned value)\n{{\n"
                         f"    inner{i}(value);\n    sink++;\n}}")
    calls = "\n".join(f"    CALL({i})" for i in range(FUNCTIONS))
    lines.append(f"{TIMED}static void all(void)\n{{\n{calls}\n}}")
    lines.append('int main(void)\n{\n    prepare();\n    all();\n    NEXT_TURN\n    all();\n    printf("%u\\n", sink);\n'
                 "    PRINT_LENGTHS\n    return 0;\n}")
    path.write_text("\n".join(lines) + "\n")


def first_to_second(spans):
    """How long the first call of a function took, compared with the second: the median over all functions. `spans` of
    one run, in the order of their beginnings. None unless every function was called twice."""
    lengths = {}
    for span in spans:
        if span.name[0] == "f" and span.name[1:].isdigit():
            lengths.setdefault(span.name, []).append(span.end - span.begin)
    if len(lengths) != FUNCTIONS or any(len(calls) != 2 for calls in lengths.values()):
        return None
    # Half a nanosecond more on both: two calls within one tick are equal, not infinitely different.
    return statistics.median((first + 0.5) / (second + 0.5) for first, second in lengths.values())


def first_to_second_natively(output):
    """The same of what a program has printed that was compiled with -DTIMED."""
    lengths = [tuple(map(int, line.split())) for line in output.decode().splitlines()[1:]]
    assert len(lengths) == FUNCTIONS
    return statistics.median(first / second for first, second in lengths)
