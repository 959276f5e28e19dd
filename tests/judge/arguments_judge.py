#!/usr/bin/env python3
"""Holds arguments and results of -args against what gdb sees, for random functions called with random values.

    arguments_judge.py MAGIC-TRACE [--calls N] [--functions N] [--seed S] [--language c|c++] [--compiler CC] [--folder DIR]

Makes a program of --functions functions, whose arguments and results are of random types, and which is called with
random values --calls times in all. gdb runs it built with -O0, stopped at the beginning of each call and at its end;
magic-trace records it built with -O0 and with -O2. The functions are in a file of their own, so that no compiler can see which
arguments are used. Values are compared as text; what the two show differently by intention is in normalised().

Prints how many calls and values were compared and how many differ, of each build, with the first differences. Exit
status: 0 all equal, 1 some differ, 77 there is no gdb that can run programs.
"""
import argparse
import collections
import json
import math
import os
import pathlib
import random
import re
import shutil
import struct
import subprocess
import sys
import tempfile

SKIPPED = 77
SHOWN_DIFFERENCES = 10
CALLS_OF_PART = 20
TEXT_ELEMENTS = 128  # characters of a string that both show

# ---- types and values ----

Type = collections.namedtuple("Type", "declaration make")  # declaration: with %s where the name is; make: random -> literal


def integer(bits, signed):
    def make(rng):
        least, most = (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)
        value = rng.choice((least, most, 0, 1, rng.randint(least, most), rng.randint(max(least, -1000), min(most, 1000))))
        if value == -(1 << 63):
            return "(-9223372036854775807L - 1)"
        return f"{value}{'' if signed else 'U'}{'L' if bits == 64 else ''}"
    return make


def real(single):
    def make(rng):
        value = rng.choice((0.0, -0.0, 1.0, -1.5, 1e30, -1e-30, rng.uniform(-1000, 1000), rng.random() * 10.0 ** rng.randint(-30, 30), math.inf))
        if math.isinf(value):
            return "__builtin_inff()" if single else "-__builtin_inf()"
        return f"{value!r}{'f' if single else ''}"
    return make


COMPLEX = ("(0.25 + -1.5i)", "(-3.0 + 0.0i)", "(1.0 + 2.0i)", "(0.0 + 1024.5i)")


def pointer(cast):
    return lambda rng: f"({cast})" + rng.choice(("0", "0x1UL", f"{rng.getrandbits(47):#x}UL", "0xffffffffffffffffUL", f"{rng.getrandbits(64):#x}UL"))


WORDS = ("", "a", 'with \\"quotes\\" and a \\\\', "tab\\tnewline\\n", "\\001\\377 bytes \\200", "longer than two words of eight bytes",
         "x" * (TEXT_ELEMENTS - 1), "y" * TEXT_ELEMENTS, "z" * (TEXT_ELEMENTS + 40), "0123456789" * 12)


def text(cast):
    def make(rng):
        kind = rng.randrange(10)
        if kind == 0:
            return f"({cast})0"
        if kind == 1:  # not readable
            return f"({cast}){rng.choice((0x1, 0x1000, 0x7000deadbee0))}UL"
        if kind == 2:  # ends where nothing is mapped
            return f"({cast})(end_of_page - {rng.randint(1, 40)})"
        return f'({cast})"{rng.choice(WORDS)}"'
    return make


def one_of(*literals):
    return lambda rng: rng.choice(literals)


def scalars(is_cpp):
    types = [Type(f"{name} %s", integer(bits, signed)) for name, bits, signed in (
        ("signed char", 8, True), ("unsigned char", 8, False), ("short", 16, True), ("unsigned short", 16, False), ("int", 32, True),
        ("unsigned", 32, False), ("long", 64, True), ("unsigned long", 64, False), ("long long", 64, True),
        ("unsigned long long", 64, False))]
    types += [Type("float %s", real(True)), Type("double %s", real(False)), Type("bool %s", one_of("true", "false")),
              Type("char %s", one_of("'a'", "'\\n'", "'\\''", "'\\\\'", "(char)-1", "0", "(char)200", "'\"'")),
              Type("void *%s", pointer("void *")), Type("const int *%s", pointer("const int *")),
              Type("int (*%s)(int)", pointer("int (*)(int)")),
              Type("double _Complex %s", one_of(*COMPLEX)), Type("float _Complex %s", one_of(*COMPLEX)),
              Type("enum colour %s", one_of("RED", "GREEN", "BLUE", "(enum colour)17", "(enum colour)3")),
              Type("enum level %s", one_of("LOW", "HIGH", "(enum level)-2", "(enum level)100")),
              Type("enum bits %s", one_of("BIT_A", "(enum bits)0", "(enum bits)11", "(enum bits)3", "(enum bits)24"))]
    if is_cpp:
        types += [Type("Scoped %s", one_of("Scoped::ONE", "Scoped::MINUS", "(Scoped)5")),
                  Type("Small %s", one_of("Small::A", "Small::B", "(Small)9"))]
    return types


def texts():
    return [Type("const char *%s", text("const char *")), Type("char *%s", text("char *")), Type("const unsigned char *%s", text("const unsigned char *"))]


def size_of_scalar(kind):
    sizes = {"signed char": 1, "unsigned char": 1, "char": 1, "bool": 1, "Small": 1, "short": 2, "unsigned short": 2, "int": 4, "unsigned": 4,
             "float": 4, "enum colour": 4, "enum level": 4, "enum bits": 4, "Scoped": 4, "double _Complex": 16}
    return sizes.get(kind.declaration.removesuffix(" %s"), 8)


def arguments_only(is_cpp):
    """A long double is not known as a result, and gdb has a result without fields."""
    types = [Type("long double %s", one_of("0.5L", "-12.25L", "1024.0L"))]
    return types + ([Type("Nothing %s", one_of("Nothing()")), Type("Nothings %s", one_of("Nothings()"))] if is_cpp else [])


def literal_of(members, rng):
    return "{" + ", ".join(member.make(rng) for member in members) + "}"


def array_of(element, count):
    return Type(element.declaration.replace("%s", f"%s[{count}]"), lambda rng: literal_of([element] * count, rng))


def matrix_of(element):
    return Type(element.declaration.replace("%s", "%s[2][2]"), lambda rng: "{" + ", ".join(literal_of([element] * 2, rng) for _ in range(2)) + "}")


class Program:
    """Random types, functions and calls."""

    def __init__(self, rng, is_cpp, function_count, call_count):
        self.rng, self.is_cpp = rng, is_cpp
        self.structs, self.definitions, self.types = [], [], scalars(is_cpp) + texts()
        for number in range(24):
            self.add_struct(number)
        self.functions = [self.make_function(number) for number in range(function_count)]
        each = max(1, call_count // function_count)
        self.calls = [(function, [kind.make(rng) for _, kind in function[2]]) for function in self.functions for _ in range(each)]
        rng.shuffle(self.calls)

    def add_struct(self, number):
        rng, kinds = self.rng, scalars(self.is_cpp)
        members = []
        for at in range(rng.choice((1, 1, 2, 2, 2, 3, 3, 4, 6))):
            kind = rng.choice(kinds)
            shape = rng.randrange(8)
            if shape == 0:
                kind = Type("char %s[%d]" % ("%s", rng.choice((1, 3, 8, 9))), one_of('""', "{'x'}", "{(char)-2}"))
            elif shape == 1 and "(*" not in kind.declaration:
                kind = array_of(kind, rng.randint(1, 4))
            elif shape == 2 and "(*" not in kind.declaration:
                kind = matrix_of(kind)
            elif shape == 3 and self.structs:
                kind = rng.choice(self.structs)
            elif shape == 4 and kind.declaration in ("int %s", "unsigned %s", "short %s", "unsigned long %s"):
                width = rng.randint(2, 12)
                most = (1 << width - 1) - 1
                kind = Type(kind.declaration + f" : {width}", lambda rng, most=most: str(rng.randint(0, most)))
            members.append((f"m{at}", kind))
        name = f"s{number}"
        is_union = rng.randrange(8) == 0
        if is_union:
            # The first one, which is set, has all of its bytes. Of bytes that are no bool the two make different ones.
            kinds = [kind for kind in kinds if kind.declaration != "bool %s"]
            kinds = sorted((rng.choice(kinds) for _ in members), key=size_of_scalar, reverse=True)
            members = [(f"m{at}", kind) for at, kind in enumerate(kinds)]
        keyword = "union" if is_union else "struct"
        body = " ".join(kind.declaration % member + ";" for member, kind in members)
        kinds = [kind for _, kind in (members[:1] if is_union else members)]
        made = Type(f"{keyword} {name} %s", lambda rng: literal_of(kinds, rng))
        self.structs.append(made)
        packed = "" if is_union or rng.randrange(6) else "__attribute__((packed)) "
        self.definitions.append(f"{keyword} {packed}{name} {{ {body} }};")
        self.types += [Type(made.declaration, lambda rng, made=made: f"({made.declaration.replace(' %s', '')})" + made.make(rng))] * 2

    def make_function(self, number):
        rng = self.rng
        arguments = []
        for at in range(rng.choice((0, 1, 1, 2, 2, 3, 3, 4, 5, 6, 8, 10))):
            kind = rng.choice(self.types) if rng.randrange(8) else rng.choice(arguments_only(self.is_cpp))
            if self.is_cpp and rng.randrange(4) == 0 and "(*" not in kind.declaration and "char *" not in kind.declaration:
                kind = Type("const " + kind.declaration.replace("const ", "").replace("%s", "&%s") if "*" not in kind.declaration else kind.declaration, kind.make)
            arguments.append((f"a{at}", kind))
        result = rng.choice(self.types + [None] * 6)
        if result and "(*" in result.declaration:
            result = None
        return f"f{number}", result, arguments

    def signature(self, function):
        name, result, arguments = function
        parameters = ", ".join(kind.declaration % argument for argument, kind in arguments) or "void"
        return f"{(result.declaration if result else 'void %s') % name}({parameters})"

    def write(self, folder):
        suffix = "cpp" if self.is_cpp else "c"
        header = ["#pragma once", "#include <stdbool.h>", "#include <stdint.h>", "extern char *end_of_page;",
                  "enum colour { RED, GREEN = 5, BLUE };", "enum level { LOW = -3, HIGH = 7 };", "enum bits { BIT_A = 1, BIT_B = 2, BIT_C = 8 };"]
        if self.is_cpp:
            header += ["struct Nothing { }; struct Nothings : Nothing { Nothing several[2]; };"]
            header += ["enum class Scoped { ONE = 1, MINUS = -4 };", "enum class Small : unsigned char { A, B = 200 };"]
        header += self.definitions + [self.signature(function) + ";" for function in self.functions]
        (folder / "functions.h").write_text("\n".join(header) + "\n")
        bodies = ['#include "functions.h"']
        for function in self.functions:
            name, result, arguments = function
            body = ["static unsigned turn; turn++;"]
            if result:
                values = [result.make(self.rng) for _ in range(4)]
                cases = " ".join(f"case {at}: return {value};" for at, value in enumerate(values[1:]))
                body.append(f"switch (turn % 4) {{ {cases} default: return {values[0]}; }}")
            bodies.append(f"{self.signature(function)} {{ {' '.join(body)} }}")
        (folder / f"functions.{suffix}").write_text("\n".join(bodies) + "\n")
        blocks = [f"{function[0]}({', '.join(values)});" for function, values in self.calls]
        main = ['#include "functions.h"', "#include <sys/mman.h>", "char *end_of_page;"]
        # Many in one function take a compiler long: it looks for temporary structures that can share their places.
        parts = [blocks[at:at + CALLS_OF_PART] for at in range(0, len(blocks), CALLS_OF_PART)]
        main += [f"static void part{at}(void) {{\n{chr(10).join(part)}\n}}" for at, part in enumerate(parts)]
        main += ["int main(void) {",
                 "end_of_page = (char *)mmap((void *)0x200000000UL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) + 4096;",
                 "for (int i = 0; i < 4096; i++) end_of_page[i - 4096] = 'A' + i % 26;", "munmap(end_of_page, 4096);",
                 *(f"part{at}();" for at in range(len(parts))), "return 0;", "}"]
        (folder / f"main.{suffix}").write_text("\n".join(main) + "\n")
        return [folder / f"functions.{suffix}", folder / f"main.{suffix}"]


# ---- gdb ----

GDB = """
import gdb, json
calls = []
def shown(value):
    return str(value.referenced_value() if value.type.code in (gdb.TYPE_CODE_REF, gdb.TYPE_CODE_RVALUE_REF) else value)
class Return(gdb.FinishBreakpoint):
    def __init__(self, frame, call):
        super().__init__(frame, internal=True)
        self.silent, self.call = True, call
    def stop(self):
        self.call[2] = None if self.return_value is None else shown(self.return_value)
        return False
class Entry(gdb.Breakpoint):
    def __init__(self, name):
        super().__init__(name)
        self.silent, self.name = True, name
    def stop(self):
        frame = gdb.selected_frame()
        call = [self.name, [[s.name, shown(s.value(frame))] for s in frame.block() if s.is_argument], None]
        calls.append(call)
        Return(frame, call)
        return False
for setting in "pagination off", "print elements %d", "print repeats unlimited", "print object off", "print static-members off", "breakpoint always-inserted on":
    gdb.execute("set " + setting)
for name in %r:
    Entry(name)
gdb.execute("run >/dev/null")
with open(%r, "w") as file:
    json.dump(calls, file)
"""


def calls_of_gdb(program, names, folder):
    script, answer = folder / "judge.py", folder / "calls.json"
    script.write_text(GDB % (TEXT_ELEMENTS, names, str(answer)))
    finished = subprocess.run(["gdb", "-q", "-nx", "-batch", "-x", script, program], stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, check=False, env={**os.environ, "LC_ALL": "C"})
    if not answer.exists():
        print(f"gdb cannot run programs here: {finished.stdout[-500:]}{finished.stderr[-500:]}")
        sys.exit(SKIPPED)
    return json.loads(answer.read_text())


# ---- magic-trace ----

def calls_of_ours(magic_trace, program, folder):
    recording = folder / f"{program.name}.recording"
    shutil.rmtree(recording, ignore_errors=True)
    subprocess.run([magic_trace, "run", "-engine", "translator", "-full-execution", "-args", "f[0-9]*", "-working-directory", recording,
                    "-no-decode", "--", program], check=True, stderr=subprocess.DEVNULL)
    answer = subprocess.run([magic_trace, "query", "-json", "-max-bytes", "1000000000", recording,
                             "SELECT c.id, c.function, a.name, a.text FROM calls c LEFT JOIN args a ON a.call = c.id"
                             " WHERE c.function GLOB 'f[0-9]*' ORDER BY c.id, a.rowid"], check=True, stdout=subprocess.PIPE).stdout
    calls, newest = [], None
    for row in json.loads(answer):
        if row["id"] != newest:
            newest = row["id"]
            calls.append([re.sub(r"\(.*", "", row["function"]), [], None])
        if row["name"] == "result":
            calls[-1][2] = row["text"]
        elif row["name"] is not None:
            calls[-1][1].append([row["name"], row["text"]])
    return calls


# ---- comparing ----

AFTER_NUMBER = r"(?!(?!i\b)[\w'])"  # an i, of a complex one, may be
NUMBER = re.compile(rf"((?<![\w'.])-?\d+\.\d+(?:e[-+]?\d+)?{AFTER_NUMBER}|(?<![\w'.])-?\d+e[-+]?\d+{AFTER_NUMBER})")
DIGITS_OF_SINGLE = 9
LONG_NUMBER = re.compile(r"((?<![\w'.])-?\d{16,17}(?![\w'.]))")  # a double that is whole, or an integer


def normalised(value):
    """What is the same is shown the same: gdb names symbols after addresses, prints the address of a text, the type of a scoped
    enumerator, what a number that is none consists of, the zeros at the end of a char[], why a text could
    not be read to its end, and letters that are not ASCII by their bytes."""
    value = re.sub(r'^0x[0-9a-f]+ (<[^>]*> )?(?=")', "", value)
    value = re.sub(r"(0x[0-9a-f]+) <[^<>]*>", r"\1", value)
    value = re.sub(r"\b[A-Za-z_]\w*::(?=[A-Za-z_])", "", value)
    value = re.sub(r"[^\x00-\x7f]", lambda letter: "".join(f"\\{byte:03o}" for byte in letter[0].encode()), value)
    value = re.sub(r"nan\(0x[0-9a-f]+\)", "nan", value)
    value = re.sub(r'" ?<error: [^<>]*>$', '"...', value)
    return re.sub(r'(\\000)+(?=")', "", value)


NOTHING = ("{<No data fields>}", "{<Nothing> = {<No data fields>}, several = {{<No data fields>}, {<No data fields>}}}")


def single(number):
    return struct.pack("f", float(number))


def is_same_part(wanted, got):
    """gdb prints more digits than a number needs: 9 of a float."""
    if wanted == got:
        return True
    if LONG_NUMBER.fullmatch(wanted):
        return "e" in got and float(wanted) == float(got)
    if not NUMBER.fullmatch(wanted) or not re.fullmatch(r"-?\d+(\.\d+)?(e[-+]?\d+)?", got):
        return False
    digits = len(re.sub(r"e.*|[-.]|^-?0\.0*", "", wanted))
    return float(wanted) == float(got) or (digits <= DIGITS_OF_SINGLE and single(wanted) == single(got))


def is_same(wanted, got):
    if wanted in NOTHING and got in ("?", None):  # None where the function has no other argument
        return True
    if wanted is None or got is None:
        return wanted == got
    wanted = re.sub(r"<(Nothing)>", r"\1", wanted.replace("<No data fields>", ""))
    wanted, got = NUMBER.split(normalised(wanted)), normalised(got)
    # Our number may have no point where gdb's has one; a large one of gdb's may have none where ours has an exponent.
    wanted = [part for parts in (LONG_NUMBER.split(text) if at % 2 == 0 else [text] for at, text in enumerate(wanted)) for part in parts]
    pattern = "".join(re.escape(part) if at % 2 == 0 else r"(-?\d+(?:\.\d+)?(?:e[-+]?\d+)?)" for at, part in enumerate(wanted))
    found = re.fullmatch(pattern, got, re.DOTALL)
    return bool(found) and all(is_same_part(part, mine) for part, mine in zip(wanted[1::2], found.groups()))


def differences(judged, ours):
    """(number of values compared, those that differ)."""
    count, found = 0, []
    for index, (wanted, got) in enumerate(zip(judged, ours)):
        if wanted[0] != got[0]:
            return count, found + [f"call {index} is of {wanted[0]}, ours of {got[0]}"]
        pairs = {name: value for name, value in got[1]}
        for name, value in wanted[1] + ([["result", wanted[2]]] if wanted[2] is not None else []):
            mine = got[2] if name == "result" else pairs.get(name)
            count += 1
            if not is_same(value, mine):
                found.append(f"call {index} of {wanted[0]}: {name}: gdb has {value}, we have {mine}")
    if len(judged) != len(ours):
        found.append(f"gdb saw {len(judged)} calls, we {len(ours)}")
    return count, found


def judge(arguments, folder):
    is_cpp = arguments.language == "c++"
    compiler = arguments.compiler or ("g++" if is_cpp else "gcc")
    program = Program(random.Random(arguments.seed), is_cpp, arguments.functions, arguments.calls)
    sources = program.write(folder)
    builds = {}
    for optimization in ("-O0", "-O2"):
        builds[optimization] = folder / f"program{optimization}"
        subprocess.run([compiler, "-g", "-w", "-Wno-psabi", "-no-pie", optimization, "-o", builds[optimization], *sources], check=True)
    judged = calls_of_gdb(builds["-O0"], [function[0] for function in program.functions], folder)
    failed = False
    for optimization, path in builds.items():
        ours = calls_of_ours(arguments.magic_trace, path, folder)
        count, found = differences(judged, ours)
        print(f"{compiler} {optimization}, seed {arguments.seed}: {len(judged)} calls, {count} values compared, {len(found)} differ")
        for line in found[:SHOWN_DIFFERENCES]:
            print("   ", line)
        failed = failed or bool(found)
    return 1 if failed else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("magic_trace")
    parser.add_argument("--calls", type=int, default=10000)
    parser.add_argument("--functions", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--language", choices=("c", "c++"), default="c")
    parser.add_argument("--compiler")
    parser.add_argument("--folder", type=pathlib.Path, help="keep what is made here")
    arguments = parser.parse_args()
    if not shutil.which("gdb"):
        print("gdb is not installed")
        return SKIPPED
    if arguments.folder:
        arguments.folder.mkdir(parents=True, exist_ok=True)
        return judge(arguments, arguments.folder.resolve())
    with tempfile.TemporaryDirectory() as folder:
        return judge(arguments, pathlib.Path(folder))


sys.exit(main())
